// sim/experiment/simulate.cpp: see simulate.h.
#include "sim/experiment/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "sim/chaos/fault_schema.h"
#include "sim/chaos/injector.h"
#include "sim/engine/flow_network.h"
#include "sim/engine/transport.h"
#include "sim/experiment/liveness_bound.h"
#include "sim/experiment/faults_never_met.h"
#include "sim/experiment/marks.h"
#include "sim/experiment/proxy.h"
#include "sim/experiment/result_files.h"
#include "sim/experiment/version.h"
#include "sim/methods/method.h"
#include "sim/methods/training_schema.h"
#include "sim/readers/recovery_times.h"
#include "sim/scenario/load.h"
#include "sim/trainer/trainer.h"

namespace sim::experiment {
namespace {

using base::Nanoseconds;

// A fault that takes hosts, or a rule that does not count on them, makes it matter who holds what.
bool state_may_die(const scenario::Arm& arm) {
  const auto takes_hosts = [](tape::TargetKind kind) {
    return kind == tape::TargetKind::kIsland || kind == tape::TargetKind::kRegion ||
           kind == tape::TargetKind::kSyncer;
  };
  return arm.training.elasticity.recovery != methods::Recovery::kHostMemory ||
         std::ranges::any_of(arm.failures, takes_hosts, &chaos::FailureOptions::target) ||
         std::ranges::any_of(arm.faults, takes_hosts, &chaos::FaultOptions::target_kind);
}

bool simulates_merges(const scenario::Scenario& scenario, const scenario::Arm& arm) {
  if (methods::meets_at_barriers(arm.training.method)) return true;
  return arm.training.method == methods::MethodKind::kDecoupledDiloco &&
         (scenario.network.model != engine::NetworkModel::kNone ||
          arm.learning.model.kind != optim::ModelKind::kNone || state_may_die(arm));
}

readers::LivenessOptions liveness_options(const scenario::Scenario& scenario,
                                          const scenario::Arm& arm, bool merges) {
  readers::LivenessOptions options{.bound = liveness_bound(scenario, arm),
                                   .merges = merges,
                                   .quorum = 1,
                                   .elastic = arm.training.elasticity.elastic,
                                   .center = {}};
  if (!merges) return options;
  options.quorum = static_cast<std::uint32_t>(arm.training.quorum);
  if (arm.training.method == methods::MethodKind::kDecoupledDiloco &&
      arm.training.syncer.placement == methods::SyncerPlacement::kCentral) {
    options.center = engine::region_index(scenario.network, arm.training.syncer.region);
  }
  return options;
}

readers::AccountOptions account_options(const scenario::Scenario& scenario,
                                        const scenario::Arm& arm, bool merges) {
  const methods::TrainingOptions& training = arm.training;
  return {.quorum = merges ? static_cast<std::uint32_t>(training.quorum) : 0,
          .overlap_steps = static_cast<std::uint32_t>(training.overlap_steps),
          .counting = merges ? readers::TokenCounting::kAtMerge : readers::TokenCounting::kAtOnce,
          .mixing = merges ? training.mixing : 0,
          .transfers_are_told = scenario.network.model != engine::NetworkModel::kNone,
          .liveness = liveness_options(scenario, arm, merges),
          .energy = scenario.energy,
          .cost = scenario.cost};
}

std::string model_name(optim::ModelKind kind) {
  switch (kind) {
    case optim::ModelKind::kQuadratic:
      return "quadratic";
    case optim::ModelKind::kSoftmax:
      return "softmax";
    case optim::ModelKind::kMlp:
      return "mlp";
    case optim::ModelKind::kTransformer:
      return "transformer";
    case optim::ModelKind::kNone:
      break;
  }
  return "none";
}

std::string task_name(optim::TaskKind kind) {
  switch (kind) {
    case optim::TaskKind::kQuadratic:
      return "quadratic";
    case optim::TaskKind::kTeacher:
      return "teacher";
    case optim::TaskKind::kText:
      return "text";
    case optim::TaskKind::kCsv:
      return "csv";
    case optim::TaskKind::kMarkov:
      break;
  }
  return "markov";
}

// Tells how far the run is, now and then; on the tape, so that it keeps no date of its own.
class ProgressReader final : public tape::Reader {
 public:
  explicit ProgressReader(std::function<void()> tell) : tell_(std::move(tell)) {}
  void on(const tape::Fact&) override {
    constexpr std::uint64_t kInterval = 8192;
    if (++facts_ % kInterval == 0) tell_();
  }

