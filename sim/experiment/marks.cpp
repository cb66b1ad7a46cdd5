// sim/experiment/marks.cpp: see marks.h.
#include "sim/experiment/marks.h"

#include <algorithm>
#include <cmath>

namespace sim::experiment {

using base::Nanoseconds;

namespace {

constexpr engine::Turn kMarkTurn{engine::Priority::kMark, 0};

}  // namespace

Marks::Marks(engine::Conductor& conductor, tape::Tape& tape, const tape::RunShape& shape,
             const readers::TokenLedger& tokens, const scenario::MarkOptions& options,
             std::int64_t evaluations)
    : conductor_(conductor),
      tape_(tape),
      shape_(shape),
      tokens_(tokens),
      options_(options),
      token_mark_(static_cast<std::uint64_t>(options.tokens)),
      time_done_(options.time == 0),
      tokens_done_(options.tokens == 0) {
  const double horizon = options.tokens > 0
                             ? options.tokens
                             : shape.native_tokens_per_s * base::to_seconds(options.time);
  if (evaluations > 0) grid_ = horizon / static_cast<double>(evaluations);
}

void Marks::start(std::function<void()> tell_finished_steps) {
  tell_finished_steps_ = std::move(tell_finished_steps);
  if (!time_done_) conductor_.call_at(options_.time, kMarkTurn, [this] { reach_time_mark(); });
  conductor_.call_at(options_.limit, {engine::Priority::kMark, 1}, [this] {
    limit_reached_ = true;
    conductor_.stop();
  });
}

void Marks::on(const tape::Fact& fact) {
  switch (fact.kind) {
    case tape::Kind::kStepsDone:
    case tape::Kind::kFragmentMerged:
    case tape::Kind::kFragmentAdopted:
      look();
      break;
    default:
      break;
  }
}

std::uint64_t Marks::next_evaluation() const {
  return static_cast<std::uint64_t>(std::ceil(grid_ * (evaluated_ + 1)));
}

void Marks::look() {
  if (scheduled_) return;
  const std::uint64_t now = tokens_.unique_tokens();
  const bool evaluation = grid_ > 0 && now >= next_evaluation();
  const bool mark = !tokens_done_ && now >= token_mark_;
  if (!evaluation && !mark) return;
  scheduled_ = true;
  conductor_.call_at(conductor_.now(), kMarkTurn, [this] { write_due(); });
}

void Marks::write_due() {
  scheduled_ = false;
  const std::uint64_t now = tokens_.unique_tokens();
  if (grid_ > 0 && now >= next_evaluation()) {
    evaluated_ = static_cast<std::uint32_t>(static_cast<double>(now) / grid_);
    tape_.append({conductor_.now(), tape::EvaluationDue{now, evaluated_}});
  }
  if (!tokens_done_ && now >= token_mark_) {
    tokens_done_ = true;
    tell_finished_steps_();
    tape_.append({conductor_.now(), tape::MarkReached{now, tape::MarkKind::kTokens}});
  }
  stop_when_done();
}

void Marks::reach_time_mark() {
  time_done_ = true;
  tell_finished_steps_();
  tape_.append(
      {conductor_.now(), tape::MarkReached{tokens_.unique_tokens(), tape::MarkKind::kTime}});
  stop_when_done();
}

void Marks::stop_when_done() {
  if (time_done_ && tokens_done_) conductor_.stop();
}

// Learners count together, so with several of them the way to the next point is shared out.
std::uint32_t Marks::steps_until_due(std::uint64_t tokens_per_step) const {
  constexpr std::uint64_t kFar = 1'000'000'000;
  std::uint64_t next = UINT64_MAX;
  if (grid_ > 0) next = next_evaluation();
  if (!tokens_done_) next = std::min(next, token_mark_);
  if (next == UINT64_MAX || tokens_per_step == 0) return kFar;
  const std::uint64_t now = tokens_.unique_tokens();
  if (next <= now) return 1;
  const std::uint64_t per_step = tokens_per_step * shape_.learners.size();
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>((next - now + per_step - 1) / per_step, 1, kFar));
}

}  // namespace sim::experiment
