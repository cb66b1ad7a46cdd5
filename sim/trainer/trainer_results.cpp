// sim/trainer/trainer_results.cpp: what a trainer is asked for: evaluations, marks, parameters.
#include <cmath>
#include <limits>

#include "sim/trainer/trainer.h"

namespace sim::trainer {

using tape::MarkKind;

void Trainer::evaluate(base::Nanoseconds date, std::uint64_t tokens, const MarkKind* mark) {
  if (!syncer_counts()) return;
  PendingEvaluation& pending = pending_evaluations_.emplace_back();
  pending = {{date, tokens, 0}, last_step_, mark != nullptr, !model_is_evaluated_,
             mark != nullptr ? *mark : MarkKind::kTime};
  if (model_is_evaluated_) return;
  model_is_evaluated_ = true;
  std::shared_ptr<SharedBlock> global = current_global();
  const NodeId after[] = {global->producer};
  graph_.add(after, [this, global, &pending](const Worker& worker) {
    pending.evaluation.loss = runner_.held_out_loss(global->values.span(), worker);
  });
}

void Trainer::flush() {
  facts_gathered_ = 0;
  graph_.run();
  collect();
}

void Trainer::collect() {
  for (PendingEvaluation& pending : pending_evaluations_) collect(pending);
  pending_evaluations_.clear();
  for (const ConvergenceRow& row : pending_rows_) convergence_.append(row);
  pending_rows_.clear();
}

void Trainer::collect(PendingEvaluation& pending) {
  if (diverged_) return;
  if (pending.is_fresh) last_loss_ = pending.evaluation.loss;
  pending.evaluation.loss = last_loss_;
  if (!std::isfinite(last_loss_)) {
    last_loss_ = std::numeric_limits<double>::quiet_NaN();
    diverged_ = Divergence{pending.evaluation.at, pending.step};
    return;
  }
  evaluations_.push_back(pending.evaluation);
  if (pending.is_mark) marks_.push_back({pending.mark, pending.evaluation});
}

void Trainer::finish() {
  flush();
  takes_.clear();
  transfers_.clear();
  gathered_ = nullptr;
}

optim::AlignedBlock Trainer::global_parameters() {
  const std::shared_ptr<SharedBlock> global = current_global();
  flush();
  return global->values;
}

const LearnerState& Trainer::learner(std::uint16_t index) {
  Learner& learner = at(index);
  flush();
  return learner.state;
}

std::size_t Trainer::open_items() const {
  return takes_.size() + transfers_.size() + global_.kept_versions();
}

}  // namespace sim::trainer
