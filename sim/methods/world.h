// sim/methods/world.h: what a method is given to live in.
#pragma once

#include <cstdint>

#include "sim/engine/conductor.h"
#include "sim/engine/transport.h"
#include "sim/methods/fleet.h"
#include "sim/tape/tape.h"

namespace sim::methods {

// How far a stretch of homogeneous steps may run before somebody wants to look: the next evaluation
// or token mark.
class Horizon {
 public:
  virtual ~Horizon() = default;
  // At least 1.
  virtual std::uint32_t steps_until_due(std::uint64_t tokens_per_step) const = 0;
};

struct World {
  engine::Conductor& conductor;
  engine::Transport& transport;
  tape::Tape& tape;
  const Fleet& fleet;
  const NominalModelOptions& model;
  const engine::NetworkOptions& network;
  const TrainingOptions& training;
  const Horizon& horizon;
  std::uint64_t seed;
  double step_sd;         // of the natural log of each step's time
  // Fragments are simulated. Not in a goodput-only run (no network, no mathematics): then every
  // step's tokens count at once. Always so where learners meet at barriers: who waits for whom is
  // part of their goodput.
  bool with_merges;

  const tape::RunShape& shape() const { return fleet.shape; }
  template <class Payload>
  void say(const Payload& payload) {
    tape.append(tape::Fact(conductor.now(), payload));
  }
};

}  // namespace sim::methods
