// tests/methods/world_fixture.h: a whole world built by hand, without scenario files: a fleet, an arm,
// faults, and the tape of what happened.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/chaos/injector.h"
#include "sim/engine/flow_network.h"
#include "sim/methods/method.h"
#include "sim/readers/run_account.h"

namespace sim::methods {

using base::kMillisecond;
using base::kMinute;
using base::kNever;
using base::kSecond;

// Keeps every fact; the contributors of merges are copied beside it.
class Recorder : public tape::Reader {
 public:
  void on(const tape::Fact& fact) override {
    facts.push_back(fact);
    if (fact.kind == tape::Kind::kFragmentMerged) {
      contributors.emplace_back(
          fact.fragment_merged.contributors,
          fact.fragment_merged.contributors + fact.fragment_merged.contributor_count);
    }
  }
  std::vector<tape::Fact> of(tape::Kind kind) const {
    std::vector<tape::Fact> found;
    for (const tape::Fact& fact : facts) {
      if (fact.kind == kind) found.push_back(fact);
    }
    return found;
  }
  std::vector<tape::Fact> facts;  // a merge's own list of contributors is gone: see below
  std::vector<std::vector<tape::Contributor>> contributors;
};

// Steps of one second; two slices of eight chips in each island; one region and no network unless
// said otherwise. Every duration is chosen so that dates can be added up in the head.
struct Setup {
  NominalModelOptions model{.parameters = 1'000'000,
                            .layers = 0,
                            .width = 0,
                            .vocabulary = 0,
                            .batch_tokens = 4096,
                            .utilization = 0.5,
                            .gradient_bytes = 2,
                            .state_bytes = 14,
                            .syncer_state_bytes = 8};
  SpeedSpreadOptions spread{.island_sd = 0, .step_sd = 0};
  engine::NetworkOptions network{.model = engine::NetworkModel::kNone,
                                 .regions = {{"here", 50e9, 50'000}},
                                 .links = {}};
  std::vector<IslandOptions> islands;
  TrainingOptions training = default_training();
  std::vector<chaos::FailureOptions> failures;
  std::vector<chaos::FaultOptions> faults;
  Nanoseconds duration = 60 * kSecond;
  std::uint64_t seed = 1;
  bool with_merges = true;

  void add_island(const std::string& name, const std::string& region, double speed = 1,
                  std::int64_t slices = 2) {
    islands.push_back({name, 1, region, "", 8 * slices, slices, 1e12, speed});
  }
  void kill(tape::TargetKind kind, const std::string& target, Nanoseconds at, Nanoseconds lasts) {
    faults.push_back({at, tape::FaultKind::kKill, kind, target, lasts, 0, true});
  }
  void partition(tape::TargetKind kind, const std::string& target, Nanoseconds at,
                 Nanoseconds lasts) {
    faults.push_back({at, tape::FaultKind::kPartition, kind, target, lasts, 0, true});
  }
  void cut_rate(const std::string& link, Nanoseconds at, Nanoseconds lasts, double factor) {
    faults.push_back({at, tape::FaultKind::kRateCut, tape::TargetKind::kLink, link, lasts, factor,
                      true});
  }
  // Regions r0 .. r<n-1> in place of "here", a link of `bytes_per_s` and 20 ms of round trip between
  // each pair. To be lived inside run_forked only.
  void use_network(std::size_t region_count, double bytes_per_s = 1e7) {
    network.model = engine::NetworkModel::kSimgrid;
    network.regions.clear();
    network.links.clear();
    for (std::size_t r = 0; r < region_count; ++r) {
      network.regions.push_back({"r" + std::to_string(r), 1e9, 50'000});
      for (std::size_t other = 0; other < r; ++other) {
        network.links.push_back({"r" + std::to_string(other), "r" + std::to_string(r), bytes_per_s,
                                 20 * kMillisecond});
      }
    }
  }

  static TrainingOptions default_training() {
    TrainingOptions t{};
    t.name = "arm";
    t.method = MethodKind::kDecoupledDiloco;
    t.learners = LearnerSplit::kIslands;
    t.batch_split = BatchSplit::kEqual;
    t.step_time = kSecond;
    t.elasticity = {.elastic = true,
                    .detection = 0,
                    .downscale = 3 * kSecond,
                    .upscale = 2 * kSecond,
                    .restart = 5 * kSecond,
                    .second_hit = SecondHit::kRestart,
                    .failure_acts = FailureActs::kAtOnce,
                    .join_state = false,
                    .recovery = Recovery::kHostMemory,
                    .timeout = 0};
    t.checkpoint = {.every = 0, .save = 0, .load = 0, .redo = false};
    t.reduce = ReduceKind::kTwoLevel;
    // So many that the last one takes no time: what slices reduce inside a region hides in a step.
    t.buckets = 10'000'000;
    t.fragments = 2;
    t.sync_every = 2;
    t.overlap_steps = 1;
    t.quorum = 1;
    t.grace = GraceKind::kNone;
    t.grace_margin = 0.9;
    t.tracking = 0.5;
    t.late = LatePolicy::kSkip;
    t.adoption = Adoption::kOnArrival;
    t.mixing = 0;
    t.wire = optim::WireFormat::kBf16;
    t.metadata_bytes = 100;
    t.resume_within = 4;
    t.syncer = {.placement = SyncerPlacement::kPerLearner,
                .region = "",
                .nic_bytes_per_s = 1e10,
                .merge_bytes_per_s = 1e10,
                .on_kill = OnSyncerKill::kPause};
    t.token_weights = true;
    return t;
  }
};

inline bool simulates_merges(const Setup& setup) {
  return meets_at_barriers(setup.training.method) ||
         (setup.with_merges && setup.training.method == MethodKind::kDecoupledDiloco);
}

inline readers::AccountOptions account_options(const Setup& setup) {
  const bool merges = simulates_merges(setup);
  return {.quorum = merges ? static_cast<std::uint32_t>(setup.training.quorum) : 0,
          .overlap_steps = static_cast<std::uint32_t>(setup.training.overlap_steps),
          .counting = merges ? readers::TokenCounting::kAtMerge : readers::TokenCounting::kAtOnce,
          .mixing = merges ? setup.training.mixing : 0};
}

struct Lived {
  Recorder recorder;
  std::unique_ptr<Fleet> fleet;
  std::unique_ptr<readers::RunAccount> account;
  std::uint64_t trace_hash = 0;
  bool stuck = false;
  bool network_whole = false;  // at the end every region and link is up, at its nominal rate
  const std::vector<tape::Fact>& facts() const { return recorder.facts; }
};

namespace detail {

class NoHorizon : public Horizon {
 public:
  std::uint32_t steps_until_due(std::uint64_t) const override { return UINT32_MAX; }
};

// A megabyte takes each link as long as it did before any fault.
inline bool network_is_whole(const engine::Transport& transport, const tape::RunShape& shape) {
  constexpr std::int64_t kBytes = 1'000'000;
  for (const tape::LinkShape& link : shape.links) {
    if (!transport.reachable(link.region_a, link.region_b)) return false;
    const Nanoseconds nominal =
        link.one_way + base::from_seconds(static_cast<double>(kBytes) / link.bytes_per_s);
    const engine::Hop hop{link.region_a, link.region_b, kBytes};
    if (shape.regions.size() > 1 && transport.duration_alone(hop) != nominal) return false;
  }
  return true;
}

inline engine::Process begin(Method& method, chaos::Injector& injector) {
  method.start();
  injector.start();
  co_return;
}

}  // namespace detail

// Runs the world to its end in this process: with NetworkModel::kSimgrid only inside run_forked.
inline Lived live(const Setup& setup) {
  Lived lived;
  lived.fleet = std::make_unique<Fleet>(make_fleet(setup.model, setup.spread, setup.network,
                                                   setup.islands, setup.training, 0, setup.seed));
  const auto network = engine::make_network(setup.network);
  tape::Tape tape;
  engine::Conductor conductor(*network);
  engine::Transport transport(conductor, *network, setup.network, tape);
  const bool merges = simulates_merges(setup);
  lived.account = std::make_unique<readers::RunAccount>(lived.fleet->shape, account_options(setup));
  const detail::NoHorizon horizon;
  World world{conductor,     transport,      tape,    *lived.fleet, setup.model,
              setup.network, setup.training, horizon, setup.seed,   setup.spread.step_sd,
              merges};
  const auto method = make_method(world);
  chaos::Injector injector(world, *method, setup.failures, setup.faults);
  tape.add(*lived.account);
  tape.add(injector);
  tape.add(lived.recorder);
  conductor.call_at(setup.duration, {engine::Priority::kMark, 0}, [&] { conductor.stop(); });
  conductor.spawn(detail::begin(*method, injector), {engine::Priority::kStep, 0});
  lived.stuck = conductor.run() == engine::Conductor::Outcome::kStuck;
  lived.network_whole = detail::network_is_whole(transport, lived.fleet->shape);
  method->tell_finished_steps();
  tape.append({conductor.now(), tape::RunEnded{lived.account->tokens().consumed_tokens()}});
  lived.trace_hash = tape.trace_hash();
  return lived;
}

}  // namespace sim::methods
