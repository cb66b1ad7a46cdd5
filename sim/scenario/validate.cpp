// sim/scenario/validate.cpp: checks of names, chips, links and marks.
#include "sim/scenario/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/scenario/catalogue.h"
#include "sim/scenario/forecast.h"
#include "sim/scenario/names.h"

namespace sim::scenario {

using base::Place;
using base::Problems;

namespace {

Place element_place(const Bound& bound, const std::string& list, std::size_t index,
                    const std::string& key) {
  return place_of(bound.root, {list, std::to_string(index), key});
}

std::vector<std::string> region_names(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const auto& region : scenario.network.regions) names.push_back(region.name);
  return names;
}

void check_region(const Scenario& scenario, const std::string& name, const Place& place,
                  Problems& problems) {
  const std::vector<std::string> names = region_names(scenario);
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
  const std::string nearest = base::nearest_name(name, names);
  std::string listed;
  for (const std::string& known : names) listed += " " + known;
  problems.add(place, fmt::format("no [[region]] has this name; got \"{}\"", name),
               nearest.empty() ? "regions here are" + listed
                               : fmt::format("did you mean '{}'?", nearest));
}

// Whether files, tables and terminals can show the name; told where not.
bool check_name(const std::string& name, const Place& place, Problems& problems) {
  const std::string trouble = trouble_with_name(name);
  if (trouble.empty()) return true;
  problems.add(place, fmt::format("{}; got \"{}\"", trouble, shown(name)), "names stand in files and tables");
  return false;
}

// Names of one list: not empty, nothing that targets and files are split at, unique.
template <class T>
void check_names(const Bound& bound, const std::string& list, const std::vector<T>& elements,
                 Problems& problems) {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::string& name = elements[i].name;
    const Place place = element_place(bound, list, i, "name");
    if (bound.root.find(list)->items[i].find("name") == nullptr) continue;
    if (!check_name(name, place, problems)) continue;
    if (name.empty() || name.find_first_of(":+,") != std::string::npos ||
        name.find("--") != std::string::npos) {
      problems.add(place, fmt::format("must be text without ':', ',', '+' and '--'; got \"{}\"", name));
      continue;
    }
    // "a" and "-b" would have the link a---b of "a-" and "b".
    if (name.front() == '-' || name.back() == '-') {
      problems.add(place, fmt::format("must not begin or end with '-'; got \"{}\"", name));
      continue;
    }
    const auto [known, is_new] = first.emplace(name, i);
    if (is_new) continue;
    problems.add(place, fmt::format("must be unique; \"{}\" is {}[{}] already", name, list,
                                    known->second));
  }
}

void check_regions_and_links(const Bound& bound, Problems& problems) {
  const Scenario& scenario = bound.scenario;
  if (scenario.network.regions.empty()) {
    problems.add(place_of(bound.root, {"region"}), "is missing", "write at least one [[region]]");
  }
  check_names(bound, "region", scenario.network.regions, problems);
  std::map<std::pair<std::string, std::string>, std::size_t> first;
  for (std::size_t i = 0; i < scenario.network.links.size(); ++i) {
    const auto& link = scenario.network.links[i];
    const Place place = element_place(bound, "link", i, "between");
    check_region(scenario, link.region_a, place, problems);
    check_region(scenario, link.region_b, place, problems);
    if (link.region_a.empty()) continue;
    const auto ends = std::minmax(link.region_a, link.region_b);
    const auto [known, is_new] = first.emplace(std::pair(ends.first, ends.second), i);
    if (!is_new) {
      problems.add(place, fmt::format("joins the same regions as link[{}]", known->second),
                   "two regions have one link; add up the bandwidths");
    }
  }
}

// The peak of each island: given, or the catalogue's.
void fill_peak(Bound& bound, std::size_t index, Problems& problems) {
  methods::IslandOptions& island = bound.scenario.islands[index];
  const Place place = element_place(bound, "island", index, "chip");
  if (island.chip.empty()) {
    if (island.peak_flops == 0) {
      problems.add(place, "is missing", "name a chip of the catalogue, or give peak = \"... TFLOP/s\"");
    }
    return;
  }
  const ChipEntry* const chip = find_chip(island.chip);
  if (chip != nullptr) {
    if (island.peak_flops == 0) island.peak_flops = chip->peak_flops;
    if (island.chip_memory == 0) island.chip_memory = chip->memory_bytes;
    return;
  }
  if (island.peak_flops > 0) return;
  std::vector<std::string> names;
  for (const ChipEntry& known : chips()) names.emplace_back(known.name);
  const std::string nearest = base::nearest_name(island.chip, names);
  problems.add(place, fmt::format("is not in the catalogue and has no peak; got \"{}\"", island.chip),
               nearest.empty() ? "give peak = \"... TFLOP/s\", or see atoll catalogue"
                               : fmt::format("did you mean '{}'?", nearest));
}

// Watts: given, published, or the catalogue's assumption. Prices: its own or that of [cost].
void fill_power_and_price(methods::IslandOptions& island, const readers::CostOptions& cost) {
  if (island.dollars_per_h == 0) island.dollars_per_h = cost.chip_dollars_per_h;
  const ChipEntry* const chip = find_chip(island.chip);
  if (island.power_w > 0 || chip == nullptr) return;
  island.power_w = chip->power_w.value_or(chip->assumed_power_w);
  island.power_assumed = !chip->power_w.has_value();
}

