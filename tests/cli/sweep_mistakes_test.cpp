// tests/cli/sweep_mistakes_test.cpp: each mistake in a sweep gives its exact text, exit code 2, no files.
//
// Teeth:  seen failing with the check of overridden keys left out and with an axis laid on unread; with names
//         of keys compared as written, with equal points let through, with sets under an axis let through, with
//         the size asked for behind the axes, with --yes ignored, and with the metric left unread.
#include <catch2/catch.hpp>

#include "tests/cli/small_sweep.h"

namespace tests_cli {
namespace {

// The sweep's text after [sweep], and what is said of it. Line 4 is the first of `text`.
std::string said_of(const std::string& text, const std::vector<std::string>& words = {}) {
  const Place place;
  place.write("base.toml", goodput_scenario());
  place.write("bad.toml", "format = 1\nbase = \"base.toml\"\n[sweep]\n" + text);
  std::vector<std::string> command = {"sweep", "bad.toml"};
  command.insert(command.end(), words.begin(), words.end());
  const Outcome got = atoll(command, place.root);
  CHECK(got.exit_code == 2);
  CHECK(got.out == "");
  CHECK_FALSE(fs::exists(place.root / "results"));
  return got.err;
}

std::string axis(const std::string& text) { return "[[sweep.axis]]\n" + text + "\n"; }

TEST_CASE("sweep mistakes: axes", "[cli][sweep]") {
  CHECK(said_of(axis("key = \"failure.chips.mtib\"\nvalues = [\"1 d\"]")) ==
        "bad.toml:4:1: error: sweep.axis[0]: with failure.chips.mtib=\"1 d\": failure[0].mtib: unknown key\n"
        "  hint: did you mean 'mtbi'?\n");
  CHECK(said_of(axis("key = \"failure.chips.mtbi\"\nvalues = []")) ==
        "bad.toml:6:10: error: sweep.axis[0].values: must hold at least one value; got []\n"
        "  hint: an axis without values has no points\n");
  CHECK(said_of(axis("key = \"failure.chips.mtbi\"\nvalues = [\"1 d\", \"1 m\"]")) ==
        "bad.toml:4:1: error: sweep.axis[0]: with failure.chips.mtbi=\"1 m\": failure[0].mtbi: unknown unit "
        "'m' in \"1 m\"\n  hint: minutes are 'min', milliseconds 'ms'\n");
  CHECK(said_of(axis("key = \"training.elastic\"\nvalues = [true]") +
                axis("key = \"training.checkpoint.every\"\nvalues = [\"1 h\"]")) ==
        "bad.toml:7:1: error: sweep.axis[1]: training.checkpoint.every is set by arm 'elastic' itself\n"
        "  hint: leave the arm out with arms = [...], or write arm_overrides = \"replace\"\n");
  CHECK(said_of(axis("key = \"failure.chips.mtbi\"\nvalues = [\"1 d\", \"1 d\"]")) ==
        "bad.toml:6:11: error: sweep.axis[0].values[0]: must not hold a value twice; got \"1 d\" twice\n"
        "  hint: leave one out\n");
  CHECK(said_of(axis("key = \"failure.chips.mtbi\"\nfrom = \"1 d\"\nto = \"1 y\"")) ==
        "bad.toml:7:6: error: sweep.axis[0].to: must have the unit of from (\"1 d\"); got \"1 y\"\n");
  CHECK(said_of(axis("key = \"training.learners\"\nfrom = 0\nto = 8\nspacing = \"log\"")) ==
        "bad.toml:6:8: error: sweep.axis[0].from: must be above 0 with spacing = \"log\", like to; got 0 and 8\n");
  CHECK(said_of(axis("key = \"training.learners\"")) ==
        "bad.toml:4:1: error: sweep.axis[0]: needs values, or from and to\n"
        "  hint: write values = [ ... ], or from = ..., to = ..., count = ...\n");
  CHECK(said_of("combine = \"zip\"\n" + axis("key = \"training.upscale\"\nvalues = [\"1 s\"]") +
                axis("key = \"training.downscale\"\nvalues = [\"1 s\", \"2 s\"]")) ==
        "bad.toml:8:1: error: sweep.axis[1]: must have as many values as the first axis (1) with combine = "
        "\"zip\"; got 2\n");
}

TEST_CASE("sweep mistakes: axes that change nothing", "[cli][sweep]") {
  const std::string mtbi = axis("key = \"failure.chips.mtbi\"\nvalues = [\"30 d\", \"90 d\"]");
  CHECK(said_of(axis("key = \"seed\"\nvalues = [1, 2]")) ==
        "bad.toml:4:1: error: sweep.axis[0]: seed is no axis: all points have the same seeds\n"
        "  hint: write seeds = \"1..10\" in [sweep]\n");
  CHECK(said_of(mtbi + axis("key = \"failure.0.mtbi\"\nvalues = [\"1 d\", \"2 d\"]")) ==
        "bad.toml:7:1: error: sweep.axis[1]: varies failure.0.mtbi a second time\n  hint: one axis for each key\n");
  const std::string replaced =
      "is replaced at every point by the axis on failure.chips.mtbi\n  hint: leave out one of the two\n";
  CHECK(said_of(mtbi, {"--set", "failure.chips.mtbi=3 d"}) ==
        "--set failure.chips.mtbi=3 d: error: " + replaced);
  CHECK(said_of("set = [\"seed=2\", \"arm.elastic.failure.0.mtbi=3 d\"]\n" + mtbi) ==
        "bad.toml:4:18: error: sweep.set[1]: " + replaced);
  CHECK(said_of(axis("key = \"training.upscale\"\nvalues = [\"60 s\", \"12 s\", \"1 min\"]")) ==
        "bad.toml:4:1: error: sweep.axis[0]: two points are the same scenario: training.upscale=\"60 s\"; and "
        "training.upscale=\"1 min\"\n  hint: leave one out: it would be the same runs again\n");
  CHECK(said_of("combine = \"latin-hypercube\"\nsamples = 3\n" + mtbi) ==
        "bad.toml:6:1: error: sweep.axis[0]: two points are the same scenario: failure.chips.mtbi=\"30 d\"; and "
        "failure.chips.mtbi=\"30 d\"\n  hint: take fewer samples or another design_seed, or a grid of the values\n");
  // Of 300 points 152 are looked at: the second axis lies over the first, whose values do nothing.
  const std::string chips = "name = \"chips\", target = \"chip\", clock = \"stepping\", repair = \"60 s\", mtbi = ";
  CHECK(said_of(axis("key = \"failure.chips.mtbi\"\nfrom = \"1 d\"\nto = \"150 d\"\ncount = 150") +
                axis("key = \"failure.chips\"\nvalues = [{ " + chips + "\"1 d\" }, { " + chips + "\"2 d\" }]")) ==
        "bad.toml:4:1: error: sweep.axis[0]: two points are the same scenario: failure.chips.mtbi=\"1 d\", "
        "failure.chips={ " + chips + "\"1 d\" }; and failure.chips.mtbi=\"2 d\", failure.chips={ " + chips +
        "\"1 d\" }\n  hint: leave one out: it would be the same runs again\n");
}

TEST_CASE("sweep mistakes: a metric that no summary has is told before anything runs", "[cli][sweep]") {
  CHECK(said_of("metric = \"goodput.steping\"\nuntil_ci = 0.3\n") ==
        "bad.toml:4:10: error: sweep.metric: must be a number in summary.json; got \"goodput.steping\"\n"
        "  hint: did you mean 'goodput.stepping'?\n");
  CHECK(said_of("", {"--until-ci", "0.3", "--metric", "goodput"}) ==
        "--metric: error: must be a number in summary.json; got \"goodput\"\n  hint: did you mean 'goodput.time'?\n");
  CHECK_THAT(said_of("", {"--metric", "seed"}), Catch::Matchers::StartsWith("--metric: error: must be a number"));
}

// Each value is legal alone, the two are not. The arm that is left out could have no two learners at all.
TEST_CASE("sweep mistakes: a combination that the scenario refuses", "[cli][sweep]") {
  CHECK(said_of("arms = [\"decoupled\"]\n" + axis("key = \"training.learners\"\nvalues = [2, 8]") +
                axis("key = \"training.quorum\"\nvalues = [1, 5]")) ==
        "bad.toml:8:1: error: sweep.axis[1]: with training.learners=2, training.quorum=5: training.quorum: must "
        "not exceed the number of learners (2); got 5\n");
}

TEST_CASE("sweep mistakes: arms, seeds and the file", "[cli][sweep]") {
  CHECK(said_of("arms = [\"elastics\"]\n") ==
        "bad.toml:4:8: error: sweep.arms: no arm is named \"elastics\"\n  hint: did you mean 'elastic'?\n");
  CHECK(said_of("reference = \"elastic\"\narms = [\"decoupled\"]\n") ==
        "bad.toml:4:13: error: sweep.reference: must be one of the sweep's arms; got \"elastic\"\n");
  CHECK(said_of("seeds = \"10..1\"\n") ==
        "bad.toml:4:9: error: sweep.seeds: must be FIRST..LAST, whole numbers, rising; got \"10..1\"\n");
  CHECK(said_of("axes = 3\n") == "bad.toml:4:1: error: sweep.axes: unknown key\n  hint: did you mean 'axis'?\n");
  const Place place;
  place.write("plain.toml", goodput_scenario());
  const Outcome plain = atoll({"sweep", "plain.toml"}, place.root);
  CHECK(plain.exit_code == 2);
  CHECK(plain.err == "plain.toml: error: sweep: is missing\n"
                     "  hint: write [sweep] and [[sweep.axis]], or use atoll run or atoll compare\n");
  place.write("lost.toml", "format = 1\nbase = \"none.toml\"\n[sweep]\n");
  const Outcome lost = atoll({"sweep", "lost.toml"}, place.root);
  CHECK(lost.exit_code == 3);
  CHECK(lost.err == "lost.toml:2:8: error: base: cannot be read; got \"none.toml\"\n"
                    "  hint: it is looked for beside the sweep\n");
}

TEST_CASE("sweep mistakes: absurd sizes ask for --yes", "[cli][sweep]") {
  const std::string three = axis("key = \"training.upscale\"\nfrom = \"1 s\"\nto = \"99 s\"\ncount = 1000") +
                            axis("key = \"training.downscale\"\nfrom = \"1 s\"\nto = \"99 s\"\ncount = 1000");
  CHECK(said_of("seeds = \"1..10\"\n" + three) ==
        "bad.toml:3:1: error: sweep: has 20000000 runs, more than 10 million\n"
        "  hint: --dry-run says what that costs, --yes does it\n");
  // Said before ten million values are made, which would take gigabytes; until_ci begins with ten seeds.
  const std::string cube = "combine = \"latin-hypercube\"\nsamples = 10000000\nseeds = \"1..2\"\nuntil_ci = 1\n" +
                           axis("key = \"training.upscale\"\nfrom = \"1 s\"\nto = \"99 s\"");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{}, {"--dry-run"}}) {
    CHECK(said_of(cube, words) == "bad.toml:3:1: error: sweep: has 200000000 runs, more than 10 million\n"
                                  "  hint: shorten the axes; --yes does it all the same\n");
  }
}

