// tests/cli/gate_mistakes_test.cpp: what the gate refuses, each with its text, and when: before a run where it can be.
//
// Teeth:  seen failing with the checksum not looked at, with any metric taken, with a point held twice taken, with
//         the most seeds of any cell as those of all, with all of them tested where the baseline has fewer, with
//         the old file opened for writing, with lines counted from 2, with another metric compared, with no
//         report of a failed run, with seeds and metric blamed without their place, and with files opened and
//         axes compared after the runs.
#include <catch2/catch.hpp>

#include "tests/cli/guarded_sweep.h"

namespace tests_cli {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

TEST_CASE("gate: too few seeds are refused, with the number that is enough", "[cli][gate]") {
  const Place place;
  write_guarded(place);
  const Outcome got = gate(place, {"baseline", "curve.toml", "--out", "b.json", "--seeds", "4..5"});
  CHECK(got.exit_code == 2);
  CHECK_THAT(got.err, StartsWith("curve.toml: error: --seeds: too few to guard this curve: they find a loss of ") &&
                          Contains(" points in 95 % of cases, and 1.5 is wanted; got 2 seeds\n  hint: --seeds 4.."));
  std::string sweep = guarded_sweep("\"30 d\", \"90 d\"");
  place.write("curve.toml", sweep.replace(sweep.find("1..12"), 5, "7"));
  CHECK(gate(place, {"baseline", "curve.toml", "--out", "b.json"}).err ==
        "curve.toml:4:9: error: sweep.seeds: too few to guard this curve: they tell no spread; got 1 seeds\n"
        "  hint: write seeds = \"7..11\" in [sweep]\n");
  CHECK_FALSE(fs::exists(place.root / "b.json"));
  CHECK(std::distance(fs::directory_iterator(place.root), fs::directory_iterator()) == 2);  // no half file either
}

// The cell at 50 y, where nothing fails, stays at the 30 seeds from which equal values count as narrow, or
// at seeds_max; the one at 30 d is narrow with ten.
TEST_CASE("gate: seeds added by until_ci are judged cell by cell", "[cli][gate]") {
  const Place place;
  place.write("base.toml", goodput_scenario());
  const std::string rest =
      "arms = [\"decoupled\"]\n[[sweep.axis]]\nkey = \"failure.chips.mtbi\"\nvalues = [\"50 y\", \"30 d\"]\n";
  const auto write = [&](const std::string& seeds_max) {
    place.write("curve.toml", "format = 1\nbase = \"base.toml\"\n[sweep]\nuntil_ci = 0.8\nseeds_max = " + seeds_max +
                                  "\nseeds = \"1..2\"\n" + rest);
  };
  write("3");
  const Outcome few = gate(place, {"baseline", "curve.toml", "--out", "b.json"});
  CHECK(few.exit_code == 2);
  CHECK_THAT(few.err, StartsWith("curve.toml:6:9: error: sweep.seeds: too few to guard this curve: ") && Contains("; got 3 seeds\n"));
  write("60");
  const Outcome recorded = gate(place, {"baseline", "curve.toml", "--out", "b.json"});
  CHECK(recorded.err == "");
  CHECK_THAT(recorded.out, StartsWith("b.json: 2 points of goodput.token, 10 to 30 seeds each\n"));
  const Outcome got = check(place);
  CHECK_THAT(got.out, Contains(" 10 to 30 seeds before, 10 to 30 now; ") && Contains("test: paired by seed\n") && !Contains("changed keys") &&
                          EndsWith("\npassed: 2 of 2 points held\n"));
}

TEST_CASE("gate: a point that is there twice cannot be guarded", "[cli][gate]") {
  const Place place;
  place.write("base.toml", goodput_scenario());
  place.write("curve.toml", "format = 1\nbase = \"base.toml\"\n[sweep]\narms = [\"decoupled\"]\ncombine = \"latin-hypercube\"\n"
                            "samples = 3\n[[sweep.axis]]\nkey = \"training.learners\"\nvalues = [2, 4]\n");
  const Outcome got = gate(place, {"baseline", "curve.toml", "--out", "b.json"});
  CHECK(got.exit_code == 2);
  CHECK(got.err == "curve.toml:7:1: error: sweep.axis[0]: two points are the same scenario: training.learners=2; and training.learners=2\n"
                   "  hint: take fewer samples or another design_seed, or a grid of the values\n");
}

TEST_CASE("gate: only shares of which more is better", "[cli][gate]") {
  const Place place;
  write_guarded(place);
  const std::string hint =
      "  hint: one of goodput.token goodput.stepping goodput.time goodput.chip uptime compute_utilization participation\n";
  for (const char* metric : {"loss.final", "step_median_s"}) {
    const Outcome got = gate(place, {"baseline", "curve.toml", "--out", "b.json", "--metric", metric});
    CHECK(got.exit_code == 2);
    CHECK(got.err ==
          "curve.toml: error: --metric: must be a share of which more is better; got " + std::string(metric) + "\n" + hint);
  }
  std::string sweep = guarded_sweep("\"30 d\"");
  place.write("curve.toml", sweep.insert(sweep.find("seeds"), "metric = \"steps\"\n"));
  CHECK(gate(place, {"baseline", "curve.toml", "--out", "b.json"}).err ==
        "curve.toml:4:10: error: sweep.metric: must be a share of which more is better; got steps\n" + hint);
  // One that these runs have no number of: nothing is learned in them.
  write_guarded(place);
  CHECK(gate(place, {"baseline", "curve.toml", "--out", "b.json", "--metric", "participation"}).err ==
        "curve.toml: error: --metric: participation is no number in the summary of arm 'decoupled'\n"
        "  hint: goodput.token is one\n");
}

TEST_CASE("gate: files are opened before any run, and replaced whole", "[cli][gate]") {
  const Place place;
  write_guarded(place);
  // A run would end with exit code 4.
  const std::vector<std::string> fails = {"--abort-at", "9", "--abort-seed", "5"};
  std::vector<std::string> record = {"baseline", "curve.toml", "--out", "none/b.json"};
  record.insert(record.end(), fails.begin(), fails.end());
  const Outcome lost = gate(place, record);
  CHECK(lost.exit_code == 3);
  CHECK(lost.err == "none/b.json: error: cannot be written: No such file or directory\n");
  REQUIRE(gate(place, {"baseline", "curve.toml", "--out", "b.json"}).exit_code == 0);
  for (const char* option : {"--junit", "--markdown"}) {
    CHECK(check(place, {option, "none/x", "--abort-at", "9", "--abort-seed", "5"}).exit_code == 3);
  }
  // A refused or failed recording leaves the one that is there.
  const std::string good = text_of(place.root / "b.json");
  record[3] = "b.json";
  CHECK(gate(place, record).exit_code == 4);
  CHECK(gate(place, {"baseline", "curve.toml", "--out", "b.json", "--seeds", "1..2"}).exit_code == 2);
  CHECK(text_of(place.root / "b.json") == good);
  // What is no file is written in place.
  CHECK(check(place, {"--junit", "/dev/null"}).exit_code == 0);
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(std::distance(fs::directory_iterator(place.root), fs::directory_iterator()) == 3);
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
  CHECK(with("\"format\": 2", "\"format\": 7") ==
        "b.json: error: format: must be 1 or 2; got 7\n  hint: record it again with atoll baseline\n");
  CHECK(with("\"seeds\": [\n", "\"seeds\": [\n0,\n") ==
        "b.json: error: is damaged: its checksum does not hold\n  hint: record it again with atoll baseline\n");
  CHECK(with("\"metrics\": ", "\"metrics\"; ") ==
        "b.json:4:11: error: is damaged: no JSON from here on\n  hint: record it again with atoll baseline\n");
  place.write("b.json", "[]");
  CHECK(check(place).err == "b.json: error: is no baseline\n  hint: atoll baseline writes one\n");
  CHECK(with("atoll baseline", "a cake") == "b.json: error: is no baseline\n  hint: atoll baseline writes one\n");

  // Told before anything runs: a run would end with exit code 4.
  place.write("b.json", good);
  const Outcome metric = check(place, {"--metric", "uptime", "--abort-at", "9", "--abort-seed", "5"});
  CHECK(metric.exit_code == 2);
  CHECK(metric.err ==
        "b.json: error: metrics: must be [uptime], as in the sweep; got [goodput.token]\n"
        "  hint: record it again with atoll baseline\n");
  place.write("curve.toml", guarded_sweep("\"30 d\", \"90 d\"") +
                                "[[sweep.axis]]\nkey = \"training.upscale\"\nvalues = [\"1 s\"]\n");
  const Outcome axes = check(place, {"--abort-at", "9", "--abort-seed", "5"});
  CHECK(axes.exit_code == 2);
  CHECK(axes.err == "b.json: error: axes: must be [failure.chips.mtbi, training.upscale], as in the sweep; got "
                    "[failure.chips.mtbi]\n  hint: record it again with atoll baseline\n");
}

TEST_CASE("gate: a run that fails is exit code 4", "[cli][gate]") {
  const Place place;
  write_guarded(place);
  const Outcome got = gate(place, {"baseline", "curve.toml", "--out", "b.json", "--abort-at", "9", "--abort-seed", "5"});
  CHECK(got.exit_code == 4);
  const std::string told =
      "a run failed: failure.chips.mtbi=\"30 d\", arm decoupled, seed 5: the run was ended by signal 6 (Aborted)\n"
      "  repeat with: atoll run 'base.toml' --arm 'decoupled' --seed 5 --set 'arm.decoupled.failure.chips.mtbi=\"30 d\"' --results ''\n";
  CHECK(got.err == told);
  CHECK_FALSE(fs::exists(place.root / "b.json"));
  REQUIRE(gate(place, {"baseline", "curve.toml", "--out", "b.json"}).exit_code == 0);
  const Outcome checked = check(place, {"--abort-at", "9", "--abort-seed", "5", "--junit", "j.xml", "--markdown", "m.md"});
  CHECK(checked.exit_code == 4);
  CHECK(checked.err == told);
  CHECK_THAT(text_of(place.root / "j.xml"), Contains("errors=\"1\"") && Contains("repeat with: atoll run 'base.toml'"));
  CHECK(text_of(place.root / "m.md") ==
        "### Goodput gate: no verdict on <code>goodput.token</code>\n\n```\n" + told + "```\n");
}

}  // namespace
}  // namespace tests_cli
