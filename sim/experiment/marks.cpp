// sim/experiment/marks.cpp: see marks.h.
#include "sim/experiment/marks.h"

#include <algorithm>
#include <cmath>

namespace sim::experiment {

using tape::MarkKind;

namespace {

constexpr engine::Turn kMarkTurn{engine::Priority::kMark, 0};
constexpr double kJoulesPerKwh = 3.6e6;

}  // namespace

Marks::Marks(engine::Conductor& conductor, tape::Tape& tape, const tape::RunShape& shape,
             const readers::RunAccount& account, const scenario::MarkOptions& options,
             std::int64_t evaluations)
    : conductor_(conductor),
      tape_(tape),
      shape_(shape),
      account_(account),
      options_(options),
      token_mark_(static_cast<std::uint64_t>(options.tokens)),
      open_{options.time > 0, options.tokens > 0, options.energy_kwh > 0, options.cost_usd > 0,
            options.loss > 0} {
  const double horizon = options.tokens > 0
                             ? options.tokens
                             : shape.native_tokens_per_s * base::to_seconds(options.time);
  if (evaluations > 0) grid_ = horizon / static_cast<double>(evaluations);
}

void Marks::start(MarkQuestions questions) {
  questions_ = std::move(questions);
  if (is_open(MarkKind::kTime)) {
    conductor_.call_at(options_.time, kMarkTurn, [this] { reach(MarkKind::kTime); });
  }
  conductor_.call_at(options_.limit, {engine::Priority::kMark, 1}, [this] {
    limit_reached_ = true;
    conductor_.stop();
  });
  for (const MarkKind mark : {MarkKind::kEnergy, MarkKind::kCost}) {
    if (is_open(mark)) look_at_spending(mark);
  }
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
  const std::uint64_t now = account_.tokens().consumed_tokens();
  const bool evaluation = grid_ > 0 && now >= next_evaluation();
  const bool mark = is_open(MarkKind::kTokens) && now >= token_mark_;
  if (!evaluation && !mark) return;
  scheduled_ = true;
  conductor_.call_at(conductor_.now(), kMarkTurn, [this] { write_due(); });
}

void Marks::write_due() {
  scheduled_ = false;
  const std::uint64_t now = account_.tokens().consumed_tokens();
  if (grid_ > 0 && now >= next_evaluation()) {
    evaluated_ = static_cast<std::uint32_t>(static_cast<double>(now) / grid_);
    tape_.append({conductor_.now(), tape::EvaluationDue{now, evaluated_}});
    if (is_open(MarkKind::kLoss)) ask_for_loss();
  }
  if (is_open(MarkKind::kTokens) && now >= token_mark_) reach(MarkKind::kTokens);
}

void Marks::ask_for_loss() {
  const double loss = questions_.last_loss();
  const bool reached = loss <= options_.loss;  // a loss that is no number is not there yet
  tape_.append({conductor_.now(), tape::Decided{loss, evaluated_, tape::Question::kLossReached,
                                                static_cast<std::uint8_t>(reached)}});
  if (reached) reach(MarkKind::kLoss);
}

void Marks::look_at_spending(MarkKind mark) {
  questions_.tell_finished_steps();
  const base::Nanoseconds now = conductor_.now();
  const double missing = mark == MarkKind::kEnergy
                             ? options_.energy_kwh * kJoulesPerKwh - account_.energy_at(now)->total
                             : options_.cost_usd - account_.cost_at(now)->total;
  if (missing <= 0) return reach(mark);
  conductor_.call_at(next_look(mark, missing), kMarkTurn, [this, mark] { look_at_spending(mark); });
}

base::Nanoseconds Marks::next_look(MarkKind mark, double missing) const {
  double per_s_max, under_way;
  if (mark == MarkKind::kEnergy) {
    const double joules_per_byte = account_.options().energy.wan_nj_per_bit * 1e-9 * 8.0;
    per_s_max = readers::power_max_w(shape_, account_.options().energy);
    for (const tape::LinkShape& link : shape_.links) {
      per_s_max += 2.0 * link.bytes_per_s * joules_per_byte;
    }
    under_way = static_cast<double>(account_.traffic().wan().in_flight) * joules_per_byte;
  } else {
    per_s_max = account_.cost().dollars_per_s_max() + account_.cost().egress_per_s_max();
    under_way = account_.cost().in_flight(account_.traffic());
  }
  const double sure_ns = std::ceil((missing - under_way) / per_s_max * 1e9);
  const auto shortest = std::max<base::Nanoseconds>(1, shape_.nominal_step / 100);
  const base::Nanoseconds latest = options_.limit - conductor_.now();
  if (sure_ns >= static_cast<double>(latest)) return options_.limit + 1;  // never
  return conductor_.now() + std::max(shortest, static_cast<base::Nanoseconds>(sure_ns));
}

void Marks::reach(MarkKind mark) {
  open_[static_cast<std::size_t>(mark)] = false;
  questions_.tell_finished_steps();
  tape_.append({conductor_.now(), tape::MarkReached{account_.tokens().consumed_tokens(), mark}});
  if (std::ranges::none_of(open_, [](bool open) { return open; })) conductor_.stop();
}

// Learners count together, so with several of them the way to the next point is shared out.
std::uint32_t Marks::steps_until_due(std::uint64_t tokens_per_step) const {
  constexpr std::uint64_t kFar = 1'000'000'000;
  std::uint64_t next = UINT64_MAX;
  if (grid_ > 0) next = next_evaluation();
  if (is_open(MarkKind::kTokens)) next = std::min(next, token_mark_);
  if (next == UINT64_MAX || tokens_per_step == 0) return kFar;
  const std::uint64_t now = account_.tokens().consumed_tokens();
  if (next <= now) return 1;
  const std::uint64_t per_step = tokens_per_step * shape_.learners.size();
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>((next - now + per_step - 1) / per_step, 1, kFar));
}

}  // namespace sim::experiment
