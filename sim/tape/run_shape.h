// sim/tape/run_shape.h: what a tape's numbers mean: the names and sizes behind its indices.
//
// One per run, made before the first fact and constant afterwards. Readers take it at
// construction, so that a reader can be tested with a hand-written shape and ten facts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/time.h"

namespace sim::tape {

constexpr std::uint16_t kNoLearner = 0xffff;

struct SliceShape {
  std::string name;        // "west/2/slice-1"
  std::uint32_t island;    // index into RunShape::islands
  std::uint16_t region;    // index into RunShape::regions
  std::uint16_t learner;   // kNoLearner: unused in this arm
  std::int64_t chips;
  std::uint32_t first_slot;  // slots [first_slot, first_slot + slot_count) of the global batch
  std::uint32_t slot_count;
  std::uint64_t tokens;      // nominal tokens of those slots, per step
  // Integers, so that joules and dollars add up exactly.
  std::int64_t milliwatts = 0;          // of one chip at full work; 0: unknown
  std::int64_t nanodollars_per_h = 0;   // price of one chip for an hour; 0: not given
  // Of its own tokens, without noise. Beside slower slices of its learner it waits for the rest of the
  // step. 0 (a hand-written shape, an old tape): as the slowest.
  base::Nanoseconds step_time = 0;
};

struct LearnerShape {
  std::string name;
  std::uint16_t region;                // of its first slice
  std::vector<std::uint32_t> slices;   // global slice indices, ascending
  std::int64_t chips;
};

struct LinkShape {
  std::uint16_t region_a, region_b;  // a < b; both directions exist
  double bytes_per_s;                // per direction, nominal
  base::Nanoseconds one_way;         // propagation delay
  double dollars_per_gb = 0;         // egress, either direction
};

struct RunShape {
  std::vector<std::string> regions;
  std::vector<std::string> islands;
  std::vector<LinkShape> links;
  std::vector<SliceShape> slices;
  std::vector<LearnerShape> learners;
  std::vector<std::int64_t> fragment_parameters;  // nominal parameters in each fragment, (P)
  std::int64_t chips = 0;                         // of the whole fleet, unused slices included
  std::uint32_t slots = 0;                        // examples in the global batch
  std::uint64_t batch_tokens = 0;                 // nominal tokens in the global batch
  double native_tokens_per_s = 0;  // sum over islands, compute only, everything healthy
  base::Nanoseconds nominal_step = 0;  // compute time of one step of the whole global batch
  bool watts_assumed = false;  // of some slice: neither published nor given
  // Each island draws a factor of its own for each step: MemberComputed tells what came of it.
  bool steps_vary = false;
  // The global model is learner 0's own parameters (data parallel); else it lives at the syncer.
  bool model_is_learner = false;
  // Steps may be rolled back to a checkpoint, so readers keep what a rollback would undo.
  bool may_roll_back = false;
};

}  // namespace sim::tape
