// sim/scenario/expectation.h: [expect]: what makes a scenario a test.
#pragma once

#include <vector>

#include "sim/base/schema.h"
#include "sim/scenario/scenario.h"

namespace sim::scenario {

// Keys are ARM.FIELD.min or ARM.FIELD.max, FIELD a dotted path into summary.json. The arms of
// `scenario` must be bound.
std::vector<Expectation> bind_expectations(const base::Value& root, const Scenario& scenario,
                                           base::Problems& problems);

// "decoupled-diloco.goodput.stepping.min".
std::string expectation_key(const Expectation& expectation);

}  // namespace sim::scenario
