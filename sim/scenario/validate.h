// sim/scenario/validate.h: keys against each other.
#pragma once

#include "sim/base/schema.h"
#include "sim/scenario/bind.h"

namespace sim::scenario {

// Everything that one key alone cannot tell. Also fills each island's peak from the catalogue.
// In two passes: names and numbers; and only when there are no problems at all, what needs the
// whole fleet: regions that must talk, and whether the steady state fits the links.
// Whether it came to the second: then a forecast can be made, whatever else is wrong. There also
// overlap_steps = "fit" becomes a number.
bool validate(Bound& bound, base::Problems& problems);

// The two passes over one arm each.
void validate_arm(const Bound& bound, std::size_t arm_index, base::Problems& problems);
void validate_arm_on_fleet(const Bound& bound, std::size_t arm_index, base::Problems& problems);

// A model with its optimizer's state and gradients against the memory of a slice's chips.
void validate_memory(const Bound& bound, base::Problems& problems);

// [[failure]] and [[fault]] of one arm: names and targets.
void validate_faults(Bound& bound, std::size_t arm_index, base::Problems& problems);

}  // namespace sim::scenario
