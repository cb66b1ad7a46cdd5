// tests/cases/livelock_test.cpp: a shard that comes back is in merges again.
#include <catch2/catch.hpp>

#include "tests/cases/case_run.h"

namespace tests_cases {

TEST_CASE("cases: the scenarios of this folder are read", "[cases]") {
  CHECK(load_case("livelock").scenario.has_value());
}

}  // namespace tests_cases
