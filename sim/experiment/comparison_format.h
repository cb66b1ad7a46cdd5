// sim/experiment/comparison_format.h: the same figures for people and for machines.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/experiment/comparison.h"
#include "sim/experiment/expectations.h"

namespace sim::experiment {

// At most 100 columns; arms that do not fit go into further blocks.
std::string as_text(const Comparison& comparison);
std::string as_markdown(const Comparison& comparison);

// One line per figure and arm; empty: not reached or does not apply.
std::string as_csv(const Comparison& comparison);

// The figures, the verdicts and every run's summary.
std::string as_json(const Comparison& comparison, const std::vector<Verdict>& verdicts,
                    const std::vector<FinishedRun>& runs);

}  // namespace sim::experiment
