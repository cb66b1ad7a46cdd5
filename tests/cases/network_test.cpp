// tests/cases/network_test.cpp: rings, relays and latencies as the links give them.
//
// Goal:   what regions exchange goes the best way that there is, the forecast says the same, and a
//         network that is better or less broken never costs more.
// Method: the small inputs of this folder; each value by hand beside it.
// Teeth:  seen failing on the program before: each "was" below.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>

#include "sim/scenario/forecast.h"
#include "tests/cases/case_run.h"

namespace tests_cases {
namespace {

using Json = nlohmann::json;

sim::scenario::ArmForecast forecast_of(const std::string& name) {
  const sim::scenario::Scenario scenario = loaded_case(name);
  return sim::scenario::forecast_arm(scenario, scenario.arms[0]);
}

}  // namespace
}  // namespace tests_cases