TEST_CASE("sweep: --yes does what is absurdly large", "[cli][sweep]") {
  const Place place;
  place.write("base.toml", goodput_scenario());
  place.write("large.toml", "format = 1\nbase = \"base.toml\"\n[sweep]\n" +
                                axis("key = \"training.upscale\"\nfrom = \"1 s\"\nto = \"99 s\"\ncount = 1000") +
                                axis("key = \"training.downscale\"\nfrom = \"1 s\"\nto = \"99 s\"\ncount = 1000"));
  const std::vector<std::string> one_point = {"sweep", "large.toml", "--shard", "1/1000000"};
  CHECK(atoll(one_point, place.root).exit_code == 2);
  std::vector<std::string> sure = one_point;
  sure.emplace_back("--yes");
  const Outcome got = atoll(sure, place.root);
  CHECK(got.exit_code == 0);
  CHECK_THAT(got.out, Catch::Matchers::StartsWith("20 runs, 0 failed\n"));
}

TEST_CASE("sweep mistakes: shards", "[cli][sweep]") {
  CHECK(said_of("", {"--shard", "9/8"}) ==
        "error: --shard: must be from 1/8 to 8/8; got 9/8\n  hint: atoll sweep --help\n");
  CHECK(said_of("", {"--shard", "0/8"}) ==
        "error: --shard: must be from 1/8 to 8/8; got 0/8\n  hint: atoll sweep --help\n");
  CHECK(said_of("", {"--shard", "two"}) ==
        "error: --shard: must be NUMBER/COUNT, such as 2/8; got two\n  hint: atoll sweep --help\n");
}

}  // namespace
}  // namespace tests_cli