 private:
  std::function<void()> tell_;
  std::uint64_t facts_ = 0;
};

// One run's objects, in the order in which they depend on each other.
class Run {
 public:
  explicit Run(const SimulateRequest& request)
      : request_(request),
        scenario_(*request.scenario),
        arm_(scenario_.arms.at(request.arm)),
        origin_(snapshot_origin(scenario_, arm_, request.seed)),
        merges_(simulates_merges(scenario_, arm_)),
        fleet_(methods::make_fleet(scenario_.model, scenario_.spread, scenario_.network,
                                   scenario_.islands, arm_.training, slots(), request.seed)),
        network_(engine::make_network(scenario_.network)),
        conductor_(*network_),
        transport_(conductor_, *network_, scenario_.network, tape_),
        account_(fleet_.shape, account_options(scenario_, arm_, merges_)),
        recovery_times_(fleet_.shape, merges_ ? arm_.training.sync_every : 0),
        marks_(conductor_, tape_, fleet_.shape, account_, scenario_.marks, evaluations()),
        world_{conductor_, transport_,       tape_,  fleet_,       scenario_.model,
               scenario_.network, arm_.training, marks_, request.seed, scenario_.spread.step_sd,
               merges_},
        method_(methods::make_method(world_)),
        injector_(world_, *method_, arm_.failures, arm_.faults),
        progress_([this] { request_.progress(share_done()); }) {
    tape_.add(account_);
    tape_.add(recovery_times_);
    tape_.add(marks_);
    tape_.add(injector_);
    if (request.progress) tape_.add(progress_);
    if (learns()) {
      trainer_ = std::make_unique<trainer::Trainer>(fleet_.shape, trainer_options());
      tape_.add(*trainer_);
    }
    if (!request.results_folder.empty()) {
      files_ = std::make_unique<ResultFiles>(request.results_folder, fleet_.shape, account_);
      files_->read(tape_);
      if (request.record) files_->record(tape_, origin_.scenario_hash);
      // The one that the run goes on from belongs to its results like those that follow.
      if (request.resume) files_->write_snapshot(request.resume->snapshot, request.resume->origin);
    }
  }

  report::Summary run() {
    conductor_.spawn(begin(), {engine::Priority::kStep, 0});
    const auto outcome = conductor_.run();
    if (outcome == engine::Conductor::Outcome::kStuck) {
      throw std::logic_error(fmt::format("nothing can happen any more at {} s",
                                         base::format_seconds(conductor_.now())));
    }
    method_->tell_finished_steps();
    tape_.append({conductor_.now(), tape::RunEnded{account_.tokens().consumed_tokens()}});
    if (trainer_) trainer_->finish();
    const report::Summary told = summary();
    if (files_) files_->write(told, trainer_.get());
    return told;
  }

 private:
  bool learns() const { return arm_.learning.model.kind != optim::ModelKind::kNone; }
  std::uint32_t slots() const {
    return learns() ? static_cast<std::uint32_t>(arm_.learning.batch) : 0;
  }
  std::int64_t evaluations() const { return learns() ? arm_.learning.evaluations : 0; }

  trainer::TrainerOptions trainer_options() const {
    trainer::TrainerOptions options =
        experiment::trainer_options(arm_, request_.seed, static_cast<std::size_t>(request_.threads));
    if (request_.resume) {
      options.resume = {request_.resume, &request_.resume->snapshot};
    }
    if (!request_.results_folder.empty()) {
      options.on_snapshot = [this](const trainer::Snapshot& snapshot) {
        files_->write_snapshot(snapshot, origin_);
      };
    }
    return options;
  }

  // The first doings happen inside the engine.
  engine::Process begin() {
    method_->start();
    injector_.start();
    marks_.start({.tell_finished_steps = [this] { method_->tell_finished_steps(); },
                  .last_loss = [this] { return last_loss(); }});
    if (request_.abort_at_s) {
      conductor_.call_at(base::from_seconds(*request_.abort_at_s), {engine::Priority::kMark, 2},
                         [] { std::abort(); });
    }
    co_return;
  }

  // A decision: the trainer is forced up to the fact just written.
  double last_loss() {
    trainer_->flush();
    return trainer_->last_loss();
  }

  double share_done() const {
    const auto share = [](double done, double all) { return all > 0 ? std::min(1.0, done / all) : 1.0; };
    return std::min(share(base::to_seconds(conductor_.now()), base::to_seconds(scenario_.marks.time)),
                    share(static_cast<double>(account_.tokens().consumed_tokens()),
                          scenario_.marks.tokens));
  }

