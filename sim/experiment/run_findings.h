// sim/experiment/run_findings.h: what has to be said of a run that no column of figures says.
//
// A run that diverged, a learner or fragment that is in no merge again although everything healed, a
// recovery that took longer than H steps, a scripted fault that the arm never met: each is a line for a
// person, told by every verb that prints a table. The facts stand in summary.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/experiment/experiment.h"

namespace sim::experiment {

// "diverged at 210 s, step 210"; none where every loss was a number.
std::optional<std::string> divergence_in(const nlohmann::ordered_json& summary);

// "west/0 is in no merge since 320 s although nothing fails: waits for shard r1", one for each entry of `liveness`.
std::vector<std::string> standstills_in(const nlohmann::ordered_json& summary);

// "2 recoveries took longer than H = 24 steps; the longest 295.0"; none where none did.
std::optional<std::string> long_recoveries_in(const nlohmann::ordered_json& summary);

// All findings of one run, the gravest kind first.
std::vector<std::string> findings_in(const nlohmann::ordered_json& summary);

// Those of all runs, by arm and finding: "ARM: FINDING (seed 1)", "ARM: FINDING (seeds 1, 2)". What differs
// between seeds in its numbers alone stands once for each.
std::vector<std::string> findings_of(const scenario::Scenario& scenario,
                                     const std::vector<FinishedRun>& runs);

}  // namespace sim::experiment
