// sim/trainer/trainer.cpp: see trainer.h.
#include "sim/trainer/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "sim/trainer/fragment_copy.h"

namespace sim::trainer {
namespace {

using namespace tape;  // the facts; every name that this file handles is one of them

// How far the trainer may lag: bounds what waits in memory.
constexpr std::uint64_t kFactsMax = 65'536;
constexpr std::size_t kNodesMax = 4'096;

const TrainerOptions& checked(const RunShape& shape, const TrainerOptions& options) {
  if (shape.learners.empty()) throw std::invalid_argument("a run needs at least one learner");
  if (options.learning.batch != static_cast<std::int64_t>(shape.slots)) {
    throw std::invalid_argument(fmt::format("a batch of {} examples does not fill {} slots",
                                            options.learning.batch, shape.slots));
  }
  if (!(options.mixing >= 0 && options.mixing <= 1)) {
    throw std::invalid_argument(fmt::format("mixing must be in [0, 1]; got {}", options.mixing));
  }
  return options;
}

std::shared_ptr<SharedState> initial_state(const optim::Model& model,
                                           const TrainerOptions& options) {
  auto initial = std::make_shared<SharedState>();
  initial->state.parameters = optim::AlignedBlock(model.block_size());
  model.initialise(options.seed, initial->state.parameters.span());
  initial->state.inner = optim::make_inner_state(options.inner, model.block_size());
  return initial;
}

[[noreturn]] void tape_error(std::string_view what, std::uint64_t number) {
  throw std::logic_error(fmt::format("{} {}", what, number));
}

}  // namespace

Trainer::Trainer(const RunShape& shape, const TrainerOptions& options)
    : Trainer(shape, options, optim::make_model(options.learning.model),
              optim::make_task(options.learning.task, options.seed)) {}

Trainer::Trainer(const RunShape& shape, const TrainerOptions& options,
                 std::unique_ptr<optim::Model> model, std::unique_ptr<optim::Task> task)
    : shape_(shape),
      options_(checked(shape, options)),
      model_(std::move(model)),
      task_(std::move(task)),
      initial_(initial_state(*model_, options)),
      runner_({options.inner, options.learning.schedule, shape.batch_tokens}, *model_, *task_,
              options.threads),
      membership_(shape),
      learners_(shape.learners.size()),
      initial_loss_(std::numeric_limits<double>::quiet_NaN()),
      last_loss_(initial_loss_),
      graph_(options.threads),
      global_({options.outer, options.merge, options.wire, options.anchor,
               shape.model_is_learner ? 0 : shape.fragment_parameters.size(),
               shape.learners.size()},
              *model_, initial_->state.parameters.span(), graph_) {
  for (Learner& learner : learners_) learner.state = initial_->state;
  initial_received_ = global_.received(0);
  graph_.add({}, [this](const Worker& worker) {
    initial_loss_ = runner_.held_out_loss(initial_->state.parameters.span(), worker);
  });
  if (options_.resume) go_on_from(*options_.resume);
}

void Trainer::on(const Fact& fact) {
  if (resumed_cut_) resumed_cut_->on(fact);
  if (gathered_) gathered_->cut.on(fact);
  switch (fact.kind) {
    case Kind::kStepsDone: on(fact.steps_done); break;
    case Kind::kSliceChanged: membership_.on(fact.slice_changed); break;
    case Kind::kFragmentTaken: on(fact.fragment_taken); break;
    case Kind::kFragmentMerged: on(fact.at, fact.fragment_merged); break;
    case Kind::kFragmentLost: on(fact.fragment_lost); break;
    case Kind::kFragmentAdopted: on(fact.fragment_adopted); break;
    case Kind::kStateSent: on(fact.state_sent); break;
    case Kind::kStateCopied: on(fact.state_copied); break;
    case Kind::kStateLost: on(fact.state_lost); break;
    case Kind::kCheckpointSaved: on(fact.checkpoint_saved); break;
    case Kind::kRolledBack: on(fact.rolled_back); break;
    case Kind::kGlobalRestored: on(fact.global_restored); break;
    case Kind::kEvaluationDue: evaluate(fact.at, fact.evaluation_due.tokens, nullptr); break;
    case Kind::kMarkReached:
      evaluate(fact.at, fact.mark_reached.tokens, &fact.mark_reached.mark);
      break;
    case Kind::kRunEnded: evaluate(fact.at, fact.run_ended.tokens, nullptr); break;
    case Kind::kFragmentKept:
      if (syncer_counts()) global_.keep(fact.fragment_kept.fragment, fact.fragment_kept.shard);
      break;
    case Kind::kFragmentDropped:
      if (syncer_counts()) {
        global_.drop_kept(fact.fragment_dropped.fragment, fact.fragment_dropped.shard);
      }
      break;
    case Kind::kFragmentRestored: on(fact.fragment_restored); break;
    case Kind::kBroadcastChanged: on(fact.broadcast_changed); break;
    case Kind::kSnapshotBegun: begin_snapshot(fact.snapshot_begun); break;
    case Kind::kSnapshotSaved: save_learner(fact.snapshot_saved); break;
    case Kind::kSnapshotEnded: end_snapshot(fact.snapshot_ended); break;
    default: break;
  }
  if (++facts_gathered_ >= kFactsMax || graph_.size() >= kNodesMax) flush();
}

void Trainer::on(const StepsDone& fact) {
  if (fact.count > 0) last_step_ = std::max(last_step_, fact.first_step + fact.count - 1);
  if (!counts(fact.learner)) return;
  Learner& learner = at(fact.learner);
  StepRun run{fact.first_step, fact.schedule_step, fact.count, membership_.slots(fact.learner)};
  if (fact.count == 0 || run.slots->slots.empty()) return;
  model_changed_by(fact.learner);
  if (learner.open_runs && !graph_.is_done(learner.last)) {
    append_run(*learner.open_runs, std::move(run));
    return;
  }
  auto runs = std::make_shared<std::vector<StepRun>>(1, std::move(run));
  chain(learner, Phase::kStepping, {}, [this, &learner, runs](const Worker& worker) {
    runner_.run(*runs, learner.state, worker);
  });
  learner.open_runs = std::move(runs);
}

void Trainer::on(const FragmentTaken& fact) {
  Learner& learner = at(fact.learner);
  const optim::Fragment& fragment = global_.fragment(fact.fragment);
  const TakeKey key{fact.sync, fact.fragment, fact.learner};
  auto block = std::make_shared<SharedBlock>();
  const auto [place, is_new] = takes_.try_emplace(
      key, Take{block, global_.received(fact.fragment, fact.learner), fact.incarnation});
  if (!is_new) tape_error("a fragment is taken twice for sync", fact.sync);
  if (!counts(fact.learner)) {
    const auto in_flight = options_.resume->takes.find(key);
    place->second.block = in_flight == options_.resume->takes.end() ? nullptr : in_flight->second;
    return;
  }
  if (crosses_cut(fact.learner)) gathered_->snapshot.takes.emplace(key, block);
  block->producer =
      chain(learner, Phase::kReading, {}, [&learner, &fragment, block](const Worker&) {
        block->values = optim::AlignedBlock(fragment.size);
        pack(fragment, learner.state.parameters.span(), block->values.span());
      });
}

void Trainer::on(base::Nanoseconds date, const FragmentMerged& fact) {
  std::vector<GlobalModel::Part> parts;
  for (std::uint32_t i = 0; i < fact.contributor_count; ++i) {
    const Contributor& contributor = fact.contributors[i];
    const auto take = takes_.find({fact.sync, fact.fragment, contributor.learner});
    if (take == takes_.end()) tape_error("a contributor has no take for sync", fact.sync);
    if (take->second.incarnation != contributor.incarnation) {
      tape_error("a contributor is of another incarnation than its take for sync", fact.sync);
    }
    if (syncer_counts() && !take->second.block) {
      tape_error("the snapshot lacks a take that was in flight for sync", fact.sync);
    }
    parts.push_back({contributor.weight, std::move(take->second.block),
                     std::move(take->second.anchor)});
    takes_.erase(take);
  }
  const auto left = takes_.lower_bound({fact.sync, fact.fragment, 0});
  if (left != takes_.end() && std::get<0>(left->first) == fact.sync &&
      std::get<1>(left->first) == fact.fragment) {
    tape_error("a take is neither merged nor lost in sync", fact.sync);
  }
  if (!syncer_counts()) return;
  ConvergenceRow* row = nullptr;
  if (convergence_.wants(merge_count_)) {
    row = &pending_rows_.emplace_back();
    *row = {.at = date, .merge_index = merge_count_, .sync = fact.sync, .step = fact.step,
            .version = fact.version, .fragment = fact.fragment, .epoch = fact.epoch,
            .contributors = fact.contributor_count};
  }
  global_.merge(fact.fragment, fact.sync, std::move(parts), row);
  ++merge_count_;
  if (!shape_.model_is_learner) model_is_evaluated_ = false;
}

void Trainer::on(const FragmentLost& fact) {
  if (takes_.erase({fact.sync, fact.fragment, fact.learner}) == 0) {
    tape_error("a fragment is lost that was not taken for sync", fact.sync);
  }
}

void Trainer::on(const FragmentAdopted& fact) {
  if (!syncer_counts()) return;
  Learner& learner = at(fact.learner);
  const optim::Fragment& fragment = global_.fragment(fact.fragment);
  std::shared_ptr<SharedBlock> block = global_.adopt(fact.fragment, fact.sync, fact.learner);
  if (!counts(fact.learner)) return;  // only the syncer's books: who holds what
  model_changed_by(fact.learner);
  chain(learner, Phase::kReceiving, {block->producer},
        [&learner, &fragment, block, mixing = options_.mixing](const Worker&) {
          adopt(fragment, mixing, block->values.span(), learner.state.parameters.span());
        });
}

void Trainer::on(const BroadcastChanged& fact) {
  if (!syncer_counts()) return;
  global_.broadcast_changed(fact.fragment, fact.sync, fact.learner, fact.sent != 0);
}

void Trainer::on(const StateSent& fact) {
  const auto [place, is_new] = transfers_.try_emplace(fact.transfer);
  if (!is_new) tape_error("state is sent twice in transfer", fact.transfer);
  const bool from_syncer = fact.donor == kNoLearner;
  if (!from_syncer && syncer_counts()) global_.share_broadcasts(fact.donor, fact.receiver);
  if (from_syncer ? !syncer_counts() : !counts(fact.donor)) {
    const auto in_flight = options_.resume->transfers.find(fact.transfer);
    if (in_flight != options_.resume->transfers.end()) place->second.state = in_flight->second;
    return;
  }
  if (from_syncer) {
    place->second = {read_global_state(), global_.current()};
    return;
  }
  place->second = {read_state(at(fact.donor)), global_.received(fact.donor)};
  if (crosses_cut(fact.donor)) {
    gathered_->snapshot.transfers.emplace(fact.transfer, place->second.state);
  }
}

void Trainer::on(const StateCopied& fact) {
  const auto transfer = transfers_.find(fact.transfer);
  if (transfer == transfers_.end()) {
    tape_error("state arrives that nobody sent in transfer", fact.transfer);
  }
  const StateTransfer arrived = std::move(transfer->second);
  transfers_.erase(transfer);
  if (!counts(fact.receiver)) return;
  if (!arrived.state) {
    tape_error("the snapshot lacks a state that was in flight in transfer", fact.transfer);
  }
  overwrite(fact.receiver, arrived.state);
  global_.set_received(fact.receiver, arrived.received);
}

void Trainer::on(const StateLost& fact) {
  if (transfers_.erase(fact.transfer) == 0) {
    tape_error("state is lost that nobody sent in transfer", fact.transfer);
  }
}

void Trainer::on(const CheckpointSaved& fact) {
  if (fact.learner == kNoLearner) {
    if (syncer_counts()) global_.save();
    return;
  }
  if (!counts(fact.learner)) return;
  Learner& learner = at(fact.learner);
  learner.checkpoint = read_state(learner);
  learner.checkpoint_received = global_.received(fact.learner);
  learner.checkpoint_step = fact.step;
}

void Trainer::on(const RolledBack& fact) {
  if (!counts(fact.learner)) return;
  const Learner& learner = at(fact.learner);
  const bool has_checkpoint = fact.to_step > 0 && learner.checkpoint;
  if (has_checkpoint && learner.checkpoint_step != fact.to_step) {
    throw std::logic_error(fmt::format("learner {} rolls back to step {}; its checkpoint holds {}",
                                       fact.learner, fact.to_step, learner.checkpoint_step));
  }
  overwrite(fact.learner, has_checkpoint ? learner.checkpoint : initial_);
  global_.set_received(fact.learner,
                       has_checkpoint ? learner.checkpoint_received : initial_received_);
}

void Trainer::on(const FragmentRestored& fact) {
  if (!syncer_counts()) return;
  global_.go_back(fact.fragment, fact.shard);
  model_is_evaluated_ = false;
}

void Trainer::on(const GlobalRestored& fact) {
  if (fact.learner == kNoLearner) {
    if (syncer_counts()) global_.load();
  } else {
    restore_global_from(fact);
  }
  if (!shape_.model_is_learner) model_is_evaluated_ = false;
}

// The learner's parameters become the global ones.
void Trainer::restore_global_from(const GlobalRestored& fact) {
  if (!syncer_counts()) return;
  if (!counts(fact.learner)) {
    const auto in_flight = options_.resume->restores.find(fact.epoch);
    if (in_flight == options_.resume->restores.end()) {
      tape_error("the snapshot lacks the parameters that open epoch", fact.epoch);
    }
    return global_.restore(in_flight->second);
  }
  std::shared_ptr<SharedBlock> parameters = read_parameters(at(fact.learner));
  if (crosses_cut(fact.learner)) gathered_->snapshot.restores.emplace(fact.epoch, parameters);
  global_.restore(std::move(parameters));
}

Trainer::Learner& Trainer::at(std::uint16_t learner) {
  if (learner < learners_.size()) return learners_[learner];
  throw std::logic_error(fmt::format("learner {} of {}", learner, learners_.size()));
}

NodeId Trainer::chain(Learner& learner, Phase phase, std::vector<NodeId> after, Task task) {
  learner.open_runs = nullptr;
  if (phase < learner.phase || !graph_.extend(learner.last, after, task)) {
    after.push_back(learner.last);
    learner.last = graph_.add(after, std::move(task));
  }
  learner.phase = phase;
  return learner.last;
}

// Work that only led up to the overwritten state is never done.
void Trainer::overwrite(std::uint16_t index, std::shared_ptr<const SharedState> source) {
  Learner& learner = at(index);
  model_changed_by(index);
  if (learner.phase != Phase::kReading) graph_.drop_tasks(learner.last);
  chain(learner, Phase::kReceiving, {source->producer},
        [&learner, source](const Worker&) { learner.state = source->state; });
}

std::shared_ptr<SharedState> Trainer::read_state(Learner& learner) {
  auto copy = std::make_shared<SharedState>();
  copy->producer = chain(learner, Phase::kReading, {},
                         [&learner, copy](const Worker&) { copy->state = learner.state; });
  return copy;
}

std::shared_ptr<SharedBlock> Trainer::read_parameters(Learner& learner) {
  auto copy = std::make_shared<SharedBlock>();
  copy->producer = chain(learner, Phase::kReading, {}, [&learner, copy](const Worker&) {
    copy->values = learner.state.parameters;
  });
  return copy;
}

std::shared_ptr<SharedState> Trainer::read_global_state() {
  std::shared_ptr<SharedBlock> global = current_global();
  auto copy = std::make_shared<SharedState>();
  const NodeId after[] = {global->producer};
  copy->producer = graph_.add(after, [this, copy, global](const Worker&) {
    copy->state = {global->values, initial_->state.inner};
  });
  return copy;
}

std::shared_ptr<SharedBlock> Trainer::current_global() {
  return shape_.model_is_learner ? read_parameters(learners_[0]) : global_.assemble();
}

void Trainer::model_changed_by(std::uint16_t learner) {
  if (shape_.model_is_learner && learner == 0) model_is_evaluated_ = false;
}

}  // namespace sim::trainer
