// sim/scenario/validate_arm.cpp: checks of one arm against itself, its proxy and the fleet.
#include <fmt/format.h>

#include <algorithm>

#include "optim/csv_task.h"
#include "optim/fragments.h"
#include "optim/model.h"
#include "optim/text_task.h"
#include "sim/methods/fleet.h"
#include "sim/scenario/arm_fleet.h"
#include "sim/scenario/forecast.h"
#include "sim/scenario/link_forecast.h"
#include "sim/scenario/validate.h"

namespace sim::scenario {

using base::Place;
using base::Problems;
using methods::LearnerSplit;
using methods::MethodKind;
using methods::TrainingOptions;

namespace {

// One arm and where its keys stand.
struct Case {
  const Bound& bound;
  const Scenario& scenario;
  const Arm& arm;
  const TrainingOptions& training;
  const base::Value& tree;
  Problems& problems;

  Place at(const std::string& key) const { return place_of(tree, {"training", key}); }
};

Case case_of(const Bound& bound, std::size_t arm_index, Problems& problems) {
  const Arm& arm = bound.scenario.arms[arm_index];
  return {bound, bound.scenario, arm, arm.training, bound.arms[arm_index], problems};
}

void check_use(const Case& c) {
  for (const std::string& entry : c.training.use) {
    const bool known = std::any_of(
        c.scenario.islands.begin(), c.scenario.islands.end(),
        [&](const methods::IslandOptions& group) { return used_count(group, {entry}) > 0; });
    if (known) continue;
    c.problems.add(c.at("use"), fmt::format("names nothing with islands; got \"{}\"", entry),
                   "write region:NAME or island:NAME");
  }
}

void check_learners(const Case& c) {
  const std::int64_t slices = used_slices(c.scenario, c.training);
  if (c.training.learners == LearnerSplit::kGroups && c.training.groups > 0 && slices > 0 &&
      slices % c.training.groups != 0) {
    c.problems.add(c.at("learners"), fmt::format("must divide the number of slices in use ({}); got {}",
                                                 slices, c.training.groups));
  }
  constexpr std::int64_t kMostLearners = 65534;  // indices are 16 bits wide
  if (learner_count(c.scenario, c.training) > kMostLearners) {
    c.problems.add(c.at("learners"), fmt::format("must make at most {} learners; got {}", kMostLearners,
                                                 learner_count(c.scenario, c.training)));
  }
}

void check_schedule_of_syncs(const Case& c) {
  const TrainingOptions& t = c.training;
  if (t.method == MethodKind::kDataParallel || t.sync_every < 1) return;
  const std::int64_t learners = learner_count(c.scenario, t);
  if (learners > 0 && t.quorum > learners) {
    c.problems.add(c.at("quorum"), fmt::format("must not exceed the number of learners ({}); got {}",
                                               learners, t.quorum));
  }
  if (!t.overlap_fit && t.overlap_steps >= t.sync_every) {
    c.problems.add(c.at("overlap_steps"),
                   fmt::format("must be less than training.sync_every ({}); got {}", t.sync_every,
                               t.overlap_steps));
  }
  if (t.overlap_steps == 0 && methods::meets_at_barriers(t.method) &&
      t.late != methods::LatePolicy::kBlock) {
    c.problems.add(c.at("late"),
                   fmt::format("must be \"block\" where training.overlap_steps is 0; got \"{}\"",
                               t.late == methods::LatePolicy::kSkip ? "skip" : "stale"),
                   "no merge is there at the step of its take");
  }
  if (t.fragments > t.sync_every) {
    c.problems.add(c.at("fragments"), fmt::format("must not exceed training.sync_every ({}); got {}",
                                                  t.sync_every, t.fragments),
                   "at most one fragment is due at a step");
  }
  if (t.fragments > c.scenario.model.parameters && c.scenario.model.parameters > 0) {
    c.problems.add(c.at("fragments"), fmt::format("must not exceed model.parameters ({}); got {}",
                                                  c.scenario.model.parameters, t.fragments));
  }
}

void check_syncer(const Case& c) {
  const TrainingOptions& t = c.training;
  if (t.method != MethodKind::kDecoupledDiloco || t.syncer.region.empty()) return;
  const auto& regions = c.scenario.network.regions;
  if (std::none_of(regions.begin(), regions.end(),
                   [&](const auto& region) { return region.name == t.syncer.region; })) {
    c.problems.add(place_of(c.tree, {"training", "syncer", "region"}),
                   fmt::format("no [[region]] has this name; got \"{}\"", t.syncer.region));
  }
}

// The divisor of `width` that is nearest to `heads`.
std::size_t nearest_divisor(std::size_t width, std::size_t heads) {
  std::size_t best = 1;
  for (std::size_t divisor = 1; divisor <= width; ++divisor) {
    const auto away = [&](std::size_t count) { return count > heads ? count - heads : heads - count; };
    if (width % divisor == 0 && away(divisor) < away(best)) best = divisor;
  }
  return best;
}

void check_transformer(const Case& c) {
  const trainer::LearningOptions& learning = c.arm.learning;
  const optim::ModelOptions& model = learning.model;
  if (model.kind != optim::ModelKind::kTransformer) return;
  if (learning.task.kind == optim::TaskKind::kTeacher ||
      learning.task.kind == optim::TaskKind::kCsv) {
    const bool teacher = learning.task.kind == optim::TaskKind::kTeacher;
    c.problems.add(place_of(c.tree, {"learning", "task"}),
                   fmt::format("must give sequences where learning.model is \"transformer\"; got \"{}\"",
                               teacher ? "teacher" : "csv"),
                   "write task = \"markov\" or task = \"text\"");
  }
  if (model.width > 0 && model.heads > 0 && model.width % model.heads != 0) {
    c.problems.add(place_of(c.tree, {"learning", "heads"}),
                   fmt::format("must divide learning.width ({}); got {}", model.width, model.heads),
                   fmt::format("the nearest that does is {}", nearest_divisor(model.width, model.heads)));
  }
}

void check_learning(const Case& c) {
  const trainer::LearningOptions& learning = c.arm.learning;
  if (learning.model.kind == optim::ModelKind::kNone) return;
  const bool quadratic_model = learning.model.kind == optim::ModelKind::kQuadratic;
  const bool quadratic_task = learning.task.kind == optim::TaskKind::kQuadratic;
  if (quadratic_model != quadratic_task) {
    c.problems.add(place_of(c.tree, {"learning", "task"}),
                   "must be \"quadratic\" where learning.model is, and only there",
                   quadratic_model ? "write task = \"quadratic\"" : "write model = \"quadratic\"");
  }
  check_transformer(c);
  const std::int64_t slices = used_slices(c.scenario, c.training);
  if (learning.batch < slices) {
    c.problems.add(place_of(c.tree, {"learning", "batch"}),
                   fmt::format("must be at least the number of slices in use ({}); got {}", slices,
                               learning.batch),
                   "each slice needs an example of its own");
  }
}

std::string shard_name(optim::ShardKind kind) {
  return kind == optim::ShardKind::kDirichlet ? "dirichlet" : "contiguous";
}

// What a slot of a shard sees must have a meaning in the task.
void check_shards(const Case& c) {
  const optim::TaskOptions& task = c.arm.learning.task;
  if (c.arm.learning.model.kind == optim::ModelKind::kNone || task.shards.kind == optim::ShardKind::kIid) {
    return;
  }
  const Place place = place_of(c.tree, {"learning", "shards"});
  if (task.kind == optim::TaskKind::kQuadratic) {
    c.problems.add(place, fmt::format("must be \"iid\" for task \"quadratic\"; got \"{}\"",
                                      shard_name(task.shards.kind)),
                   "its examples have neither classes nor an order");
  } else if (task.shards.kind == optim::ShardKind::kContiguous &&
             (task.kind == optim::TaskKind::kMarkov || task.kind == optim::TaskKind::kTeacher)) {
    c.problems.add(place, fmt::format("must be \"iid\" or \"dirichlet\" for task \"{}\"; got "
                                      "\"contiguous\"",
                                      task.kind == optim::TaskKind::kMarkov ? "markov" : "teacher"),
                   "drawn examples have no order to cut parts from");
  }
  const auto count = static_cast<std::int64_t>(task.shards.count);
  if (count > c.arm.learning.batch) {
    c.problems.add(place_of(c.tree, {"learning", "shard_count"}),
                   fmt::format("must not exceed learning.batch ({}); got {}", c.arm.learning.batch,
                               count),
                   "each shard needs a slot of the batch");
  }
}

// Windows must fit into the parts of a text, and parts must hold rows of a table.
void check_data(const Case& c) {
  const optim::TaskOptions& task = c.arm.learning.task;
  if (task.text != nullptr) {
    const std::size_t length = task.text->symbols.size();
    const std::size_t held_out = length - optim::training_symbols(length);
    const std::size_t longest = optim::longest_window(length, task.shards);
    if (task.context >= longest) {
      c.problems.add(place_of(c.tree, {"learning", "context"}),
                     fmt::format("must be less than {} of the file ({} of {} bytes); got {}",
                                 longest < held_out ? "a shard's part" : "the held-out tenth", longest,
                                 length, task.context),
                     "a longer file, or a smaller context");
    }
  }
  if (task.table != nullptr && task.shards.kind == optim::ShardKind::kContiguous) {
    const std::size_t training = task.table->rows() - optim::held_out_rows(task.table->rows());
    if (task.shards.count > training) {
      c.problems.add(place_of(c.tree, {"learning", "shard_count"}),
                     fmt::format("must not exceed the rows that are trained on ({}); got {}", training,
                                 task.shards.count));
    }
  }
}

void report_no_path(const Case& c, std::uint16_t a, std::uint16_t b, const std::string& why) {
  const std::string& one = c.scenario.network.regions[a].name;
  const std::string& other = c.scenario.network.regions[b].name;
  c.problems.add(c.at("method"),
                 fmt::format("regions \"{}\" and \"{}\" must talk and no links join them, not even "
                             "through other regions; {}",
                             one, other, why),
                 fmt::format("add a [[link]] with between = [\"{}\", \"{}\"]", one, other));
}

// The first region in use and the first that the all-reduce would leave out.
void check_ring(const Case& c) {
  const std::vector<std::uint16_t> regions = used_region_indices(c.scenario, c.training);
  const auto group = engine::connected_groups(engine::nominal_view(c.scenario.network));
  for (const std::uint16_t region : regions) {
    if (group[region] == group[regions.front()]) continue;
    report_no_path(c, regions.front(), region,
                   fmt::format("arm \"{}\" all-reduces among its regions", c.training.name));
    return;
  }
}

void check_star(const Case& c) {
  const std::string& center = c.training.syncer.region;
  const std::uint16_t hub = engine::region_index(c.scenario.network, center);
  const auto group = engine::connected_groups(engine::nominal_view(c.scenario.network));
  for (const std::uint16_t region : used_region_indices(c.scenario, c.training)) {
    if (group[region] == group[hub]) continue;
    report_no_path(c, region, hub,
                   fmt::format("arm \"{}\" has its syncer in {}", c.training.name, center));
  }
}

void check_span(const Case& c) {
  if (c.training.span) return;
  const auto fleet = methods::make_fleet(c.scenario.model, {}, c.scenario.network, c.scenario.islands,
                                         c.training, 0, 0);
  for (const auto& learner : fleet.shape.learners) {
    for (const std::uint32_t slice : learner.slices) {
      if (fleet.shape.slices[slice].region == learner.region) continue;
      c.problems.add(c.at("learners"),
                     fmt::format("makes a learner with slices in \"{}\" and \"{}\"",
                                 fleet.shape.regions[learner.region],
                                 fleet.shape.regions[fleet.shape.slices[slice].region]),
                     "write span = true, or learners = \"islands\"");
      return;
    }
  }
}

// Dates are whole nanoseconds.
void check_step_length(const Case& c) {
  const auto fleet = methods::make_fleet(c.scenario.model, {}, c.scenario.network, c.scenario.islands,
                                         c.training, 0, 0);
  for (std::size_t s = 0; s < fleet.shape.slices.size(); ++s) {
    const tape::SliceShape& slice = fleet.shape.slices[s];
    if (slice.learner == tape::kNoLearner || slice.step_time > 0) continue;
    const double step_ns =
        methods::slice_step_s(c.scenario.model, c.training, fleet, s) * 1e9;
    const bool given = c.training.step_time > 0;
    c.problems.add(given ? c.at("step_time") : place_of(c.tree, {"model", "batch_tokens"}),
                   fmt::format("must give each slice a step of at least 1 ns; got {} tokens and a step "
                               "of {:.3g} ns on \"{}\"",
                               slice.tokens, step_ns, slice.name),
                   "a larger batch or model, or less of the batch on faster slices");
    return;
  }
}

void check_rows_of_proxy(const Case& c) {
  const auto& learning = c.arm.learning;
  if (learning.model.kind == optim::ModelKind::kNone ||
      c.training.method == MethodKind::kDataParallel) {
    return;
  }
  const std::size_t rows = optim::row_count(*optim::make_model(learning.model));
  if (static_cast<std::size_t>(c.training.fragments) <= rows) return;
  c.problems.add(c.at("fragments"), fmt::format("must not exceed the rows of the proxy ({}); got {}",
                                                rows, c.training.fragments),
                 "fewer fragments, or a proxy with more inputs or a wider hidden layer");
}

void check_fit(const Case& c) {
  if (c.scenario.allow_overload) return;
  const ArmForecast arm = forecast_load(c.scenario, c.arm);
  if (arm.stalls) return;
  for (const LinkForecast& link : arm.links) {
    if (link.needed_bytes_per_s <= link.available_bytes_per_s) continue;
    const auto& links = c.scenario.network.links;
    std::size_t index = 0;
    while (links[index].region_a != link.region_a || links[index].region_b != link.region_b) ++index;
    c.problems.add(place_of(c.bound.root, {"link", std::to_string(index), "bandwidth"}),
                   fmt::format("arm \"{}\" needs {:.3g} Gbit/s in its steady state; got {:.3g} Gbit/s",
                               c.training.name, link.needed_bytes_per_s * 8e-9,
                               link.available_bytes_per_s * 8e-9),
                   "a larger sync_every or a narrower wire need less; overload = \"allow\" runs it "
                   "as it is");
  }
}

}  // namespace

void validate_arm(const Bound& bound, std::size_t arm_index, Problems& problems) {
  const Case c = case_of(bound, arm_index, problems);
  check_use(c);
  check_learners(c);
  check_schedule_of_syncs(c);
  check_syncer(c);
  check_learning(c);
  check_shards(c);
  check_data(c);
}

void validate_arm_on_fleet(const Bound& bound, std::size_t arm_index, Problems& problems) {
  const Case c = case_of(bound, arm_index, problems);
  check_span(c);
  check_step_length(c);
  check_rows_of_proxy(c);
  if (c.scenario.network.model == engine::NetworkModel::kNone) return;
  const std::size_t before = problems.list().size();
  const bool central = c.training.method == MethodKind::kDecoupledDiloco &&
                       c.training.syncer.placement == methods::SyncerPlacement::kCentral;
  if (central) {
    check_star(c);
  } else {
    check_ring(c);
  }
  if (problems.list().size() == before) check_fit(c);
}

}  // namespace sim::scenario
