// tests/cli/newcomer_test.cpp: what the program says to somebody who uses it for the first time.
//
// Teeth:  seen failing with the exit code 0 where no expectation was checked, with the check of the
//         verb left out, with the whole schema printed for one section, with recorded faults called no
//         failures, with the whole scenario.toml compared, and without validate's warnings.
#include <catch2/catch.hpp>

#include "tests/cli/run_command.h"
#include "tests/cli/small_scenario.h"

namespace tests_cli {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("newcomer: run says which expectations it did not check", "[cli]") {
  const Place place;
  place.write("small.toml", expecting("\"data-parallel.uptime.min\" = 0\n"
                                      "\"decoupled-diloco.uptime.min\" = 0"));
  const Outcome got = atoll({"run", "small.toml"}, place.root);
  CHECK(got.exit_code == 0);
  CHECK(got.err == "not checked: data-parallel.uptime.min: arm data-parallel was not run\n");
}

TEST_CASE("newcomer: a run that could check nothing does not pass", "[cli]") {
  const Place place;
  place.write("small.toml", expecting("\"data-parallel.uptime.min\" = 0"));
  const Outcome got = atoll({"run", "small.toml"}, place.root);
  CHECK(got.exit_code == 1);
  CHECK(got.err ==
        "not checked: data-parallel.uptime.min: arm data-parallel was not run\n"
        "small.toml: error: expect: nothing could be checked\n"
        "  hint: run an arm that it names, or atoll compare for all arms\n");
  CHECK(atoll({"compare", "small.toml"}, place.root).exit_code == 0);
}

TEST_CASE("newcomer: results stay one's own when only [expect] changed", "[cli]") {
  const Place place;
  place.write("small.toml", small_scenario());
  REQUIRE(atoll({"run", "small.toml"}, place.root).exit_code == 0);
  const fs::path summary = place.root / "results/small/decoupled-diloco/seed-7/summary.json";
  const std::string before = text_of(summary);
  place.write("small.toml", expecting("\"decoupled-diloco.uptime.min\" = 0"));
  CHECK(atoll({"run", "small.toml"}, place.root).exit_code == 0);
  CHECK(text_of(summary) == before);
}

TEST_CASE("newcomer: a misspelt verb is named and guessed", "[cli]") {
  const Place place;
  const Outcome near = atoll({"compar", "small.toml"}, place.root);
  CHECK(near.exit_code == 2);
  CHECK(near.err == "error: no verb is named 'compar'\n  hint: did you mean 'compare'?\n");
  CHECK(atoll({"dance"}, place.root).err ==
        "error: no verb is named 'dance'\n"
         "  hint: verbs are run compare replay validate sweep merge baseline check schema catalogue\n");
}

TEST_CASE("newcomer: the schema of one section is that section alone", "[cli]") {
  const Place place;
  const Outcome all = atoll({"schema"}, place.root);
  const Outcome one = atoll({"schema", "training"}, place.root);
  CHECK(one.exit_code == 0);
  CHECK_THAT(one.out, StartsWith("[training]: "));
  CHECK_THAT(one.out, Contains("sync_every") && !Contains("mtbi") && !Contains("[["));
  CHECK_THAT(all.out, Contains("\n" + one.out));
  const Outcome wrong = atoll({"schema", "trainin"}, place.root);
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err ==
        "error: no section of a scenario is named 'trainin'\n  hint: did you mean 'training'?\n");
}

TEST_CASE("newcomer: replayed faults are named beside goodput", "[cli]") {
  const Place place;
  place.write("small.toml", small_scenario());
  place.write("faults.csv",
              "at_s,kind,target_kind,target,for_s,rate_factor\n60,kill,island,w,30,\n");
  const Outcome got = atoll({"run", "small.toml", "--faults", "faults.csv"}, place.root);
  CHECK(got.exit_code == 0);
  CHECK_THAT(got.out, Contains("Goodput up to 10 min, recorded faults") && !Contains("no failures"));
}

TEST_CASE("newcomer: validate warns of few steps on stderr and passes", "[cli]") {
  const Place place;
  place.write("small.toml", small_scenario());
  CHECK(atoll({"validate", "small.toml"}, place.root).err.empty());
  // 1 s a step and the millisecond that its slices' all-reduce leaves exposed, 99 s.
  const Outcome got =
      atoll({"validate", "small.toml", "--set", "marks.time=99 s"}, place.root);
  CHECK(got.exit_code == 0);
  CHECK_THAT(got.err, StartsWith("small.toml: warning: marks.time: arm \"decoupled-diloco\" needs "
                                 "1 s for a step: about 98 steps only; got \"99 s\"\n"));
}

}  // namespace
}  // namespace tests_cli
