// sim/base/stream_layout.h: whether the same seed still means the same draws.
#pragma once

namespace sim::base {

// Raised when a random stream gets another name or is used in another way. The gate then compares old
// runs with new ones as two samples: pairing by seed would tell nothing.
constexpr int kStreamLayout = 1;

}  // namespace sim::base
