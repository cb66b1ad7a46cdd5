// tests/scenario/fault_file_test.cpp: the concrete faults of an earlier run are read back.
//
// Teeth: seen failing with columns found by place in place of by name.
#include <catch2/catch.hpp>

#include "sim/base/diagnostic.h"
#include "sim/scenario/fault_file.h"

using namespace sim;

TEST_CASE("fault file: columns go by name, an empty duration is for good") {
  base::Problems problems;
  const auto faults = scenario::parse_faults(
      "source,at_s,kind,target_kind,target,for_s,rate_factor\n"
      "random,7200.000000001,kill,region,us-west,1200.000000000,\n"
      "scripted,1.5,rate-cut,link,a--b,,0.25\n",
      "faults.csv", problems);
  CHECK(base::format(problems.list()).empty());
  REQUIRE(faults.size() == 2);
  CHECK(faults[0].at == 7'200'000'000'001);
  CHECK(faults[0].target_kind == tape::TargetKind::kRegion);
  CHECK(faults[0].target == "us-west");
  CHECK(faults[0].lasts == 20 * base::kMinute);
  CHECK_FALSE(faults[0].scripted);
  CHECK(faults[1].kind == tape::FaultKind::kRateCut);
  CHECK(faults[1].lasts == base::kNever);
  CHECK(faults[1].rate_factor == 0.25);
}

TEST_CASE("fault file: a missing column and a wrong cell have a place") {
  base::Problems problems;
  scenario::parse_faults("at_s,kind,target\n", "f.csv", problems);
  scenario::parse_faults("at_s,kind,target_kind,target\n-1,kill,region,west\n", "f.csv", problems);
  CHECK(base::format(problems.list()) ==
        "f.csv:1:1: error: has no column target_kind\n"
        "  hint: columns are at_s kind target_kind target for_s rate_factor\n"
        "f.csv:2:1: error: at_s: must be a number from 0 to 7776000; got \"-1\"\n");
}
