// sim/experiment/expectations.h: what a scenario says must hold, against what was seen.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/experiment/experiment.h"

namespace sim::experiment {

struct Verdict {
  std::string key;     // "decoupled-diloco.goodput.stepping.min"
  std::string wanted;  // "at least 0.85"
  std::string got;     // the worst seed's figure
  bool met;
  int line, column;    // of the scenario file; 0: none
};

// Every seed has to meet every expectation on its arm; expectations on arms that did not run are
// left out (see unchecked). In a scenario that expects something, a scripted fault that a run never
// met is one more expectation, unmet: a test whose fault did not strike has tested nothing. So is
// everybody who is in no merge again within the bound although all has healed. (A recovery of more than H
// steps is within it where the state takes that long on its links: it is told, and can be expected by its
// number.) A property that was violated is unmet in every scenario.
std::vector<Verdict> judge(const scenario::Scenario& scenario,
                           const std::vector<FinishedRun>& runs);

// One line per expectation on an arm that did not run: "not checked: KEY: arm NAME was not run".
std::vector<std::string> unchecked(const scenario::Scenario& scenario,
                                   const std::vector<FinishedRun>& runs);

bool all_met(const std::vector<Verdict>& verdicts);

// A line per verdict, for the end of a table.
std::string as_text(const std::vector<Verdict>& verdicts);

}  // namespace sim::experiment
