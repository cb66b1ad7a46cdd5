// sim/cli/replay_settings.h: which settings of a recorded run a replay may change.
#pragma once

#include <string>
#include <vector>

#include "sim/base/schema.h"

namespace sim::cli {

// Each as load_file takes it, "inner.learning_rate=1e-3" as "training.inner.learning_rate=1e-3". What
// the tape has fixed adds a problem with a hint.
std::vector<std::string> replay_settings(const std::vector<std::string>& sets,
                                         base::Problems& problems);

}  // namespace sim::cli
