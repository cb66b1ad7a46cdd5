// tests/cli/gate_test.cpp: `atoll baseline` and `atoll check`, as a CI job would use them.
//
// Teeth:  seen failing with points matched by their order, with a changed scenario refused, with the
//         checksum not looked at, with improvements failed, and with the smallest difference left out.
#include <catch2/catch.hpp>

#include "tests/cli/small_sweep.h"

namespace tests_cli {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

std::string guarded_sweep(const std::string& values) {
  return "format = 1\nbase = \"base.toml\"\n[sweep]\nseeds = \"1..40\"\narms = [\"decoupled\"]\n"
         "[[sweep.axis]]\nkey = \"failure.chips.mtbi\"\nvalues = [" + values + "]\n";
}

void write_guarded(const Place& place) {
  place.write("base.toml", goodput_scenario());
  place.write("curve.toml", guarded_sweep("\"30 d\", \"90 d\""));
}

Outcome gate(const Place& place, std::vector<std::string> words) { return atoll(std::move(words), place.root); }

Outcome check(const Place& place, std::vector<std::string> words = {}) {
  words.insert(words.begin(), {"check", "curve.toml", "--baseline", "b.json"});
  return gate(place, std::move(words));
}

TEST_CASE("gate: the same version, scenario and seeds differ by exactly 0", "[cli][gate]") {
  const Place place;
  write_guarded(place);
  const Outcome recorded = gate(place, {"baseline", "curve.toml", "--out", "b.json"});
  CHECK(recorded.err == "");
  CHECK(recorded.exit_code == 0);
  CHECK_THAT(recorded.out, StartsWith("b.json: 2 points of goodput.stepping, 40 seeds each\n"
                                      "smallest loss it finds in 95 % of cases: "));
  const Outcome got = check(place);
  CHECK(got.err == "");
  CHECK(got.exit_code == 0);
  CHECK_THAT(got.out, Contains("test: paired by seed\n") && EndsWith("\npassed: 2 of 2 points held\n"));
  CHECK_THAT(got.out, Contains("held        0.00      0.00 "));
  CHECK(check(place, {"--exact"}).exit_code == 0);
  CHECK_FALSE(fs::exists(place.root / "results"));
}

TEST_CASE("gate: a simulator that became worse fails, by point, with a command that repeats it", "[cli][gate]") {
  const Place place;
  write_guarded(place);
  REQUIRE(gate(place, {"baseline", "curve.toml", "--out", "b.json"}).exit_code == 0);
  // Repairs take ten times as long: at 30 d between failures that costs points, at 90 d few.
  const Outcome got = check(place, {"--test-repair-factor", "10", "--junit", "j.xml", "--markdown", "m.md"});
  CHECK(got.exit_code == 1);
  CHECK_THAT(got.out, Contains("\nWORSE ") && Contains("decoupled: failure.chips.mtbi=\"30 d\"\n"));
  CHECK_THAT(got.out, Contains("repeat: atoll run 'base.toml' --arm 'decoupled' --seed ") &&
                          Contains(" --set 'failure.chips.mtbi=\"30 d\"' --results ''\n"));
  CHECK_THAT(got.out, Contains("FAILED: "));
  CHECK_THAT(text_of(place.root / "j.xml"), Contains("<failure message=\"WORSE: loss ") && Contains("tests=\"2\""));
  CHECK_THAT(text_of(place.root / "m.md"), StartsWith("### Goodput gate: FAILED: ") && Contains("| WORSE | "));
  CHECK(check(place, {"--test-repair-factor", "10", "--smallest", "50"}).exit_code == 0);
  // The other way round it is an improvement.
  const Outcome better = check(place, {"--test-repair-factor", "0.01"});
  CHECK(better.exit_code == 0);
  const Outcome exact = check(place, {"--test-repair-factor", "1.01", "--exact"});
  CHECK(exact.exit_code == 1);
  CHECK_THAT(exact.out, Contains("\nCHANGED "));
}

TEST_CASE("gate: a changed scenario is listed and tested, not refused", "[cli][gate]") {
  const Place place;
  write_guarded(place);
  REQUIRE(gate(place, {"baseline", "curve.toml", "--out", "b.json"}).exit_code == 0);
  const Outcome slower = check(place, {"--set", "training.downscale=120 s"});
  CHECK(slower.exit_code == 1);
  CHECK_THAT(slower.out, Contains("test: paired by seed\n") && Contains("training.downscale: \"") &&
                             Contains(" -> \"2 min\"\n"));
  const Outcome other_failures = check(place, {"--set", "failure.chips.repair=70 s"});
  CHECK_THAT(other_failures.out, Contains("test: two samples (Welch): failure[0].repair") &&
                                     Contains(" moves the random streams\n"));
  const Outcome fresh = check(place, {"--seeds", "101..140"});
  CHECK_THAT(fresh.out, Contains("test: two samples (Welch): the seeds are others\n"));
  // Improvements are reported, and fail only when asked to.
  REQUIRE(gate(place, {"baseline", "curve.toml", "--out", "b.json", "--set", "training.downscale=120 s"}).exit_code == 0);
  const Outcome better = check(place);
  CHECK(better.exit_code == 0);
  CHECK_THAT(better.out, Contains("\nbetter "));
  CHECK(check(place, {"--strict"}).exit_code == 1);
}

TEST_CASE("gate: points are matched by their values", "[cli][gate]") {
  const Place place;
  write_guarded(place);
  REQUIRE(gate(place, {"baseline", "curve.toml", "--out", "b.json"}).exit_code == 0);
  place.write("curve.toml", guarded_sweep("\"90 d\", \"30 d\""));
  CHECK_THAT(check(place).out, EndsWith("\npassed: 2 of 2 points held\n"));
  place.write("curve.toml", guarded_sweep("\"90 d\", \"45 d\""));
  const Outcome got = check(place);
  CHECK(got.exit_code == 1);  // a point that is guarded no more
  CHECK_THAT(got.out, Contains("\nMISSING ") && Contains("\nnew "));
}

TEST_CASE("gate: too few seeds are refused, with the number that is enough", "[cli][gate]") {
  const Place place;
  write_guarded(place);
  const Outcome got = gate(place, {"baseline", "curve.toml", "--out", "b.json", "--seeds", "1..2"});
  CHECK(got.exit_code == 2);
  CHECK_THAT(got.err, StartsWith("curve.toml: error: --seeds: too few to guard this curve; 2 seeds find a loss of ") &&
                          Contains(" points in 95 % of cases, and 1.5 is wanted\n  hint: --seeds 1.."));
  CHECK_FALSE(fs::exists(place.root / "b.json"));
}

TEST_CASE("gate: baselines that cannot be used", "[cli][gate]") {
  const Place place;
  write_guarded(place);
  CHECK(check(place).err == "b.json: error: cannot be read\n  hint: atoll baseline writes one\n");
  REQUIRE(gate(place, {"baseline", "curve.toml", "--out", "b.json"}).exit_code == 0);
  const std::string good = text_of(place.root / "b.json");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    REQUIRE(text.find(from) != std::string::npos);
    place.write("b.json", text.replace(text.find(from), from.size(), to));
    const Outcome got = check(place);
    CHECK(got.exit_code == 3);
    CHECK(got.out == "");
    return got.err;
  };
  CHECK(with("\"format\": 1", "\"format\": 7") ==
        "b.json: error: format: must be 1; got 7\n  hint: record it again with atoll baseline\n");
  CHECK(with("\"seeds\": [\n", "\"seeds\": [\n0,\n") ==
        "b.json: error: is damaged: its checksum does not hold\n  hint: record it again with atoll baseline\n");
  CHECK(with("{", "") ==
        "b.json: error: is damaged: it cannot be read as a baseline\n  hint: record it again with atoll baseline\n");
  CHECK(with("atoll baseline", "a cake") == "b.json: error: is no baseline\n  hint: atoll baseline writes one\n");