  report::Summary summary() const;
  void fill_learning(report::Summary& summary) const;
  std::string clock_name() const;

  const SimulateRequest& request_;
  const scenario::Scenario& scenario_;
  const scenario::Arm& arm_;
  trainer::SnapshotOrigin origin_;
  bool merges_;
  methods::Fleet fleet_;
  std::unique_ptr<engine::FlowNetwork> network_;
  tape::Tape tape_;
  engine::Conductor conductor_;
  engine::Transport transport_;
  readers::RunAccount account_;
  readers::RecoveryTimes recovery_times_;
  Marks marks_;
  methods::World world_;
  std::unique_ptr<methods::Method> method_;
  chaos::Injector injector_;
  ProgressReader progress_;
  std::unique_ptr<trainer::Trainer> trainer_;
  std::unique_ptr<ResultFiles> files_;
};

std::string Run::clock_name() const {
  if (arm_.failures.empty()) return "none";
  const chaos::Clock first = arm_.failures[0].clock;
  const bool all = std::ranges::count(arm_.failures, first, &chaos::FailureOptions::clock) ==
                   std::ranges::ssize(arm_.failures);
  return all ? std::string(chaos::clock_name(first)) : "mixed";
}

report::Summary Run::summary() const {
  report::Summary summary;
  const scenario::MarkOptions& marks = scenario_.marks;
  const auto declare = [&summary](tape::MarkKind mark, bool declared) {
    if (declared) summary.marks.push_back({std::string(report::mark_name(mark)), {}, {}, {}});
  };
  declare(tape::MarkKind::kTime, marks.time > 0);
  declare(tape::MarkKind::kTokens, marks.tokens > 0);
  declare(tape::MarkKind::kEnergy, marks.energy_kwh > 0);
  declare(tape::MarkKind::kCost, marks.cost_usd > 0);
  declare(tape::MarkKind::kLoss, marks.loss > 0);
  report::fill(summary, fleet_.shape, account_);
  summary.scenario = scenario_.name;
  summary.scenario_hash = origin_.scenario_hash;
  summary.set_hash = scenario::set_hash(scenario_);
  summary.arm = arm_.training.name;
  summary.method = methods::method_name(arm_.training.method);
  summary.seed = request_.seed;
  summary.version = version_text();
  summary.isa_level = isa_text();
  summary.trace_hash = tape_.trace_hash();
  summary.clock = clock_name();
  summary.faults_never_met = faults_never_met(injector_.never_met(), conductor_.now());
  summary.nominal.parameters = scenario_.model.parameters;
  summary.recovery_times = {
      merges_ ? std::optional(recovery_times_.bound_steps()) : std::nullopt,
      recovery_times_.beyond_bound(), recovery_times_.longest_steps()};
  if (trainer_) fill_learning(summary);
  return summary;
}

void Run::fill_learning(report::Summary& summary) const {
  const auto& evaluations = trainer_->evaluations();
  if (const double loss = trainer_->initial_loss(); std::isfinite(loss)) summary.loss.initial = loss;
  if (const auto& diverged = trainer_->diverged()) {
    summary.diverged = {diverged->at, diverged->step};
  } else if (!evaluations.empty()) {
    summary.loss.last = evaluations.back().loss;
  }
  if (const double floor = trainer_->loss_floor(); floor == floor) summary.loss.floor = floor;
  for (report::MarkSummary& mark : summary.marks) {
    for (const auto& reached : trainer_->marks()) {
      if (mark.name != report::mark_name(reached.mark)) continue;
      mark.loss = reached.evaluation.loss;
      const auto tokens = static_cast<double>(account_.at_mark(reached.mark)->syncs.last_step) *
                          static_cast<double>(fleet_.shape.batch_tokens);
      mark.learning_rate_factor = optim::schedule_factor(arm_.learning.schedule, tokens);
    }
  }
  summary.proxy.emplace();
  summary.proxy->model = model_name(arm_.learning.model.kind);
  summary.proxy->task = task_name(arm_.learning.task.kind);
  summary.proxy->optimizer = arm_.training.inner.kind == optim::InnerKind::kAdamW ? "adamw" : "sgd";
  summary.proxy->parameters = static_cast<std::int64_t>(trainer_->proxy_parameters());
  summary.proxy->batch = arm_.learning.batch;
  const trainer::DataOptions& data = arm_.learning.data;
  if (!data.file.empty()) summary.proxy->data = {data.file, data.bytes, data.checksum};
}

}  // namespace

report::Summary simulate(const SimulateRequest& request) {
  Run run(request);
  return run.run();
}

}  // namespace sim::experiment
