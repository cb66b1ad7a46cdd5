// tests/scenario/identity_test.cpp: what a scenario expects of its runs is no part of which one it is.
//
// Teeth:  seen failing with the hash taken over the whole resolved text, and with the text cut at the
//         first word "expect" instead of at the section.
#include <catch2/catch.hpp>

#include <string>

#include "sim/base/diagnostic.h"
#include "sim/scenario/load.h"

using namespace sim;

namespace {

scenario::Scenario minimal(const std::vector<std::string>& sets) {
  auto result =
      scenario::load_file(std::string(ATOLL_SOURCE_DIR) + "/scenarios/minimal.toml", sets);
  INFO(base::format(result.diagnostics));
  REQUIRE(result.scenario);
  return *result.scenario;
}

}  // namespace

TEST_CASE("identity: another expectation, or none, leaves hash and identity alone") {
  const auto none = minimal({"expect={}"});
  const auto low = minimal({"expect={\"decoupled-diloco.uptime.min\"=0.25}"});
  const auto high = minimal({"expect={\"decoupled-diloco.uptime.min\"=0.75}"});
  CHECK(scenario::resolved_text(low) != scenario::resolved_text(high));
  CHECK(scenario::scenario_hash(low) == scenario::scenario_hash(high));
  CHECK(scenario::scenario_hash(low) == scenario::scenario_hash(none));
  CHECK(scenario::identity_in(scenario::resolved_text(low)) == scenario::resolved_text(none));
}

TEST_CASE("identity: everything else is part of it, also a name that looks like the section") {
  const auto one = minimal({"name=\"[expect] one\""}), two = minimal({"name=\"[expect] two\""});
  CHECK(scenario::scenario_hash(one) != scenario::scenario_hash(two));
  CHECK(scenario::scenario_hash(one) != scenario::scenario_hash(minimal({"training.quorum=2"})));
}
