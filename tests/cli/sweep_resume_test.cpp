// tests/cli/sweep_resume_test.cpp: whatever ends a sweep, --resume gives the tables of one undisturbed.
//
// Teeth:  seen failing with rows whose checksum does not hold taken all the same, with a journal that a
//         resumed worker appends to behind a torn line, with workers that outlive the parent's kill and
//         keep the lock, with a full disk noted as failed runs, with a journal's second line taken for its
//         first, with versions not compared, and with a resumed sweep that looks for seeds to add only once.
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "tests/cli/small_sweep.h"

namespace tests_cli {
namespace {

using Catch::Matchers::Contains;

const std::string kSeeds = "1..100";  // 1,200 runs: journal and tables together are more than 1 MiB

std::vector<std::string> command(const std::string& results, const std::string& seeds = kSeeds) {
  return {program(), "sweep", "small.toml", "--seeds", seeds, "--results", results, "--resume", "--quiet"};
}

struct Tables {
  std::string runs, points;
  bool operator==(const Tables&) const = default;
};

Tables tables(const Place& place, const std::string& results) {
  return {table_of(place, results + "/small.sweep", "runs.csv"),
          table_of(place, results + "/small.sweep", "points.csv")};
}

// Each sweep is killed at random moments, until one is quicker than its killer.
void check_kills(const Place& place, int kills, const std::string& seeds) {
  const auto words = [&](const std::string& results) { return command(results, seeds); };
  REQUIRE(Started(words("whole"), place.root).wait().exit_code == 0);
  std::mt19937 random(20260729);  // a test's moments need not be the same on every machine
  int killed = 0, sweeps = 0;
  while (killed < kills) {
    REQUIRE(++sweeps < 2 * kills);
    const std::string results = "killed-" + std::to_string(sweeps);
    bool done = false;
    while (!done) {
      const Started running(words(results), place.root);
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 400));
      running.send(SIGKILL);
      const Outcome got = running.wait();
      CAPTURE(got.err);
      done = got.exit_code == 0;
      if (!done) {
        REQUIRE(got.exit_code == 128 + SIGKILL);
        ++killed;
      }
      if (killed >= kills && !done) {
        REQUIRE(Started(words(results), place.root).wait().exit_code == 0);
        done = true;
      }
    }
    CHECK(tables(place, results) == tables(place, "whole"));
  }
  WARN(killed << " kills in " << sweeps << " sweeps");
}

TEST_CASE("sweep: kill -9 at random moments and --resume give the same bytes", "[cli][sweep][slow]") {
  const Place place;
  write_small_sweep(place);
  check_kills(place, 20, kSeeds);
}

// The number of seeds is decided again from what is there, and must come out the same.
TEST_CASE("sweep: kill -9 and --resume give the same bytes with --until-ci", "[cli][sweep][slow]") {
  const Place place;
  write_small_sweep(place);
  place.write("small.toml", small_sweep().insert(small_sweep().find("reference"), "until_ci = 0.3\nseeds_max = 150\n"));
  check_kills(place, 10, "1..5");
  std::set<std::string> seeds;
  for (const auto& row : rows_of(tables(place, "whole").points)) seeds.insert(row.at("seeds"));
  CHECK(seeds.size() > 1);  // points differ in how many they got
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

// A first line that nobody can read is a journal that is not there; whole ones of something else are for the
// user to look at.
TEST_CASE("sweep: damaged journals are done again, foreign ones are refused", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  const std::vector<std::string> resume = {"sweep", "small.toml", "--resume", "--seeds", "1..3"};
  REQUIRE(atoll(resume, place.root).exit_code == 0);
  const Tables whole = tables(place, "results");
  REQUIRE(shell("cd results/small.sweep && rm *.csv && sed -i '1s/journal/jourmal/' journal/00001.journal", place.root)
              .exit_code == 0);
  const Outcome again = atoll(resume, place.root);
  CHECK(again.err == "");
  CHECK(again.exit_code == 0);
  CHECK(tables(place, "results") == whole);

  const fs::path foreign = place.root / "results/small.sweep/journal/00000.journal";
  REQUIRE(atoll({"sweep", "small.toml", "--seeds", "1..2", "--results", "other"}, place.root).exit_code == 0);
  fs::copy_file(place.root / "other/small.sweep/journal/00001.journal", foreign);
  const Outcome refused = atoll(resume, place.root);
  CHECK(refused.exit_code == 2);
  CHECK(refused.out == "");
  CHECK(refused.err == "results/small.sweep/journal/00000.journal: error: holds runs of another sweep\n"
                       "  hint: move it away, or --force begins again\n");
  fs::remove(foreign);
  CHECK(atoll(resume, place.root).exit_code == 0);
}

TEST_CASE("sweep: --resume under another version is refused", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  const std::vector<std::string> resume = {"sweep", "small.toml", "--resume", "--seeds", "1..2"};
  REQUIRE(atoll(resume, place.root).exit_code == 0);
  REQUIRE(shell("sed -i '1s/version: .*/version: 9.9/' results/small.sweep/sweep.toml", place.root).exit_code == 0);
  const Outcome got = atoll(resume, place.root);
  CHECK(got.exit_code == 2);
  CHECK(got.out == "");
  CHECK_THAT(got.err, Catch::Matchers::StartsWith("results/small.sweep: error: was begun by version 9.9; this is "));
  CHECK_THAT(got.err, Catch::Matchers::EndsWith("  hint: go on with that version, or --force begins again\n"));
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
                     "  hint: --results DIR writes elsewhere\n");
  if (!may_mount(place)) return;
  const Outcome read_only = on_small_disk(1024, ",ro", place);
  CHECK(read_only.exit_code == 3);
  CHECK_THAT(read_only.err, Contains("error: cannot be written: Read-only file system\n"));
}

}  // namespace
}  // namespace tests_cli
