// tests/cli/sweep_resume_test.cpp: whatever ends a sweep, --resume gives the tables of one undisturbed.
//
// Teeth:  seen failing with rows whose checksum does not hold taken all the same, with a journal that a
//         resumed worker appends to behind a torn line, with workers that outlive the parent's kill and
//         keep the lock, and with a full disk noted as failed runs.
#include <catch2/catch.hpp>
#include <random>

#include "tests/cli/small_sweep.h"

namespace tests_cli {
namespace {

using Catch::Matchers::Contains;

const std::string kSeeds = "1..100";  // 1,200 runs: journal and tables together are more than 1 MiB

std::vector<std::string> command(const std::string& results) {
  return {program(), "sweep", "small.toml", "--seeds", kSeeds, "--results", results, "--resume", "--quiet"};
}

struct Tables {
  std::string runs, points;
  bool operator==(const Tables&) const = default;
};

Tables tables(const Place& place, const std::string& results) {
  return {table_of(place, results + "/small.sweep", "runs.csv"),
          table_of(place, results + "/small.sweep", "points.csv")};
}

// In twenty pieces: each is killed at a random moment, until one is quicker than its killer.
TEST_CASE("sweep: kill -9 at random moments and --resume give the same bytes", "[cli][sweep][slow]") {
  const Place place;
  write_small_sweep(place);
  REQUIRE(Started(command("whole"), place.root).wait().exit_code == 0);
  std::mt19937 random(20260729);  // a test's moments need not be the same on every machine
  int killed = 0, sweeps = 0;
  while (killed < 20) {
    REQUIRE(++sweeps < 40);
    const std::string results = "killed-" + std::to_string(sweeps);
    bool done = false;
    while (!done) {
      const Started running(command(results), place.root);
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 400));
      running.send(SIGKILL);
      const Outcome got = running.wait();
      CAPTURE(got.err);
      done = got.exit_code == 0;
      if (!done) {
        REQUIRE(got.exit_code == 128 + SIGKILL);
        ++killed;
      }
      if (killed >= 20 && !done) {
        REQUIRE(Started(command(results), place.root).wait().exit_code == 0);
        done = true;
      }
    }
    CHECK(tables(place, results) == tables(place, "whole"));
  }
  WARN(killed << " kills in " << sweeps << " sweeps");
}

TEST_CASE("sweep: a torn line at a journal's end is left out and its run done again", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  REQUIRE(Started(command("whole"), place.root).wait().exit_code == 0);
  REQUIRE(shell("cp -r whole torn && rm torn/small.sweep/*.csv && cd torn/small.sweep/journal && "
                "for f in *.journal; do truncate -s -100 $f; done && sed -i '5s/0/1/' 00001.journal",
                place.root)
              .exit_code == 0);
  REQUIRE(Started(command("torn"), place.root).wait().exit_code == 0);
  CHECK(tables(place, "torn") == tables(place, "whole"));
}

TEST_CASE("sweep: SIGINT and SIGTERM stop it cleanly, to be resumed", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  REQUIRE(Started(command("whole"), place.root).wait().exit_code == 0);
  for (const int number : {SIGINT, SIGTERM}) {
    CAPTURE(number);
    const std::string results = "stopped-" + std::to_string(number);
    const Started running(command(results), place.root);
    while (!fs::exists(place.root / results / "small.sweep/journal")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    running.send(number);
    const Outcome got = running.wait();
    CHECK(got.exit_code == 128 + number);
    CHECK_THAT(got.err, Contains("of 1200 runs are done") && Contains("hint: --resume goes on"));
    CHECK_FALSE(fs::exists(place.root / results / "small.sweep/runs.csv"));
    REQUIRE(Started(command(results), place.root).wait().exit_code == 0);
    CHECK(tables(place, results) == tables(place, "whole"));
  }
}

// A disk of so many KiB at results/; what is there is copied to kept/ before it is gone.
Outcome on_small_disk(int size_kib, const std::string& options, const Place& place) {
  const std::string line = "mount -t tmpfs -o size=" + std::to_string(size_kib) + "k" + options +
                           " none results && { atoll sweep small.toml --quiet --seeds " + kSeeds +
                           "; code=$?; rm -rf kept; cp -r results kept; exit $code; }";
  fs::create_directories(place.root / "results");
  return shell("unshare --map-root-user --mount bash -c '" + line + "'", place.root);
}

bool may_mount(const Place& place) {
  fs::create_directories(place.root / "results");
  if (shell("unshare --map-root-user --mount mount -t tmpfs none results", place.root).exit_code == 0) return true;
  WARN("skipped: no mount namespace to be had here");
  return false;
}

TEST_CASE("sweep: a full disk is exit code 3 and a state that can be resumed", "[cli][sweep]") {
  const Place place;
  if (!may_mount(place)) return;
  write_small_sweep(place);
  REQUIRE(Started(command("whole"), place.root).wait().exit_code == 0);
  for (const int size_kib : {64, 256, 1024}) {  // full in the journal's first rows, later, and in the tables
    CAPTURE(size_kib);
    const Outcome got = on_small_disk(size_kib, "", place);
    CHECK(got.exit_code == 3);
    CHECK(got.out == "");
    CHECK_THAT(got.err, Contains(": error: cannot be written: No space left on device\n"));
    CHECK_THAT(got.err, Contains("hint: what is done is kept; go on with --resume\n"));
    CHECK_FALSE(fs::exists(place.root / "kept/small.sweep/runs.csv"));
    REQUIRE(Started(command("kept"), place.root).wait().exit_code == 0);
    CHECK(tables(place, "kept") == tables(place, "whole"));
  }
}

TEST_CASE("sweep: a place that cannot be written is exit code 3", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  place.write("file", "no folder");
  const Outcome below = atoll({"sweep", "small.toml", "--results", "file/below"}, place.root);
  CHECK(below.exit_code == 3);
  CHECK(below.err == "file/below/small.sweep: error: cannot be written: Not a directory\n"
                     "  hint: what is done is kept; go on with --resume\n");
  if (!may_mount(place)) return;
  const Outcome read_only = on_small_disk(1024, ",ro", place);
  CHECK(read_only.exit_code == 3);
  CHECK_THAT(read_only.err, Contains("error: cannot be written: Read-only file system\n"));
}

}  // namespace
}  // namespace tests_cli
