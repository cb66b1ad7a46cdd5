// sim/chaos/exposure_clock.cpp: see exposure_clock.h.
#include "sim/chaos/exposure_clock.h"

#include <map>

namespace sim::chaos {

using base::Nanoseconds;

ExposureClock::ExposureClock(engine::Conductor& conductor, const tape::RunShape& shape,
                             std::function<void(std::size_t)> fail)
    : shape_(shape),
      clocks_(conductor, std::move(fail)),
      learner_steps_(shape.learners.size(), 0),
      slice_joined_(shape.slices.size(), 1),
      units_of_slice_(shape.slices.size()),
      shares_of_learner_(shape.learners.size()),
      shares_of_slice_(shape.slices.size()) {
  for (std::size_t m = 0; m < shape.learners.size(); ++m) clocks_.add_clock();
}

void ExposureClock::add_slice(std::size_t unit, std::uint32_t slice, Nanoseconds until_failure) {
  const std::uint16_t learner = shape_.slices[slice].learner;
  if (learner == tape::kNoLearner) {
    clocks_.add_unit(unit, clocks_.add_clock(), until_failure);  // never runs
    return;
  }
  clocks_.add_unit(unit, learner, until_failure);
  units_of_slice_[slice].push_back(unit);
  if (slice_joined_[slice]) clocks_.resume(unit);
}

void ExposureClock::add_place(std::size_t unit, const std::vector<std::uint32_t>& slices,
                              Nanoseconds until_failure) {
  const std::size_t place = places_.size();
  places_.push_back({clocks_.add_clock()});
  clocks_.add_unit(unit, places_[place].clock, until_failure);
  clocks_.resume(unit);
  std::map<std::uint16_t, std::size_t> share_of;
  for (const std::uint32_t slice : slices) {
    const std::uint16_t learner = shape_.slices[slice].learner;
    if (learner == tape::kNoLearner) continue;
    const auto [found, is_new] = share_of.emplace(learner, shares_.size());
    if (is_new) {
      shares_of_learner_[learner].push_back(shares_.size());
      shares_.push_back({place, learner, 0});
    }
    shares_of_slice_[slice].push_back(found->second);
    shares_[found->second].joined += slice_joined_[slice] != 0;
  }
  for (const auto& [learner, share] : share_of) {
    if (learner_steps_[learner] && shares_[share].joined > 0) count(place, 1);
  }
}

void ExposureClock::count(std::size_t index, int change) {
  Place& place = places_[index];
  place.stepping += static_cast<std::uint32_t>(change);
  clocks_.set_running(place.clock, place.stepping > 0);
}

void ExposureClock::on(const tape::Fact& fact) {
  if (fact.kind == tape::Kind::kActivityChanged) change_activity(fact.activity_changed);
  if (fact.kind == tape::Kind::kSliceChanged) change_slice(fact.slice_changed);
}

void ExposureClock::change_activity(const tape::ActivityChanged& change) {
  const bool steps = change.activity == tape::Activity::kStepping;
  if (steps == (learner_steps_[change.learner] != 0)) return;
  learner_steps_[change.learner] = steps;
  clocks_.set_running(change.learner, steps);
  for (const std::size_t share : shares_of_learner_[change.learner]) {
    if (shares_[share].joined > 0) count(shares_[share].place, steps ? 1 : -1);
  }
}

void ExposureClock::change_slice(const tape::SliceChanged& change) {
  const bool joined = change.state == tape::SliceState::kJoined;
  if (joined == (slice_joined_[change.slice] != 0)) return;
  slice_joined_[change.slice] = joined;
  for (const std::size_t unit : units_of_slice_[change.slice]) {
    if (joined) {
      clocks_.resume(unit);
    } else {
      clocks_.pause(unit);
    }
  }
  for (const std::size_t index : shares_of_slice_[change.slice]) {
    Share& share = shares_[index];
    const bool was_exposed = share.joined > 0;
    share.joined += joined ? 1 : static_cast<std::uint32_t>(-1);
    const bool is_exposed = share.joined > 0;
    if (was_exposed == is_exposed || learner_steps_[share.learner] == 0) continue;
    count(share.place, is_exposed ? 1 : -1);
  }
}

}  // namespace sim::chaos
