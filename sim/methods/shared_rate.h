// sim/methods/shared_rate.h: one rate that all who pass at once share in equal parts, such as a NIC's.
//
// Processor sharing: of k that pass, each gets a k-th of the rate. A passage goes on beside whatever else
// its bytes do (a flow over a link): begin() at the start, then co_await through().
#pragma once

#include <map>

#include "sim/engine/conductor.h"
#include "sim/engine/process.h"

namespace sim::methods {

class SharedRate {
 public:
  // Requires: a rate above 0.
  SharedRate(engine::Conductor& conductor, double bytes_per_s)
      : conductor_(conductor), bytes_per_s_(bytes_per_s), changed_(conductor) {}

  using Passage = std::uint64_t;
  Passage begin(double bytes);
  // Done when all its bytes have passed; at once when they have already, or it was dropped.
  engine::Task<> through(Passage passage, engine::Turn turn);
  // It will not go on.
  void drop(Passage passage);

 private:
  void advance();
  double least() const;  // of what is left of each; requires some

  engine::Conductor& conductor_;
  double bytes_per_s_;
  engine::Signal changed_;             // how many share
  std::map<Passage, double> left_;     // bytes, by order of beginning
  base::Nanoseconds at_ = 0;           // to which `left_` is true
  Passage next_ = 0;
};

}  // namespace sim::methods
