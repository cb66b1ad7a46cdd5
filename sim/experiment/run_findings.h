// sim/experiment/run_findings.h: what has to be said of a run that no column of figures says.
//
// A run that diverged, a learner or fragment that is in no merge again although everything healed, a
// scripted fault that the arm never met: each is a warning, told by every verb that prints a table. A recovery
// that took longer than H steps is a note there. The facts stand in summary.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/experiment/experiment.h"

namespace sim::experiment {

// "diverged at 210 s, step 210"; none where every loss was a number.
std::optional<std::string> divergence_in(const nlohmann::ordered_json& summary);

// "learner west/0 is in no merge since 320 s, longer than faults explain: waits for shard r1", one for each entry of `liveness`.
std::vector<std::string> standstills_in(const nlohmann::ordered_json& summary);

// What nobody may overlook, of all runs: divergence, standstills, faults never met; by arm, the gravest kind
// first: "ARM: FINDING (seed 1)", "ARM: FINDING (seeds 1, 2)".
std::vector<std::string> findings_of(const scenario::Scenario& scenario,
                                     const std::vector<FinishedRun>& runs);

// Where states took longer than H steps on their links: one line for an arm, how many and the longest.
std::vector<std::string> long_recoveries_of(const scenario::Scenario& scenario,
                                            const std::vector<FinishedRun>& runs);

}  // namespace sim::experiment
