// sim/chaos/exposure_clock.cpp: see exposure_clock.h.
#include "sim/chaos/exposure_clock.h"

namespace sim::chaos {

using base::Nanoseconds;

ExposureClock::ExposureClock(engine::Conductor& conductor, const tape::RunShape& shape,
                             std::function<void(std::size_t)> fail)
    : conductor_(conductor),
      shape_(shape),
      fail_(std::move(fail)),
      learners_(shape.learners.size()),
      units_of_slice_(shape.slices.size()),
      slice_joined_(shape.slices.size(), 1) {}

Nanoseconds ExposureClock::now_of(const LearnerClock& clock) const {
  return clock.sum + (clock.stepping ? conductor_.now() - clock.since : 0);
}

void ExposureClock::add(std::size_t unit, std::uint32_t slice, Nanoseconds until_failure) {
  if (unit >= units_.size()) units_.resize(unit + 1);
  units_[unit].slice = slice;
  units_[unit].left = until_failure;
  units_of_slice_[slice].push_back(unit);
  if (slice_joined_[slice]) enqueue(unit);
}

void ExposureClock::renew(std::size_t unit, Nanoseconds until_failure) {
  dequeue(unit);
  units_[unit].left = until_failure;
  if (slice_joined_[units_[unit].slice]) enqueue(unit);
}

void ExposureClock::enqueue(std::size_t unit) {
  UnitClock& clock = units_[unit];
  const std::uint16_t learner = shape_.slices[clock.slice].learner;
  if (learner == tape::kNoLearner || clock.queued) return;
  clock.date = now_of(learners_[learner]) + clock.left;
  clock.queued = true;
  learners_[learner].queue.push({clock.date, unit, ++clock.generation});
  arm(learner);
}

void ExposureClock::dequeue(std::size_t unit) {
  UnitClock& clock = units_[unit];
  if (!clock.queued) return;
  const std::uint16_t learner = shape_.slices[clock.slice].learner;
  clock.left = clock.date - now_of(learners_[learner]);
  clock.queued = false;
  ++clock.generation;  // its entry in the queue is dead
  arm(learner);
}

void ExposureClock::arm(std::uint16_t learner) {
  LearnerClock& clock = learners_[learner];
  conductor_.cancel(clock.wake);
  clock.wake = {};
  while (!clock.queue.empty() &&
         units_[clock.queue.top().unit].generation != clock.queue.top().generation) {
    clock.queue.pop();
  }
  if (!clock.stepping || clock.queue.empty()) return;
  const Nanoseconds left = clock.queue.top().date - now_of(clock);
  clock.wake = conductor_.call_at(conductor_.now() + std::max<Nanoseconds>(0, left),
                                  {engine::Priority::kFault, learner},
                                  [this, learner] { ring(learner); });
}

void ExposureClock::ring(std::uint16_t learner) {
  LearnerClock& clock = learners_[learner];
  clock.wake = {};
  const std::size_t unit = clock.queue.top().unit;
  clock.queue.pop();
  units_[unit].queued = false;
  units_[unit].left = 0;
  fail_(unit);  // renews the unit
  arm(learner);
}

void ExposureClock::on(const tape::Fact& fact) {
  if (fact.kind == tape::Kind::kActivityChanged) {
    const auto& change = fact.activity_changed;
    LearnerClock& clock = learners_[change.learner];
    const bool steps = change.activity == tape::Activity::kStepping;
    if (steps == clock.stepping) return;
    clock.sum = now_of(clock);
    clock.since = conductor_.now();
    clock.stepping = steps;
    arm(change.learner);
  } else if (fact.kind == tape::Kind::kSliceChanged) {
    const auto& change = fact.slice_changed;
    const bool joined = change.state == tape::SliceState::kJoined;
    if (joined == (slice_joined_[change.slice] != 0)) return;
    slice_joined_[change.slice] = joined;
    for (const std::size_t unit : units_of_slice_[change.slice]) {
      if (joined) {
        enqueue(unit);
      } else {
        dequeue(unit);
      }
    }
  }
}

}  // namespace sim::chaos
