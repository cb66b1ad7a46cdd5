// tests/cli/disk_full_test.cpp: a disk that fills up while results are written leaves none of them.
//
// The disk is a small memory file system in a mount namespace of its own; where such a namespace may
// not be had, the test says that it was skipped.
// Teeth:  seen failing with the check after a file is closed left out: exit code 0 and cut files.
#include <catch2/catch.hpp>

#include "tests/cli/run_command.h"
#include "tests/cli/small_scenario.h"

namespace tests_cli {
namespace {

using Catch::Matchers::Contains;

// `line` where results/ is a disk of so many KiB; what is left there comes after it on stdout.
Outcome on_small_disk(const std::string& line, int size_kib, const Place& place) {
  fs::create_directories(place.root / "results");
  return shell("unshare --map-root-user --mount bash -c 'mount -t tmpfs -o size=" +
                   std::to_string(size_kib) + "k none results && { " + line +
                   "; code=$?; find results -mindepth 1; exit $code; }'",
               place.root);
}

bool may_mount(const Place& place) {
  if (on_small_disk("true", 64, place).exit_code == 0) return true;
  WARN("skipped: no mount namespace to be had here");
  return false;
}

// Small's files are 200 KiB and more in all: each of these sizes ends another file half way, from the
// first (a disk of one page has room for scenario.toml alone) to the last but one.
TEST_CASE("disk full: exit code 3, the reason, and not even a part of the results", "[cli]") {
  const Place place;
  if (!may_mount(place)) return;
  place.write("small.toml", small_scenario());
  for (const int size_kib : {4, 8, 64, 128}) {
    CAPTURE(size_kib);
    const Outcome got = on_small_disk("atoll run small.toml", size_kib, place);
    CHECK(got.exit_code == 3);
    CHECK(got.out == "");
    CHECK_THAT(got.err, Contains("No space left on device"));
    CHECK_THAT(got.err, Contains("results/small/decoupled-diloco/seed-7/"));
    CHECK_THAT(got.err, Contains(": error: cannot be written: "));
  }
}

// The tape is written while the run goes on; a disk that fills meanwhile is found at its end.
TEST_CASE("disk full: a recorded tape that does not fit is the same trouble", "[cli]") {
  const Place place;
  if (!may_mount(place)) return;
  place.write("small.toml", small_scenario());
  for (const int size_kib : {8, 32, 64}) {
    CAPTURE(size_kib);
    const Outcome got = on_small_disk("atoll run small.toml --record", size_kib, place);
    CHECK(got.exit_code == 3);
    CHECK_THAT(got.err, Contains(": error: cannot be written: "));
  }
}

TEST_CASE("disk full: so are snapshots that do not fit", "[cli]") {
  const Place place;
  if (!may_mount(place)) return;
  place.write("small.toml", small_scenario());
  const Outcome got =
      on_small_disk("atoll run small.toml --set training.snapshot.every=10", 48, place);
  CHECK(got.exit_code == 3);
  CHECK_THAT(got.err, Contains("/snapshot-") && Contains(": error: cannot be written: "));
}

TEST_CASE("disk full: with room enough the same command writes all", "[cli]") {
  const Place place;
  if (!may_mount(place)) return;
  place.write("small.toml", small_scenario());
  const Outcome got = on_small_disk("atoll run small.toml", 4096, place);
  CHECK(got.exit_code == 0);
  CHECK(got.err == "");
  CHECK_THAT(got.out, Contains("results/small/decoupled-diloco/seed-7/timeline.json"));
}

}  // namespace
}  // namespace tests_cli
