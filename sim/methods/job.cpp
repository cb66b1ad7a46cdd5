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
      joined_count_(states_.size()) {
  for (const std::uint32_t slice : shape().slices) {
    const std::uint32_t island = world.shape().slices[slice].island;
    if (!members_.empty() && members_.back().island == island) continue;
    members_.push_back(
        {island, base::Stream(world.seed, "step-time/" + world.shape().islands[island])});
  }
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

void Job::lose(std::uint32_t slice) { leave(slice, SliceState::kFailed); }

void Job::set_apart(std::uint32_t slice) { leave(slice, SliceState::kWaiting); }

void Job::leave(std::uint32_t slice, SliceState state) {
  if (in_stretch() && joined(slice)) {
    throw std::logic_error("job: a joined slice leaves inside an open stretch");
  }
  set_state(slice, state);
  refresh();
}

void Job::find_repaired(std::uint32_t slice) { set_state(slice, SliceState::kWaiting); }

void Job::take_back(const std::vector<std::uint32_t>& slices) {
  for (const std::uint32_t slice : slices) {
    if (state_of(slice) == SliceState::kWaiting) set_state(slice, SliceState::kJoined);
  }
  refresh();
}

std::vector<std::uint32_t> Job::in_state(SliceState state) const {
  std::vector<std::uint32_t> slices;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i] == state) slices.push_back(shape().slices[i]);
  }
  return slices;
}

Job::Member& Job::member_on(std::uint32_t island) {
  return *std::ranges::lower_bound(members_, island, {}, &Member::island);
}

void Job::refresh() {
  compute_ = 1;
  for (Member& member : members_) {
    member.compute = 0;
    member.joined = false;
  }
  std::uint64_t tokens = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i] != SliceState::kJoined) continue;
    const tape::SliceShape& slice = world_.shape().slices[shape().slices[i]];
    Member& member = member_on(slice.island);
    member.joined = true;
    member.compute = std::max(member.compute, slice.step_time);
    compute_ = std::max(compute_, slice.step_time);
    tokens += slice.tokens;
  }
  tokens_ = static_cast<std::uint32_t>(tokens);
  refresh_regions();
}

void Job::refresh_regions() {
  joined_in_.assign(world_.shape().regions.size(), 0);
  for (const std::uint32_t slice : all_joined()) ++joined_in_[world_.shape().slices[slice].region];
  regions_.clear();
  for (std::size_t region = 0; region < joined_in_.size(); ++region) {
    if (joined_in_[region] > 0) regions_.push_back(static_cast<std::uint16_t>(region));
  }
}

void Job::begin(tape::Activity activity) {
  if (activity == activity_) return;
  if (in_stretch()) close_stretch();
  activity_ = activity;
  world_.say(tape::ActivityChanged{learner_, activity});
}

Nanoseconds Job::next_compute_time() const {
  if (steps_are_alike()) return compute_;
  Nanoseconds slowest = 1;
  for (const Member& member : members_) {
    if (member.joined) slowest = std::max(slowest, drawn_compute_time(member));
  }
  return slowest;
}

// Keyed by island and step, so that arms share it and one arm's detours do not shift another's spread.
Nanoseconds Job::drawn_compute_time(const Member& member) const {
  base::Stream stream(member.noise.word_at(step_), "factor");
  const double factor = base::exponential(world_.step_sd * stream.next_normal());
  return std::max<Nanoseconds>(1, base::from_seconds(base::to_seconds(member.compute) * factor));
}

// With one member there is nobody who waited.
void Job::tell_members() {
  if (steps_are_alike() || members_.size() < 2) return;
  for (const Member& member : members_) {
    if (!member.joined) continue;
    world_.say(tape::MemberComputed{drawn_compute_time(member), member.island, learner_});
  }
}

void Job::tell(Nanoseconds start, Nanoseconds period, Nanoseconds compute, std::uint32_t count) {
  tell_members();
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
