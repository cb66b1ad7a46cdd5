// sim/experiment/stopwatch.cpp: the one place of the program that looks at a clock (tests/tidy).
#include "sim/experiment/stopwatch.h"

#include <chrono>

namespace sim::experiment {
namespace {

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

Stopwatch::Stopwatch() : start_ns_(now_ns()) {}
double Stopwatch::seconds() const { return static_cast<double>(now_ns() - start_ns_) / 1e9; }
void Stopwatch::restart() { start_ns_ = now_ns(); }

}  // namespace sim::experiment
