// tests/cli/exit_codes_test.cpp: every exit code, and that its reason is on stderr.
//
// Teeth:  seen failing with the codes of a missing file and of a wrong scenario swapped, with no
//         expectation judged, with a bug's command left without its --set or without quotes, with
//         folders of several runs given up from the first to the last, with SIGPIPE at its default,
//         and with a closed pipe treated like a full disk.
#include <catch2/catch.hpp>

#include "tests/cli/run_command.h"
#include "tests/cli/small_scenario.h"

namespace tests_cli {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

TEST_CASE("exit code 0: a run prints its table on stdout and nothing on stderr", "[cli]") {
  const Place place;
  place.write("small.toml", small_scenario());
  const Outcome got = atoll({"run", "small.toml"}, place.root);
  CHECK(got.err == "");
  CHECK(got.exit_code == 0);
  CHECK_THAT(got.out, StartsWith("Small\nseed 7; arm: decoupled-diloco\n"));
  CHECK_THAT(got.out, Contains("Goodput up to 10 min, wall clock"));
  CHECK(fs::exists(place.root / "results/small/decoupled-diloco/seed-7/summary.json"));
  CHECK(fs::exists(place.root / "results/small/decoupled-diloco/seed-7/scenario.toml"));
}

TEST_CASE("exit code 0: help and version", "[cli]") {
  const Place place;
  CHECK(atoll({"--help"}, place.root).exit_code == 0);
  CHECK(atoll({"run", "--help"}, place.root).exit_code == 0);
  const Outcome version = atoll({"--version"}, place.root);
  CHECK(version.exit_code == 0);
  CHECK_THAT(version.out, StartsWith("atoll 0."));
  for (const char* line : {"\ncommit ", "\ninstruction set x86-64-v", "\nSimGrid 3."}) {
    CHECK_THAT(version.out, Contains(line));
  }
}

TEST_CASE("exit code 0: schema, catalogue and validate print to stdout", "[cli]") {
  const Place place;
  place.write("small.toml", small_scenario());
  CHECK_THAT(atoll({"schema"}, place.root).out, Contains("sync_every"));
  CHECK_THAT(atoll({"catalogue"}, place.root).out, Contains("tpu"));
  const Outcome validated = atoll({"validate", "small.toml"}, place.root);
  CHECK(validated.exit_code == 0);
  CHECK_THAT(validated.out, Contains("decoupled-diloco"));
  CHECK_FALSE(fs::exists(place.root / "results"));
}

TEST_CASE("exit code 1: an unmet expectation says key, wanted and got", "[cli]") {
  const Place place;
  place.write("small.toml", expecting("\"decoupled-diloco.goodput.stepping.min\" = 1.01"));
  const Outcome got = atoll({"run", "small.toml"}, place.root);
  CHECK(got.exit_code == 1);
  CHECK_THAT(got.err, StartsWith("small.toml:"));
  CHECK_THAT(got.err, Contains("error: expect.decoupled-diloco.goodput.stepping.min: wanted at "
                               "least 1.01; got 0."));
  CHECK_THAT(got.out, Contains("UNMET decoupled-diloco.goodput.stepping.min"));
}

TEST_CASE("exit code 1: a scripted fault that never came is unmet", "[cli]") {
  const Place place;
  const std::string fault =
      "\n[[fault]]\nat = \"20 min\"\nkind = \"kill\"\ntarget = \"island:w\"\nfor = \"1 min\"\n";
  place.write("small.toml",
              small_scenario() + fault + "\n[expect]\n\"data-parallel.uptime.min\" = 0\n");
  const Outcome got = atoll({"compare", "small.toml"}, place.root);  // the time mark is 10 min
  CHECK(got.exit_code == 1);
  CHECK_THAT(got.err, Contains("data-parallel.faults_met_scripted, seed 7: wanted all 1 scripted "
                               "faults; got 0"));
}

TEST_CASE("exit code 0: met expectations are listed", "[cli]") {
  const Place place;
  place.write("small.toml", expecting("\"decoupled-diloco.goodput.stepping.min\" = 0.1"));
  const Outcome got = atoll({"run", "small.toml", "--seeds", "1..2"}, place.root);
  CHECK(got.exit_code == 0);
  CHECK_THAT(got.out, Contains("met   decoupled-diloco.goodput.stepping.min: wanted at least 0.1"));
}

TEST_CASE("exit code 2: a wrong scenario says where", "[cli]") {
  const Place place;
  place.write("small.toml", small_scenario() + "\n[expcet]\n");
  const Outcome got = atoll({"run", "small.toml"}, place.root);
  CHECK(got.exit_code == 2);
  CHECK(got.out.empty());
  CHECK_THAT(got.err, StartsWith("small.toml:"));
  CHECK_FALSE(fs::exists(place.root / "results"));
}

TEST_CASE("exit code 2: wrong usage names the rule", "[cli]") {
  const Place place;
  place.write("small.toml", small_scenario());
  const auto message = [&](std::vector<std::string> words) {
    const Outcome got = atoll(std::move(words), place.root);
    CHECK(got.exit_code == 2);
    CHECK(got.out.empty());
    return got.err;
  };
  CHECK_THAT(message({}), StartsWith("error: "));
  CHECK_THAT(message({"dance"}), StartsWith("error: "));
  CHECK_THAT(message({"run"}), Contains("file"));
  CHECK_THAT(message({"run", "small.toml", "--seeds", "3..1"}),
             Contains("must not end before its start; got 3..1"));
  CHECK_THAT(message({"run", "small.toml", "--seeds", "1..x"}),
             Contains("must be FIRST..LAST, whole numbers; got 1..x"));
  CHECK_THAT(message({"run", "small.toml", "--seed", "1", "--seeds", "1..2"}), Contains("--seed"));
  CHECK_THAT(message({"run", "small.toml", "--format", "xml"}), Contains("markdown"));
  CHECK_THAT(message({"run", "small.toml", "--jobs", "0"}), Contains("--jobs"));
  CHECK_THAT(message({"run", "small.toml", "--arm", "data-paralel"}),
             Contains("did you mean 'data-parallel'?"));
  CHECK_THAT(message({"run", "small.toml", "--set", "training.quorum=99"}), Contains("quorum"));
}

TEST_CASE("exit code 2: results of another scenario are refused and stay", "[cli]") {
  const Place place;
  place.write("small.toml", small_scenario());
  const std::string folder = "results/small/decoupled-diloco/seed-7";
  REQUIRE(atoll({"run", "small.toml"}, place.root).exit_code == 0);
  const std::string before = text_of(place.root / folder / "summary.json");
  const std::vector<std::string> other = {"run", "small.toml", "--set", "training.sync_every=12"};
  const Outcome got = atoll(other, place.root);
  CHECK(got.exit_code == 2);
  CHECK_THAT(got.err, StartsWith("results/small: error: holds another scenario's results: "
                                  "decoupled-diloco/seed-7\n"));
  CHECK(text_of(place.root / folder / "summary.json") == before);
  std::vector<std::string> forced = other;
  forced.push_back("--force");
  CHECK(atoll(forced, place.root).exit_code == 0);
  CHECK(text_of(place.root / folder / "summary.json") != before);
}

TEST_CASE("exit code 3: a missing file is named", "[cli]") {
  const Place place;
  place.write("small.toml", small_scenario());
  const Outcome scenario = atoll({"run", "nowhere.toml"}, place.root);
  CHECK(scenario.exit_code == 3);
  CHECK_THAT(scenario.err, StartsWith("nowhere.toml: error: "));
  const Outcome faults = atoll({"run", "small.toml", "--faults", "none.csv"}, place.root);
  CHECK(faults.exit_code == 3);
  CHECK_THAT(faults.err, StartsWith("none.csv: error: cannot be read: No such file"));
}

TEST_CASE("exit code 3: results below a regular file", "[cli]") {
  const Place place;
  place.write("small.toml", small_scenario());
  place.write("results", "not a folder");
  const Outcome got = atoll({"run", "small.toml"}, place.root);
  CHECK(got.exit_code == 3);
  CHECK(got.out.empty());
  CHECK_THAT(got.err, Contains("results/small/decoupled-diloco/seed-7: error: cannot be written: "
                               "Not a directory"));
  CHECK(text_of(place.root / "results") == "not a folder");
}

TEST_CASE("exit code 3: stdout on a full disk", "[cli]") {
  const Place place;
  const Outcome got = shell("atoll schema > /dev/full", place.root);
  CHECK(got.exit_code == 3);
  CHECK_THAT(got.err, Contains("No space left on device"));
}

TEST_CASE("exit code 70: a crash prints the command that repeats it, and leaves no files", "[cli]") {
  const Place place;
  place.write("a b.toml", small_scenario());
  const Outcome got = atoll({"compare", "a b.toml", "--set", "training.sync_every=12", "--seeds",
                             "3..4", "--abort-at", "60"},
                            place.root);
  CHECK(got.exit_code == 70);
  CHECK(got.out.empty());
  CHECK_THAT(got.err, Contains("bug: the run was ended by signal 6 (Aborted)"));
  for (const char* line : {"scenario: Small", "seed: ", "version: 0.", "arm: "}) {
    CHECK_THAT(got.err, Contains(line));
  }
  CHECK_FALSE(fs::exists(place.root / "results"));

  const std::string lead = "repeat with: ";
  const std::string command = got.err.substr(got.err.find(lead) + lead.size());
  CHECK_THAT(command, StartsWith("atoll run 'a b.toml' --arm "));
  CHECK_THAT(command, Contains("--set training.sync_every=12"));
  const Outcome again = shell(command, place.root);
  CHECK(again.exit_code == 70);
  CHECK_THAT(again.err, Contains("signal 6"));
}

TEST_CASE("a closed stdout ends quietly", "[cli]") {
  const Place place;
  place.write("small.toml", small_scenario());
  // The reader is gone before the first byte is written.
  const Outcome pipe = shell("{ sleep 0.2; atoll schema; echo $? >code; } | true", place.root);
  CHECK(text_of(place.root / "code") == "0\n");
  CHECK(pipe.err.empty());
  const Outcome closed = shell("atoll run small.toml >&-", place.root);
  CHECK(closed.exit_code == 0);
  CHECK(closed.err.empty());
}

}  // namespace
}  // namespace tests_cli
