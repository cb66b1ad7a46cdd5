// sim/methods/job.h: one learner as a job of slices: who is in it, what it does, which step it is at.
//
// All methods share how a job loses slices and takes them back; they differ in what they do between
// steps.
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
  void lose(std::uint32_t slice);           // it is down
  void set_apart(std::uint32_t slice);      // healthy, but the others go on without it
  void find_repaired(std::uint32_t slice);  // healthy, waits to be taken back
  // Those of `slices` that wait join.
  void take_back(const std::vector<std::uint32_t>& slices);
  std::vector<std::uint32_t> waiting() const { return in_state(tape::SliceState::kWaiting); }
  std::vector<std::uint32_t> all_joined() const { return in_state(tape::SliceState::kJoined); }
  bool joined(std::uint32_t slice) const { return state_of(slice) == tape::SliceState::kJoined; }
  bool waits(std::uint32_t slice) const { return state_of(slice) == tape::SliceState::kWaiting; }
  std::size_t joined_count() const { return joined_count_; }
  bool any_waiting() const { return waiting_count_ > 0; }
  bool complete() const { return joined_count_ + waiting_count_ == shape().slices.size(); }
  // Regions of joined slices, ascending.
  const std::vector<std::uint16_t>& regions() const { return regions_; }
  std::size_t joined_in(std::uint16_t region) const { return joined_in_[region]; }

  // Writes ActivityChanged when it differs. Leaving kStepping tells the finished steps first.
  void begin(tape::Activity activity);
  tape::Activity activity() const { return activity_; }

  // Steps. A step's compute time is that of the slowest joined slice on its own tokens, at least 1 ns.
  // Where the scenario asks for noise, each island draws a lognormal factor per step: the slowest
  // member sets the pace, and a learner of one island draws what that island draws in any other job.
  Nanoseconds next_compute_time() const;
  bool steps_are_alike() const { return world_.step_sd == 0; }
  // At most model.batch_tokens, which is below 2^32.
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
  // The slices of one island.
  struct Member {
    std::uint32_t island;
    base::Stream noise;
    Nanoseconds compute = 0;  // of its slowest joined slice
    bool joined = false;
  };
  tape::SliceState state_of(std::uint32_t slice) const;
  std::vector<std::uint32_t> in_state(tape::SliceState state) const;
  void set_state(std::uint32_t slice, tape::SliceState state);
  void leave(std::uint32_t slice, tape::SliceState state);
  Member& member_on(std::uint32_t island);
  Nanoseconds drawn_compute_time(const Member& member) const;
  void refresh();
  void refresh_regions();
  void tell_members();
  void tell(Nanoseconds start, Nanoseconds period, Nanoseconds compute, std::uint32_t count);

  World& world_;
  std::uint16_t learner_;
  std::uint16_t incarnation_ = 1;
  std::vector<tape::SliceState> states_;  // by position in shape().slices
  std::size_t joined_count_ = 0, waiting_count_ = 0;
  std::vector<Member> members_;           // by island, ascending
  std::vector<std::uint16_t> regions_;    // of joined slices, ascending
  std::vector<std::size_t> joined_in_;    // (regions of the fleet)
  Nanoseconds compute_ = 0;
  std::uint32_t tokens_ = 0;
  tape::Activity activity_ = tape::Activity::kFinished;
  Stretch stretch_;
  Nanoseconds step_end_ = 0;
  std::uint32_t step_ = 0, schedule_step_ = 0;
  std::uint64_t total_tokens_ = 0, total_steps_ = 0;
};

}  // namespace sim::methods
