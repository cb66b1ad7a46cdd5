// sim/experiment/ticker.h: a pause of fixed length that a signal ends early.
#pragma once

#include "sim/experiment/interruption.h"

namespace sim::experiment {

class Ticker {
 public:
  // Requires: every_s above 0.
  // Errors: std::system_error when there is no timer to be had.
  explicit Ticker(double every_s);
  Ticker(const Ticker&) = delete;
  ~Ticker();

  // Until the next tick or a signal.
  void wait(InterruptionWatch& watch);

 private:
  int descriptor_;
};

}  // namespace sim::experiment
