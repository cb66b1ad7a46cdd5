// sim/readers/recovery_times.cpp: see recovery_times.h.
#include "sim/readers/recovery_times.h"

#include <algorithm>

namespace sim::readers {
namespace {

bool fetches_state(tape::Activity activity) {
  return activity == tape::Activity::kCopyingState || activity == tape::Activity::kLoadingCheckpoint;
}

}  // namespace

RecoveryTimes::RecoveryTimes(const tape::RunShape& shape, std::int64_t bound_steps)
    : shape_(shape), bound_steps_(bound_steps), since_(shape.learners.size(), base::kNever) {}

void RecoveryTimes::on(const tape::Fact& fact) {
  if (fact.kind == tape::Kind::kRunEnded) {
    for (Nanoseconds& since : since_) end(since, fact.at);
    return;
  }
  if (fact.kind != tape::Kind::kActivityChanged) return;
  const tape::ActivityChanged& change = fact.activity_changed;
  Nanoseconds& since = since_.at(change.learner);
  if (fetches_state(change.activity)) {
    since = std::min(since, fact.at);
  } else if (change.activity == tape::Activity::kStepping) {
    end(since, fact.at);
  } else if (change.activity == tape::Activity::kWaitingForRepair) {
    since = base::kNever;
  }
}

void RecoveryTimes::end(Nanoseconds& since, Nanoseconds now) {
  if (since == base::kNever) return;
  const Nanoseconds lasted = now - since;
  longest_ = std::max(longest_, lasted);
  if (bound_steps_ > 0 && lasted > bound_steps_ * shape_.nominal_step) ++beyond_bound_;
  since = base::kNever;
}

double RecoveryTimes::longest_steps() const {
  if (shape_.nominal_step <= 0) return 0.0;
  return base::to_seconds(longest_) / base::to_seconds(shape_.nominal_step);
}

}  // namespace sim::readers
