// sim/methods/fleet.cpp: see fleet.h.
#include "sim/methods/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>

#include "sim/base/elementary.h"
#include "sim/base/random.h"
#include "sim/methods/nominal_fragments.h"
#include "sim/methods/step_time.h"

namespace sim::methods {
namespace {

using tape::RunShape;
using tape::SliceShape;

std::uint16_t region_index(const RunShape& shape, const std::string& name) {
  const auto found = std::ranges::find(shape.regions, name);
  if (found == shape.regions.end()) {
    throw std::invalid_argument(fmt::format("no region is named \"{}\"", name));
  }
  return static_cast<std::uint16_t>(found - shape.regions.begin());
}

void add_network(const engine::NetworkOptions& network, RunShape& shape) {
  for (const auto& region : network.regions) shape.regions.push_back(region.name);
  for (const auto& link : network.links) {
    const std::uint16_t a = region_index(shape, link.region_a);
    const std::uint16_t b = region_index(shape, link.region_b);
    shape.links.push_back({std::min(a, b), std::max(a, b), link.bytes_per_s, link.rtt / 2,
                           link.dollars_per_gb});
  }
}

double drawn_speed(const SpeedSpreadOptions& spread, std::uint64_t seed, const std::string& island) {
  if (spread.island_sd == 0) return 1;
  base::Stream stream(seed, "speed/" + island);
  return base::exponential(spread.island_sd * stream.next_normal());
}

void add_islands(const NominalModelOptions& model, const SpeedSpreadOptions& spread,
                 const std::vector<IslandOptions>& options, std::uint64_t seed, Fleet& fleet) {
  for (const IslandOptions& group : options) {
    for (std::int64_t n = 1; n <= group.count; ++n) {
      const std::string name = group.count == 1 ? group.name : fmt::format("{}/{}", group.name, n);
      const auto island = static_cast<std::uint32_t>(fleet.shape.islands.size());
      const double speed = group.speed * drawn_speed(spread, seed, name);
      fleet.shape.islands.push_back(name);
      const std::int64_t chips = group.chips / group.slices;
      for (std::int64_t s = 1; s <= group.slices; ++s) {
        fleet.shape.slices.push_back({fmt::format("{}/slice-{}", name, s), island,
                                      region_index(fleet.shape, group.region), tape::kNoLearner,
                                      chips, 0, 0, 0, std::llround(group.power_w * 1e3),
                                      std::llround(group.dollars_per_h * 1e9)});
        fleet.slice_speed.push_back(speed);
        fleet.slice_flops_per_s.push_back(
            useful_flops_per_s(model, chips, group.peak_flops, speed));
      }
      fleet.shape.chips += group.chips;
      fleet.shape.watts_assumed = fleet.shape.watts_assumed || group.power_assumed;
    }
  }
}

bool is_used(const RunShape& shape, const SliceShape& slice, const std::vector<std::string>& use) {
  if (use.empty()) return true;
  const std::string region = "region:" + shape.regions[slice.region];
  const std::string island = "island:" + shape.islands[slice.island];
  return std::ranges::any_of(use, [&](const std::string& entry) {
    return entry == region || entry == island || island.starts_with(entry + "/");
  });
}

void add_learner(RunShape& shape, std::string name, std::vector<std::uint32_t> slices) {
  const auto learner = static_cast<std::uint16_t>(shape.learners.size());
  std::int64_t chips = 0;
  for (const std::uint32_t slice : slices) {
    shape.slices[slice].learner = learner;
    chips += shape.slices[slice].chips;
  }
  shape.learners.push_back(
      {std::move(name), shape.slices[slices.front()].region, std::move(slices), chips});
}

void add_learners(const TrainingOptions& training, RunShape& shape) {
  std::vector<std::uint32_t> used;
  for (std::uint32_t s = 0; s < shape.slices.size(); ++s) {
    if (is_used(shape, shape.slices[s], training.use)) used.push_back(s);
  }
  if (used.empty()) throw std::invalid_argument("the arm uses no slice");
  if (training.learners == LearnerSplit::kOne) {
    add_learner(shape, "all", used);
  } else if (training.learners == LearnerSplit::kGroups) {
    const auto groups = static_cast<std::size_t>(training.groups);
    if (groups == 0 || used.size() % groups != 0) {
      throw std::invalid_argument(fmt::format(
          "the number of learners must divide the number of slices ({}); got {}", used.size(), groups));
    }
    const std::size_t size = used.size() / groups;
    for (std::size_t g = 0; g < groups; ++g) {
      const auto first = used.begin() + static_cast<std::ptrdiff_t>(g * size);
      add_learner(shape, fmt::format("learner-{}", g + 1),
                  {first, first + static_cast<std::ptrdiff_t>(size)});
    }
  } else {
    for (std::uint32_t island = 0; island < shape.islands.size(); ++island) {
      std::vector<std::uint32_t> mine;
      std::ranges::copy_if(used, std::back_inserter(mine),
                           [&](std::uint32_t s) { return shape.slices[s].island == island; });
      if (!mine.empty()) add_learner(shape, shape.islands[island], std::move(mine));
    }
  }
}

// Splits `count` into shares proportional to `weights`, by cumulative rounding down: the parts add
// up and none depends on how the others are named.
std::vector<std::uint64_t> shares(std::uint64_t count, const std::vector<double>& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::uint64_t> parts;
  double sum = 0;
  std::uint64_t given = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i];
    const bool last = i + 1 == weights.size();
    const auto upto =
        last ? count
             : static_cast<std::uint64_t>(static_cast<double>(count) * (sum / total) + 1e-9);
    parts.push_back(upto - given);
    given = upto;
  }
  return parts;
}

