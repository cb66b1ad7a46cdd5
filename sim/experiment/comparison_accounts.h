// sim/experiment/comparison_accounts.h: where tokens that no merge has went, and why, as measures.
//
// Which accounts and reasons there are stands in the summaries; a new one is printed without being named
// here. What is 0 in every run explains nothing and is left out.
#pragma once

#include <vector>

#include "sim/experiment/comparison_measures.h"
#include "sim/experiment/experiment.h"

namespace sim::experiment {

// The token account of the whole run (law 5: its lines sum to `processed`), then every counter of `syncs`
// that explains a token missing from the global model.
std::vector<Measure> account_measures(const std::vector<FinishedRun>& runs);

}  // namespace sim::experiment
