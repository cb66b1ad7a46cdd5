// sim/experiment/stopwatch.h: wall time, for progress lines and how often to sync; never for a result.
#pragma once

#include <cstdint>

namespace sim::experiment {

class Stopwatch {
 public:
  Stopwatch();
  double seconds() const;  // since it was made or last restarted
  void restart();

 private:
  std::int64_t start_ns_;
};

}  // namespace sim::experiment
