// sim/experiment/comparison_format.h: a comparison for machines; comparison_table.h is for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/experiment/comparison.h"
#include "sim/experiment/expectations.h"

namespace sim::experiment {

// One line per figure and arm, unrounded; empty: not reached or does not apply; a median of seeds of
// which half or more did not reach it is "inf". Texts with a comma or a quote stand in quotes.
std::string as_csv(const Comparison& comparison);

// The figures, the verdicts and every run's summary. `unchecked`: see expectations.h.
std::string as_json(const Comparison& comparison, const std::vector<Verdict>& verdicts,
                    const std::vector<std::string>& unchecked,
                    const std::vector<FinishedRun>& runs);

}  // namespace sim::experiment
