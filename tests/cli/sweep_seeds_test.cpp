// tests/cli/sweep_seeds_test.cpp: --until-ci: how many seeds a point gets, and that no sweep stops too early.
//
// Teeth:  seen failing with the first look after the seeds given, with equal values taken for narrow, and with
//         failures counted anew in each round.
#include <catch2/catch.hpp>

#include "tests/cli/small_sweep.h"

namespace tests_cli {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

// One point and one arm in which nothing ever fails, so that all seeds give the goodput 1.
void write_quiet_sweep(const Place& place) {
  place.write("base.toml", goodput_scenario());
  place.write("small.toml", "format = 1\nbase = \"base.toml\"\n[sweep]\nseeds = \"1..2\"\narms = [\"decoupled\"]\n"
                            "set = [\"failure.chips.mtbi=1e6 y\"]\n");
}

std::map<std::string, std::string> goodput_row(const Place& place) {
  for (const auto& row : rows_of(table_of(place, kFolder, "points.csv"))) {
    if (row.at("metric") == "goodput.stepping") return row;
  }
  return {};
}

// Only wide points get more: at 30 d the goodput of the one elastic job spreads, at 1 y hardly.
TEST_CASE("sweep: --until-ci adds seeds where the interval is wide", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  REQUIRE(sweep(place, {"--until-ci", "0.3", "--seeds", "1..10"}).exit_code == 0);
  std::map<std::string, int> seeds;
  double widest = 0;
  for (const auto& row : rows_of(table_of(place, kFolder, "points.csv"))) {
    if (row.at("metric") != "goodput.stepping") continue;
    seeds[row.at("point")] = std::stoi(row.at("seeds"));
    CHECK(std::stod(row.at("confidence")) == Approx(1 - 0.05 / 10));  // ten looks at most: 10, 20 .. 100
    if (row.at("seeds") != "100") {
      widest = std::max(widest, (std::stod(row.at("high")) - std::stod(row.at("low"))) / 2);
    }
  }
  CHECK(widest <= 0.003);
  CHECK(seeds.at("0") > seeds.at("5"));
  for (const auto& [point, count] : seeds) CHECK(count % 10 == 0);
  // Shards decide the same, since a point never splits.
  for (const char* shard : {"1/2", "2/2"}) {
    REQUIRE(sweep(place, {"--until-ci", "0.3", "--seeds", "1..10", "--results", "s", "--shard", shard}).exit_code == 0);
  }
  REQUIRE(shell("atoll merge s/small.sweep/shard-*", place.root).exit_code == 0);
  CHECK(table_of(place, "s/small.sweep", "points.csv") == table_of(place, kFolder, "points.csv"));
}

// Ten at least, and thirty where all values are equal, unless seeds_max is less: by the rule of three, what
// none of thirty runs shows has a probability of less than a tenth.
TEST_CASE("sweep: --until-ci does not take a few equal values for certainty", "[cli][sweep]") {
  const Place place;
  write_quiet_sweep(place);
  const Outcome dry = sweep(place, {"--until-ci", "1", "--dry-run"});
  CHECK_THAT(dry.out, StartsWith("10 runs, 1 point x 1 arm x 10 seeds\n"
                                 "until_ci begins with 10 seeds, and goes up to 100 where an interval stays wide\n"));
  REQUIRE(sweep(place, {"--until-ci", "1"}).exit_code == 0);
  CHECK(goodput_row(place).at("seeds") == "30");
  CHECK(goodput_row(place).at("low") == "1.0");
  CHECK(goodput_row(place).at("high") == "1.0");
  for (const auto& [seeds_max, seeds] : {std::pair{"25", "25"}, {"7", "7"}}) {
    place.write("small.toml", text_of(place.root / "small.toml") + "seeds_max = " + seeds_max + "\n");
    REQUIRE(sweep(place, {"--until-ci", "1", "--force"}).exit_code == 0);
    CHECK(goodput_row(place).at("seeds") == seeds);
    write_quiet_sweep(place);
  }
  // More seeds than that, as asked for: one look, and all are equal.
  REQUIRE(sweep(place, {"--until-ci", "1", "--force", "--seeds", "1..33"}).exit_code == 0);
  CHECK(goodput_row(place).at("seeds") == "33");
}

// Each round is of ten runs, and all fail.
TEST_CASE("sweep: --max-failures counts over all rounds of --until-ci", "[cli][sweep]") {
  const Place place;
  write_quiet_sweep(place);
  const Outcome got = sweep(place, {"--until-ci", "1", "--abort-at", "100", "--max-failures", "15", "--jobs", "1"});
  CHECK(got.exit_code == 4);
  CHECK(got.err == "stopped: too many runs failed; 15 runs are done, 15 of them failed\n  hint: --resume goes on\n");
  // What failed before does not count, what is done again does.
  const Outcome more = sweep(place, {"--until-ci", "1", "--abort-at", "100", "--max-failures", "7", "--jobs", "1",
                                     "--resume"});
  CHECK_THAT(more.err, Contains("22 runs are done, 22 of them failed"));
  const Outcome again = sweep(place, {"--until-ci", "1", "--abort-at", "100", "--max-failures", "25", "--jobs", "1",
                                      "--resume", "--retry-failed"});
  CHECK_THAT(again.err, Contains("25 runs are done, 25 of them failed"));
}

}  // namespace
}  // namespace tests_cli