void fill_egress(Scenario& scenario) {
  for (engine::LinkOptions& link : scenario.network.links) {
    if (link.dollars_per_gb == 0) link.dollars_per_gb = scenario.cost.egress_dollars_per_gb;
  }
}

void check_islands(Bound& bound, Problems& problems) {
  if (bound.scenario.islands.empty()) {
    problems.add(place_of(bound.root, {"island"}), "is missing", "write at least one [[island]]");
  }
  check_names(bound, "island", bound.scenario.islands, problems);
  for (std::size_t i = 0; i < bound.scenario.islands.size(); ++i) {
    fill_peak(bound, i, problems);
    fill_power_and_price(bound.scenario.islands[i], bound.scenario.cost);
    const auto& island = bound.scenario.islands[i];
    check_region(bound.scenario, island.region, element_place(bound, "island", i, "region"), problems);
    if (island.slices > 0 && island.chips > 0 && island.chips % island.slices != 0) {
      problems.add(element_place(bound, "island", i, "slices"),
                   fmt::format("must divide the number of chips ({}); got {}", island.chips,
                               island.slices));
    }
  }
}

// A mark that no run could ever reach, for want of watts, prices or mathematics.
void check_marks_can_be_met(const Bound& bound, Problems& problems) {
  const Scenario& scenario = bound.scenario;
  const auto place = [&bound](const char* key) { return place_of(bound.root, {"marks", key}); };
  for (const methods::IslandOptions& island : scenario.islands) {
    if (scenario.marks.energy_kwh > 0 && island.power_w == 0) {
      problems.add(place("energy_kwh"),
                   fmt::format("needs the power of every chip; island {} has none", island.name),
                   "give power = \"700 W\" there, or a chip of the catalogue");
    }
    if (scenario.marks.cost_usd > 0 && island.dollars_per_h == 0) {
      problems.add(place("cost_usd"),
                   fmt::format("needs the price of every chip; island {} has none", island.name),
                   "give price = \"2 USD/h\" there, or in [cost] for all");
    }
  }
  for (const Arm& arm : scenario.arms) {
    if (scenario.marks.loss > 0 && arm.learning.model.kind == optim::ModelKind::kNone) {
      problems.add(place("loss"), fmt::format("needs a model; arm {} trains none", arm.training.name),
                   "give [learning] model");
    }
  }
}

void check_marks(const Bound& bound, Problems& problems) {
  const MarkOptions& marks = bound.scenario.marks;
  const base::Value* const written = bound.root.find("marks");
  const bool blank = written == nullptr ||
                     (written->find("time") == nullptr && written->find("tokens") == nullptr);
  if (marks.time == 0 && marks.tokens == 0 && (blank || problems.list().empty())) {
    problems.add(place_of(bound.root, {"marks"}), "needs a time or a number of tokens",
                 "write marks = { time = \"6 h\" }");
  }
  if (marks.time > marks.limit) {
    problems.add(place_of(bound.root, {"marks", "limit"}),
                 fmt::format("must be at least marks.time ({}); got {}",
                             base::format_duration(marks.time), base::format_duration(marks.limit)));
  }
}

// Results of an arm stand in a folder of its name.
void check_folder(const std::string& name, const Place& place, std::map<std::string, std::string>& arm_of,
                  Problems& problems) {
  const std::string folder = folder_name(name);
  if (folder.size() > kLongestFolder) {
    problems.add(place, fmt::format("must make a folder's name of at most {} bytes; got {}", kLongestFolder,
                                    folder.size()));
  }
  const auto [known, is_new] = arm_of.emplace(folded(folder), name);
  if (is_new) return;
  problems.add(place, known->second == name
                          ? fmt::format("must be unique among arms; got \"{}\"", name)
                          : fmt::format("must differ from arm \"{}\" by more than capitals; got \"{}\"",
                                        known->second, name));
}

void check_arm_names(const Bound& bound, Problems& problems) {
  std::map<std::string, std::string> arm_of;
  for (std::size_t i = 0; i < bound.scenario.arms.size(); ++i) {
    const std::string& name = bound.scenario.arms[i].training.name;
    const Place place = place_of(bound.arms[i], {"training", "name"});
    if (!name.empty() && check_name(name, place, problems)) check_folder(name, place, arm_of, problems);
    for (std::size_t f = 0; f < bound.scenario.arms[i].failures.size(); ++f) {
      check_name(bound.scenario.arms[i].failures[f].name,
                 place_of(bound.arms[i], {"failure", std::to_string(f), "name"}), problems);
    }
  }
}

}  // namespace

bool validate(Bound& bound, Problems& problems) {
  check_name(bound.scenario.name, place_of(bound.root, {"name"}), problems);
  check_regions_and_links(bound, problems);
  fill_egress(bound.scenario);
  check_islands(bound, problems);
  check_arm_names(bound, problems);
  for (std::size_t arm = 0; arm < bound.scenario.arms.size(); ++arm) {
    validate_arm(bound, arm, problems);
    validate_faults(bound, arm, problems);
  }
  check_marks(bound, problems);
  check_marks_can_be_met(bound, problems);
  if (!problems.list().empty()) return false;
  for (std::size_t arm = 0; arm < bound.scenario.arms.size(); ++arm) {
    resolve_overlap(bound.scenario, bound.scenario.arms[arm]);
    validate_arm_on_fleet(bound, arm, problems);
  }
  validate_memory(bound, problems);
  return true;
}

}  // namespace sim::scenario