double learner_weight(const Fleet& fleet, const tape::LearnerShape& learner, BatchSplit split) {
  if (split == BatchSplit::kEqual) return 1;
  if (split == BatchSplit::kByChips) return static_cast<double>(learner.chips);
  double flops = 0;
  for (const std::uint32_t slice : learner.slices) flops += fleet.slice_flops_per_s[slice];
  return flops;
}

// Inside a learner: by speed or by chips where asked for, else equal parts.
std::vector<double> slice_weights(const TrainingOptions& training, const Fleet& fleet,
                                  const tape::LearnerShape& learner) {
  std::vector<double> weights;
  for (const std::uint32_t slice : learner.slices) {
    weights.push_back(training.batch_split == BatchSplit::kBySpeed ? fleet.slice_flops_per_s[slice]
                      : training.batch_split == BatchSplit::kByChips
                          ? static_cast<double>(fleet.shape.slices[slice].chips)
                          : 1.0);
  }
  return weights;
}

// Nominal tokens and the proxy's slots are shared out by the same weights but each on its own: how
// few examples the proxy has must not change what a nominal step takes.
void give_batch(const TrainingOptions& training, std::uint32_t slots, Fleet& fleet) {
  RunShape& shape = fleet.shape;
  std::vector<double> weights;
  for (const auto& learner : shape.learners) {
    weights.push_back(learner_weight(fleet, learner, training.batch_split));
  }
  const std::vector<std::uint64_t> slots_of = shares(slots, weights);
  const std::vector<std::uint64_t> tokens_of = shares(shape.batch_tokens, weights);
  std::uint32_t next = 0;
  for (std::size_t m = 0; m < shape.learners.size(); ++m) {
    const tape::LearnerShape& learner = shape.learners[m];
    const std::vector<double> inside = slice_weights(training, fleet, learner);
    const std::vector<std::uint64_t> slot_parts = shares(slots_of[m], inside);
    const std::vector<std::uint64_t> token_parts = shares(tokens_of[m], inside);
    for (std::size_t i = 0; i < inside.size(); ++i) {
      SliceShape& slice = shape.slices[learner.slices[i]];
      slice.first_slot = next;
      slice.slot_count = static_cast<std::uint32_t>(slot_parts[i]);
      slice.tokens = token_parts[i];
      next += slice.slot_count;
    }
  }
}