  place.write("b.json", good);
  const Outcome metric = check(place, {"--metric", "uptime"});
  CHECK(metric.exit_code == 2);
  CHECK(metric.err ==
        "b.json: error: cannot be compared: the baseline is of metric goodput.stepping; this is uptime\n"
        "  hint: record it again with atoll baseline\n");
  place.write("curve.toml", guarded_sweep("\"30 d\", \"90 d\"") +
                                "[[sweep.axis]]\nkey = \"training.upscale\"\nvalues = [\"1 s\"]\n");
  const Outcome axes = check(place);
  CHECK(axes.exit_code == 2);
  CHECK(axes.err == "b.json: error: cannot be compared: the baseline has the axes [failure.chips.mtbi]; this has "
                    "[failure.chips.mtbi, training.upscale]\n  hint: record it again with atoll baseline\n");
  write_guarded(place);
  const Outcome text = gate(place, {"baseline", "curve.toml", "--out", "x.json", "--metric", "arm"});
  CHECK(text.exit_code == 2);
  CHECK_THAT(text.err, StartsWith("--metric: error: must be a number in summary.json; got \"arm\"\n  hint: "));
}

TEST_CASE("gate: a run that fails is exit code 4", "[cli][gate]") {
  const Place place;
  write_guarded(place);
  const Outcome got = gate(place, {"baseline", "curve.toml", "--out", "b.json", "--abort-at", "9", "--abort-seed", "5"});
  CHECK(got.exit_code == 4);
  CHECK(got.err == "a run failed: failure.chips.mtbi=\"30 d\", arm decoupled, seed 5: the run was ended by signal 6 "
                   "(Aborted)\n");
}

}  // namespace
}  // namespace tests_cli
