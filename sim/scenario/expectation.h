// sim/scenario/expectation.h: [expect]: what makes a scenario a test.
#pragma once

#include <vector>

#include "sim/base/schema.h"
#include "sim/scenario/scenario.h"

namespace sim::scenario {

// Keys are ARM.FIELD.min or ARM.FIELD.max, FIELD a dotted path to a number in summary.json; sorted
// by position. The arms of `scenario` must be bound.
//
// Errors: an arm that the scenario does not have, a field that no summary has, a bound that is no
//         finite number.
std::vector<Expectation> bind_expectations(const base::Value& root, const Scenario& scenario,
                                           base::Problems& problems);

// Whether summary.json can have a number of a run at this dotted path, and what to write instead.
bool is_summary_number(const std::string& field);
std::string summary_number_hint(const std::string& field);

// "decoupled-diloco.goodput.stepping.min".
std::string expectation_key(const Expectation& expectation);

}  // namespace sim::scenario