// The nearest nanosecond, but no noticeably shorter step: nothing is faster than its chips.
Nanoseconds whole_nanoseconds(double seconds) {
  constexpr double kNoticeable = 1e-6;
  const Nanoseconds nearest = base::from_seconds(seconds);
  const bool short_of_it = base::to_seconds(nearest) < seconds * (1 - kNoticeable);
  return nearest > 0 && short_of_it ? nearest + 1 : nearest;
}

// Tokens per second of the whole fleet with everything healthy, compute only.
double native_tokens_per_s(const NominalModelOptions& model, const TrainingOptions& training,
                           const Fleet& fleet) {
  double flops = 0, chips_at_speed = 0;
  for (std::size_t s = 0; s < fleet.shape.slices.size(); ++s) {
    flops += fleet.slice_flops_per_s[s];
    chips_at_speed += static_cast<double>(fleet.shape.slices[s].chips) * fleet.slice_speed[s];
  }
  if (training.step_time == 0) return flops / step_flop(model, 1.0);
  const double at_speed_1 =
      static_cast<double>(fleet.shape.batch_tokens) / base::to_seconds(training.step_time);
  return at_speed_1 * chips_at_speed / static_cast<double>(fleet.shape.chips);
}

}  // namespace

Fleet make_fleet(const NominalModelOptions& model, const SpeedSpreadOptions& spread,
                 const engine::NetworkOptions& network, const std::vector<IslandOptions>& islands,
                 const TrainingOptions& training, std::uint32_t slots, std::uint64_t seed) {
  Fleet fleet;
  RunShape& shape = fleet.shape;
  shape.batch_tokens = static_cast<std::uint64_t>(model.batch_tokens);
  add_network(network, shape);
  add_islands(model, spread, islands, seed, fleet);
  add_learners(training, shape);
  std::uint32_t used = 0;
  for (const auto& learner : shape.learners) used += static_cast<std::uint32_t>(learner.slices.size());
  shape.slots = slots == 0 ? used : slots;
  give_batch(training, shape.slots, fleet);

  for (std::size_t s = 0; s < shape.slices.size(); ++s) {
    const bool used_here = shape.slices[s].learner != tape::kNoLearner;
    fleet.slice_step_time.push_back(
        used_here ? whole_nanoseconds(slice_step_s(model, training, fleet, s)) : 0);
    shape.slices[s].step_time = fleet.slice_step_time[s];
  }
  shape.steps_vary = spread.step_sd > 0;
  const bool synchronous = training.method == MethodKind::kDataParallel;
  shape.model_is_learner = synchronous;
  shape.may_roll_back = training.checkpoint.redo;
  shape.native_tokens_per_s = native_tokens_per_s(model, training, fleet);
  shape.nominal_step =
      base::from_seconds(static_cast<double>(shape.batch_tokens) / shape.native_tokens_per_s);
  shape.fragment_parameters = nominal_fragments(model, training);
  return fleet;
}

double slice_step_s(const NominalModelOptions& model, const TrainingOptions& training,
                    const Fleet& fleet, std::size_t slice) {
  const SliceShape& shape = fleet.shape.slices[slice];
  const auto tokens = static_cast<double>(shape.tokens);
  if (training.step_time == 0) return step_flop(model, tokens) / fleet.slice_flops_per_s[slice];
  const double share_of_batch = tokens / static_cast<double>(fleet.shape.batch_tokens);
  const double share_of_fleet =
      static_cast<double>(shape.chips) / static_cast<double>(fleet.shape.chips);
  return base::to_seconds(training.step_time) * share_of_batch / share_of_fleet /
         fleet.slice_speed[slice];
}

}  // namespace sim::methods
