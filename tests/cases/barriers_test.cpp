// tests/cases/barriers_test.cpp: learners that meet at barriers under one rule for faults.
#include <catch2/catch.hpp>

#include "tests/cases/case_run.h"

namespace tests_cases {

TEST_CASE("cases: one learner whose region has no link ends with a result", "[cases]") {
  const auto summary = run_case("crash-division");
  CHECK(summary["tokens"].get<double>() >= 1);
}

}  // namespace tests_cases
