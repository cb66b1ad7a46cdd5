// tests/cli/sweep_forecast_test.cpp: what --dry-run says a sweep will cost.
//
// Teeth:  seen failing with --keep not counted, and with trials that are not legal counted as slow ones.
#include <catch2/catch.hpp>

#include "tests/cli/small_sweep.h"

namespace tests_cli {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("sweep: a dry run counts, estimates, and writes nothing", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  const Outcome got = sweep(place, {"--dry-run", "--jobs", "1"});
  CHECK(got.exit_code == 0);
  CHECK_THAT(got.out, StartsWith("60 runs, 6 points x 2 arms x 5 seeds\nabout "));
  CHECK_THAT(got.out, Contains(" s with 1 job, from 6 trial runs of its own\n"));
  CHECK_THAT(got.out, Contains(" kB in results/small.sweep\n"));
  CHECK_FALSE(fs::exists(place.root / "results"));
}

double kilobytes_in(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line) && line.find(" in results/") == std::string::npos) {
  }
  std::istringstream words(line);
  std::string about, unit;
  double number = 0;
  words >> about >> number >> unit;
  return number * (unit == "MB" ? 1e3 : 1);
}

// Against what is there afterwards.
TEST_CASE("sweep: a dry run counts the folders that --keep keeps", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  const double without = kilobytes_in(sweep(place, {"--dry-run", "--seeds", "1..2"}).out);
  const Outcome got = shell("mkdir tmp && TMPDIR=$PWD/tmp atoll sweep small.toml --dry-run --seeds 1..2 --keep && rmdir tmp",
                            place.root);
  CHECK(got.exit_code == 0);  // and the temporary folder is empty again
  const double with_kept = kilobytes_in(got.out);
  REQUIRE(sweep(place, {"--keep", "--seeds", "1..2"}).exit_code == 0);
  double kept = 0, all = 0;
  for (const auto& entry : fs::recursive_directory_iterator(place.root / kFolder)) {
    if (!entry.is_regular_file()) continue;
    all += static_cast<double>(entry.file_size()) / 1e3;
    if (entry.path().string().find("/kept/") != std::string::npos) kept += static_cast<double>(entry.file_size()) / 1e3;
  }
  CAPTURE(without, with_kept, kept, all);
  CHECK(kept > 2 * without);
  CHECK(with_kept == Approx(all).epsilon(0.3));  // from six of 24 runs; printed to a megabyte
}

// Each axis is legal with the other's first value, so that the mistake shows in no point that is looked at.
TEST_CASE("sweep: a dry run says what it could not try, and does not count it as slow", "[cli][sweep]") {
  const Place place;
  place.write("base.toml", goodput_scenario());
  std::string quorums = "1";
  for (int quorum = 2; quorum <= 40; ++quorum) quorums += ", " + std::to_string(quorum);
  place.write("small.toml", "format = 1\nbase = \"base.toml\"\n[sweep]\nseeds = \"1..2\"\narms = [\"decoupled\"]\n"
                            "[[sweep.axis]]\nkey = \"training.learners\"\nvalues = [64, 32, 16, 8, 4, 2]\n"
                            "[[sweep.axis]]\nkey = \"training.quorum\"\nvalues = [" + quorums + "]\n");
  const Outcome got = sweep(place, {"--dry-run", "--jobs", "1"});
  CHECK(got.exit_code == 0);
  // 240 points: the first (64 learners, quorum 1) and the middle one (8, 1) are legal, the last (2, 40) is not.
  CHECK_THAT(got.out, Contains("from 2 trial runs of its own; 1 could not be tried\n"));
  CHECK_THAT(got.out, Contains(" s with 1 job"));
}

}  // namespace
}  // namespace tests_cli
