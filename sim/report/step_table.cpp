// sim/report/step_table.cpp: see step_table.h for the columns.
#include "sim/report/step_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace sim::report {
namespace {

constexpr std::size_t kRowsMax = 10'000;

}  // namespace

using tape::Kind;

StepTable::Bin& StepTable::Bin::operator+=(const Bin& other) {
  learner_steps += other.learner_steps;
  merges += other.merges;
  lone_merges += other.lone_merges;
  contributions += other.contributions;
  tokens = std::max(tokens, other.tokens);
  merged_tokens = std::max(merged_tokens, other.merged_tokens);
  step = std::max(step, other.step);
  stepping += other.stepping;
  return *this;
}

StepTable::StepTable(const tape::RunShape& shape, const readers::TokenLedger& tokens)
    : tokens_(tokens),
      grid_(shape.nominal_step > 0 ? shape.nominal_step : base::kSecond, kRowsMax),
      stepping_since_(shape.learners.size(), base::kNever) {}

void StepTable::on(const tape::Fact& fact) {
  switch (fact.kind) {
    case Kind::kStepsDone: on_steps(fact.steps_done); break;
    case Kind::kActivityChanged: on_activity(fact.activity_changed, fact.at); return;
    case Kind::kFragmentMerged: {
      Bin& bin = grid_.at(fact.at);
      ++bin.merges;
      bin.contributions += fact.fragment_merged.contributor_count;
      bin.lone_merges +=
          fact.fragment_merged.contributor_count == 1 && stepping_since_.size() > 1;
      break;
    }
    case Kind::kFragmentAdopted:
    case Kind::kFragmentLost:
    case Kind::kStateCopied:
    case Kind::kFragmentRestored:
    case Kind::kGlobalRestored:
    case Kind::kRolledBack: break;
    case Kind::kRunEnded:
      for (std::size_t m = 0; m < stepping_since_.size(); ++m) close_stepping(m, fact.at);
      break;
    default: return;
  }
  Bin& bin = grid_.at(fact.at);
  bin.tokens = tokens_.consumed_tokens();
  bin.merged_tokens = tokens_.merged_tokens();
}

void StepTable::on_steps(const tape::StepsDone& steps) {
  const Nanoseconds end = steps.start + steps.period * steps.count;
  grid_.spread(steps.start, end, [&](Bin& bin, Nanoseconds from, Nanoseconds to) {
    const Nanoseconds done = (to - steps.start) / steps.period;
    const Nanoseconds before = (from - steps.start) / steps.period;
    if (done == before) return;
    bin.learner_steps += static_cast<std::uint64_t>(done - before);
    bin.step = std::max(bin.step, static_cast<std::uint32_t>(steps.first_step + done - 1));
  });
}

void StepTable::on_activity(const tape::ActivityChanged& change, Nanoseconds now) {
  close_stepping(change.learner, now);
  if (change.activity == tape::Activity::kStepping) stepping_since_[change.learner] = now;
}

void StepTable::close_stepping(std::size_t learner, Nanoseconds now) {
  Nanoseconds& since = stepping_since_.at(learner);
  if (since < base::kNever) {
    grid_.spread(since, now,
                 [](Bin& bin, Nanoseconds from, Nanoseconds to) { bin.stepping += to - from; });
  }
  since = base::kNever;
}

void StepTable::write_csv(std::ostream& out) const {
  out << "time_s,bin_s,step,learner_steps,learners_stepping,merges,contributions,tokens,merged_tokens,lone_merges\n";
  const auto bin_ns = static_cast<double>(grid_.width());
  Nanoseconds end = 0;
  std::uint32_t step = 0;
  std::uint64_t tokens = 0, merged_tokens = 0;
  for (const Bin& bin : grid_.bins()) {
    end += grid_.width();
    if (bin.step > 0) step = bin.step;
    if (bin.tokens > 0) {
      tokens = bin.tokens;
      merged_tokens = bin.merged_tokens;
    }
    out << base::format_seconds(end) << ',' << base::format_seconds(grid_.width())
        << fmt::format(",{},{},{},{},{},{},{},{}\n", step, bin.learner_steps,
                       static_cast<double>(bin.stepping) / bin_ns, bin.merges, bin.contributions,
                       tokens, merged_tokens, bin.lone_merges);
  }
}

}  // namespace sim::report
