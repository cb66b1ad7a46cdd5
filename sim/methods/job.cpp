// sim/methods/job.cpp: see job.h.
#include "sim/methods/job.h"

#include <algorithm>
#include <stdexcept>

#include "sim/base/elementary.h"

namespace sim::methods {

using tape::SliceState;

Job::Job(World& world, std::uint16_t learner)
    : world_(world),
      learner_(learner),
      states_(shape().slices.size(), SliceState::kJoined),
      joined_count_(states_.size()),
      step_time_(world.seed, "step-time/" + shape().name) {
  refresh();
}

SliceState Job::state_of(std::uint32_t slice) const {
  const auto found = std::ranges::lower_bound(shape().slices, slice);
  return states_[static_cast<std::size_t>(found - shape().slices.begin())];
}

void Job::set_state(std::uint32_t slice, SliceState state) {
  const auto found = std::ranges::lower_bound(shape().slices, slice);
  SliceState& current = states_[static_cast<std::size_t>(found - shape().slices.begin())];
  joined_count_ -= current == SliceState::kJoined;
  waiting_count_ -= current == SliceState::kWaiting;
  current = state;
  joined_count_ += current == SliceState::kJoined;
  waiting_count_ += current == SliceState::kWaiting;
  world_.say(tape::SliceChanged{slice, state});
}

void Job::lose(std::uint32_t slice) {
  if (in_stretch() && joined(slice)) {
    throw std::logic_error("job: a joined slice is lost inside an open stretch");
  }
  set_state(slice, SliceState::kFailed);
  refresh();
}

void Job::find_repaired(std::uint32_t slice) { set_state(slice, SliceState::kWaiting); }

void Job::take_back(const std::vector<std::uint32_t>& slices) {
  for (const std::uint32_t slice : slices) {
    if (state_of(slice) == SliceState::kWaiting) set_state(slice, SliceState::kJoined);
  }
  refresh();
}

std::vector<std::uint32_t> Job::waiting() const {
  std::vector<std::uint32_t> slices;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i] == SliceState::kWaiting) slices.push_back(shape().slices[i]);
  }
  return slices;
}

void Job::refresh() {
  compute_ = 1;  // the clock's grain: no step is shorter
  std::uint64_t tokens = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i] != SliceState::kJoined) continue;
    const std::uint32_t slice = shape().slices[i];
    compute_ = std::max(compute_, world_.fleet.slice_step_time[slice]);
    tokens += world_.shape().slices[slice].tokens;
  }
  tokens_ = static_cast<std::uint32_t>(tokens);
}

std::vector<std::uint16_t> Job::regions() const {
  std::vector<std::uint16_t> found;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i] == SliceState::kJoined) {
      found.push_back(world_.shape().slices[shape().slices[i]].region);
    }
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::size_t Job::joined_in(std::uint16_t region) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    count += states_[i] == SliceState::kJoined &&
             world_.shape().slices[shape().slices[i]].region == region;
  }
  return count;
}

void Job::begin(tape::Activity activity) {
  if (activity == activity_) return;
  if (in_stretch()) close_stretch();
  activity_ = activity;
  world_.say(tape::ActivityChanged{learner_, activity});
}

Nanoseconds Job::next_compute_time() const {
  if (steps_are_alike()) return compute_;
  // Keyed by the step, so that one arm's detours do not shift another's spread.
  base::Stream stream(step_time_.word_at(step_), "factor");
  const double factor = base::exponential(world_.step_sd * stream.next_normal());
  return std::max<Nanoseconds>(1, base::from_seconds(base::to_seconds(compute_) * factor));
}

void Job::tell(Nanoseconds start, Nanoseconds period, Nanoseconds compute, std::uint32_t count) {
  world_.say(tape::StepsDone{start, period, compute, step_ + 1, count, tokens_, schedule_step_ + 1,
                             learner_, incarnation_});
  step_ += count;
  schedule_step_ += count;
  total_steps_ += count;
  total_tokens_ += std::uint64_t{count} * tokens_;
}

void Job::finish_step(Nanoseconds started, Nanoseconds compute) {
  tell(started, world_.conductor.now() - started, compute, 1);
}

void Job::open_stretch(Nanoseconds period, Nanoseconds compute) {
  stretch_ = {world_.conductor.now(), period, compute};
}

void Job::tell_stretch() {
  if (!in_stretch()) return;
  const Nanoseconds count = (world_.conductor.now() - stretch_.start) / stretch_.period;
  if (count == 0) return;
  const Nanoseconds start = stretch_.start;
  stretch_.start += count * stretch_.period;
  tell(start, stretch_.period, stretch_.compute, static_cast<std::uint32_t>(count));
}

void Job::close_stretch() {
  tell_stretch();
  stretch_ = {};
}

Nanoseconds Job::stretch_boundary() const {
  const Nanoseconds run = world_.conductor.now() - stretch_.start;
  return stretch_.start + (run + stretch_.period - 1) / stretch_.period * stretch_.period;
}

Nanoseconds Job::step_end() const {
  if (in_stretch()) return stretch_boundary();
  if (activity_ != tape::Activity::kStepping) return world_.conductor.now();
  return std::max(step_end_, world_.conductor.now());
}

}  // namespace sim::methods
