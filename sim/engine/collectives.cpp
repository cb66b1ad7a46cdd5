// sim/engine/collectives.cpp: see collectives.h.
#include "sim/engine/collectives.h"

namespace sim::engine {

base::Nanoseconds local_all_reduce(const RegionOptions& region, std::size_t members,
                                   std::int64_t payload_bytes) {
  if (members < 2) return 0;
  const auto count = static_cast<double>(members);
  const double seconds =
      2.0 * (count - 1.0) / count * static_cast<double>(payload_bytes) / region.fabric_bytes_per_s;
  return base::from_seconds(seconds) +
         2 * static_cast<base::Nanoseconds>(members - 1) * region.fabric_latency;
}

}  // namespace sim::engine
