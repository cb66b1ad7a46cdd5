// sim/methods/shared_rate.cpp: see shared_rate.h.
#include "sim/methods/shared_rate.h"

#include <algorithm>

namespace sim::methods {

namespace {

constexpr double kNothing = 0.5;  // bytes: what rounding to nanoseconds leaves is no byte

}  // namespace

// From one end to the next, since each end leaves a larger part to those that go on.
void SharedRate::advance() {
  double seconds = base::to_seconds(conductor_.now() - at_);
  at_ = conductor_.now();
  while (seconds > 0 && !left_.empty()) {
    const auto sharers = static_cast<double>(left_.size());
    const double passed = std::min(least(), bytes_per_s_ * seconds / sharers);
    seconds -= passed * sharers / bytes_per_s_;
    for (auto& [passage, bytes] : left_) bytes -= passed;
    std::erase_if(left_, [](const auto& entry) { return entry.second < kNothing; });
    if (passed <= 0) break;
  }
}

double SharedRate::least() const {
  double bytes = left_.begin()->second;
  for (const auto& [passage, left] : left_) bytes = std::min(bytes, left);
  return bytes;
}

SharedRate::Passage SharedRate::begin(double bytes) {
  advance();
  left_.emplace(next_, bytes);
  changed_.notify();
  return next_++;
}

engine::Task<> SharedRate::through(Passage passage, engine::Turn turn) {
  for (;;) {
    advance();
    const auto found = left_.find(passage);
    if (found == left_.end()) co_return;
    const double seconds = least() * static_cast<double>(left_.size()) / bytes_per_s_;
    const base::Nanoseconds until =
        conductor_.now() + std::max<base::Nanoseconds>(1, base::from_seconds(seconds));
    co_await changed_.wait_until(until, turn);
  }
}

void SharedRate::drop(Passage passage) {
  advance();
  left_.erase(passage);
  changed_.notify();
}

}  // namespace sim::methods
