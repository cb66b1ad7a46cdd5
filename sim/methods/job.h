// sim/methods/job.h: one learner as a job of slices: who is in it, what it does, which step it is at.
//
// Both methods share how a job loses slices and takes them back; they differ in what a step is.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/random.h"
#include "sim/methods/world.h"

namespace sim::methods {

class Job {
 public:
  Job(World& world, std::uint16_t learner);

  std::uint16_t learner() const { return learner_; }
  std::uint16_t region() const { return shape().region; }
  const tape::LearnerShape& shape() const { return world_.shape().learners[learner_]; }
  engine::Turn turn() const { return {engine::Priority::kStep, learner_}; }

  // Membership. Each writes SliceChanged.
  void lose(std::uint32_t slice);
  void find_repaired(std::uint32_t slice);  // healthy, waits to be taken back
  // Those of `slices` that wait join.
  void take_back(const std::vector<std::uint32_t>& slices);
  std::vector<std::uint32_t> waiting() const;
  bool joined(std::uint32_t slice) const { return state_of(slice) == tape::SliceState::kJoined; }
  bool waits(std::uint32_t slice) const { return state_of(slice) == tape::SliceState::kWaiting; }
  std::size_t joined_count() const { return joined_count_; }
  bool any_waiting() const { return waiting_count_ > 0; }
  bool complete() const { return joined_count_ + waiting_count_ == shape().slices.size(); }
  // Regions of joined slices, ascending.
  std::vector<std::uint16_t> regions() const;
  std::size_t joined_in(std::uint16_t region) const;

  // Writes ActivityChanged when it differs. Leaving kStepping tells the finished steps first.
  void begin(tape::Activity activity);
  tape::Activity activity() const { return activity_; }

  // Steps. A step's compute time is that of the slowest joined slice on its own slots; a lognormal
  // factor per step where the scenario asks for it.
  Nanoseconds next_compute_time() const;
  bool steps_are_alike() const { return world_.step_sd == 0; }
  std::uint32_t tokens_per_step() const { return tokens_; }

  // One step that has just ended, of which `compute` was computation.
  void finish_step(Nanoseconds started, Nanoseconds compute);
  // A stretch of steps alike, back to back from now on. It is told when it is closed.
  void open_stretch(Nanoseconds period, Nanoseconds compute);
  void tell_stretch();   // the steps finished by now; the stretch goes on
  void close_stretch();
  // The first step boundary not before now.
  Nanoseconds stretch_boundary() const;
  bool in_stretch() const { return stretch_.period > 0; }

  // Set by per-step loops, so that faults that act at the end of a step find it.
  void expect_step_end(Nanoseconds date) { step_end_ = date; }
  Nanoseconds step_end() const;

  std::uint32_t step() const { return step_; }  // last finished; keys the data of the next
  void jump_to_step(std::uint32_t step) { step_ = step; }
  std::uint32_t schedule_step() const { return schedule_step_; }
  void receive_schedule_step(std::uint32_t step) { schedule_step_ = step; }
  std::uint64_t total_tokens() const { return total_tokens_; }
  std::uint64_t total_steps() const { return total_steps_; }

  std::uint16_t incarnation() const { return incarnation_; }
  std::uint16_t new_life() { return ++incarnation_; }

 private:
  struct Stretch {
    Nanoseconds start = 0, period = 0, compute = 0;
  };
  tape::SliceState state_of(std::uint32_t slice) const;
  void set_state(std::uint32_t slice, tape::SliceState state);
  void refresh();
  void tell(Nanoseconds start, Nanoseconds period, Nanoseconds compute, std::uint32_t count);

  World& world_;
  std::uint16_t learner_;
  std::uint16_t incarnation_ = 1;
  std::vector<tape::SliceState> states_;  // by position in shape().slices
  std::size_t joined_count_ = 0, waiting_count_ = 0;
  Nanoseconds compute_ = 0;
  std::uint32_t tokens_ = 0;
  tape::Activity activity_ = tape::Activity::kFinished;
  Stretch stretch_;
  Nanoseconds step_end_ = 0;
  std::uint32_t step_ = 0, schedule_step_ = 0;
  std::uint64_t total_tokens_ = 0, total_steps_ = 0;
  base::Stream step_time_;
};

}  // namespace sim::methods
