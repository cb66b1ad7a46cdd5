// tests/cli/gate_test.cpp: `atoll baseline` and `atoll check`, as a CI job would use them.
//
// Teeth:  seen failing with points matched by their order, with values in the order of the axes, with units
//         left as they are written, with the file's seeds in place of the baseline's, with any number of seeds
//         taken, with the seeds told as a changed key, with a changed scenario refused, with improvements
//         failed, and with the smallest difference left out.
#include <catch2/catch.hpp>

#include "tests/cli/guarded_sweep.h"

namespace tests_cli {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

TEST_CASE("gate: the same version, scenario and seeds differ by exactly 0", "[cli][gate]") {
  const Place place;
  write_guarded(place);
  const Outcome recorded = gate(place, {"baseline", "curve.toml", "--out", "b.json"});
  CHECK(recorded.err == "");
  CHECK(recorded.exit_code == 0);
  CHECK_THAT(recorded.out, StartsWith("b.json: 2 points of goodput.token, 12 seeds each\n"
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
                          Contains(" --set 'arm.decoupled.failure.chips.mtbi=\"30 d\"' --results ''\n"));
  const std::size_t command = got.out.find("repeat: ") + 8;
  CHECK(shell(got.out.substr(command, got.out.find('\n', command) - command), place.root).exit_code == 0);
  CHECK_THAT(got.out, Contains("FAILED: "));
  CHECK_THAT(text_of(place.root / "j.xml"), Contains("<failure message=\"WORSE: loss ") && Contains("tests=\"2\""));
  CHECK_THAT(text_of(place.root / "m.md"), StartsWith("### Goodput gate: FAILED: ") && Contains("| WORSE | "));
}

TEST_CASE("gate: what matters, what improved and what changed is for the options to say", "[cli][gate]") {
  const Place place;
  write_guarded(place);
  REQUIRE(gate(place, {"baseline", "curve.toml", "--out", "b.json"}).exit_code == 0);
  CHECK(check(place, {"--test-repair-factor", "10", "--smallest", "50"}).exit_code == 0);
  // The other way round it is an improvement.
  const Outcome better = check(place, {"--test-repair-factor", "0.01"});
  CHECK(better.exit_code == 0);
  const Outcome exact = check(place, {"--test-repair-factor", "1.01", "--exact"});
  CHECK(exact.exit_code == 1);
  CHECK_THAT(exact.out, Contains("\nCHANGED ") && Contains("\na point fails when a trace differs\n"));
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
  CHECK_THAT(other_failures.out, Contains("test: paired by seed\n") && Contains("\n  failure.chips.repair.mean: \"60 s\" -> \"70 s\"\n"));
  const Outcome fresh = check(place, {"--seeds", "101..112"});
  CHECK_THAT(fresh.out, Contains("test: two samples (Welch): the seeds are others\n"));
}

TEST_CASE("gate: improvements are reported, and fail only when asked to", "[cli][gate]") {
  const Place place;
  write_guarded(place);
  REQUIRE(gate(place, {"baseline", "curve.toml", "--out", "b.json", "--seeds", "1..40", "--set",
                       "training.downscale=120 s"})
              .exit_code == 0);
  const Outcome better = check(place);
  CHECK(better.exit_code == 0);
  CHECK_THAT(better.out, Contains("\nbetter "));
  CHECK(check(place, {"--strict"}).exit_code == 1);
}

TEST_CASE("gate: points are matched by their values", "[cli][gate]") {
  const Place place;
  write_guarded(place);
  REQUIRE(gate(place, {"baseline", "curve.toml", "--out", "b.json"}).exit_code == 0);
  place.write("curve.toml", guarded_sweep("\"2160 h\", \"0.5 y\""));
  const Outcome got = check(place, {"--junit", "j.xml"});
  CHECK(got.exit_code == 1);  // a point that is guarded no more
  CHECK_THAT(got.out, Contains("\nMISSING ") && Contains("\nnew ") && Contains("\nheld ") &&
                          EndsWith("\nFAILED: 1 of 2 points; 1 held, 1 new\n"));
  CHECK_THAT(text_of(place.root / "j.xml"), Contains("<failure message=\"MISSING: was "));
}

TEST_CASE("gate: neither the order of axes nor the unit of a value makes another point", "[cli][gate]") {
  const Place place;
  place.write("base.toml", goodput_scenario());
  const std::string head = "format = 1\nbase = \"base.toml\"\n[sweep]\nseeds = \"1..20\"\narms = [\"decoupled\"]\n";
  const std::string repairs = "[[sweep.axis]]\nkey = \"training.upscale\"\nvalues = [\"12 s\", \"1 min\"]\n";
  place.write("curve.toml", head + "[[sweep.axis]]\nkey = \"failure.chips.mtbi\"\nvalues = [\"30 d\", \"90 d\"]\n" + repairs);
  REQUIRE(gate(place, {"baseline", "curve.toml", "--out", "b.json"}).exit_code == 0);
  place.write("curve.toml", head + repairs + "[[sweep.axis]]\nkey = \"failure.chips.mtbi\"\nvalues = [\"2160 h\", \"30 d\"]\n");
  const Outcome got = check(place);
  CHECK(got.exit_code == 0);
  CHECK_THAT(got.out, EndsWith("\npassed: 4 of 4 points held\n"));
  std::size_t exact = 0;  // no point has lost or gained anything
  for (std::size_t at = got.out.find("\nheld        0.00      0.00 "); at != std::string::npos; ++exact) {
    at = got.out.find("\nheld        0.00      0.00 ", at + 1);
  }
  CHECK(exact == 4);
}

TEST_CASE("gate: the check takes the baseline's seeds, and refuses fewer than can tell", "[cli][gate]") {
  const Place place;
  write_guarded(place);
  REQUIRE(gate(place, {"baseline", "curve.toml", "--out", "b.json", "--seeds", "1..24"}).exit_code == 0);
  std::string sweep = guarded_sweep("\"30 d\", \"90 d\"");
  place.write("curve.toml", sweep.replace(sweep.find("1..12"), 5, "1..2"));
  const Outcome got = check(place);
  CHECK(got.exit_code == 0);
  CHECK_THAT(got.out, StartsWith("metric goodput.token, 24 seeds before, 24 now; test: paired by seed\n") &&
                          !Contains("sweep.seeds"));
  const Outcome few = check(place, {"--seeds", "1..3"});
  CHECK(few.exit_code == 2);
  CHECK(few.out == "");
  CHECK_THAT(few.err, StartsWith("curve.toml: error: --seeds: too few to tell: they find a loss of ") &&
                          EndsWith(" points in 95 % of cases, and 1.5 is wanted; got 1..3\n"
                                   "  hint: leave --seeds out: the baseline's are taken\n"));
  CHECK(check(place, {"--seeds", "1..1"}).err ==
        "curve.toml: error: --seeds: too few to tell: one seed tells no spread; got 1..1\n"
        "  hint: leave --seeds out: the baseline's are taken\n");
}

TEST_CASE("gate: the example repository's baseline is held by this version", "[cli][gate]") {
  const fs::path root(ATOLL_SOURCE_DIR);
  const std::string baseline = text_of(root / "scenarios/ci/guarded.baseline.json");
  const std::size_t at = baseline.find("\"version\": \"") + 12;
  const std::string version = baseline.substr(at, baseline.find('"', at) - at);
  const Outcome got = atoll({"check", "scenarios/ci/guarded.toml", "--baseline", "scenarios/ci/guarded.baseline.json"}, root);
  CHECK(got.err == "");
  CHECK(got.exit_code == 0);
  CHECK_THAT(got.out, Contains("\nversion before " + version + ", now 0."));
  CHECK_THAT(got.out, EndsWith("\npassed: 4 of 4 points held\n"));
}

}  // namespace
}  // namespace tests_cli
