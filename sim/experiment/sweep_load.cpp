// sim/experiment/sweep_load.cpp: see sweep_load.h.
#include "sim/experiment/sweep_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "sim/experiment/sweep_base.h"
#include "sim/experiment/sweep_keys.h"
#include "sim/experiment/sweep_points.h"
#include "sim/scenario/expectation.h"
#include "sim/scenario/parse.h"
#include "sim/scenario/scenario_schema.h"
#include "sim/scenario/sweep_schema.h"

namespace sim::experiment {
namespace {

using base::Place;
using base::Problems;
using base::Value;
using scenario::SweepCombine;

constexpr std::uint64_t kSeedsMax = 10'000'000;

std::optional<std::string> content_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (stream && stream.peek() != std::ifstream::traits_type::eof()) text << stream.rdbuf();
  if (!stream || stream.bad()) return std::nullopt;
  return text.str();
}

std::string beside(const std::string& file, const std::string& name) {
  const std::size_t slash = file.rfind('/');
  return name.starts_with('/') || slash == std::string::npos ? name : file.substr(0, slash + 1) + name;
}

class Loader {
 public:
  explicit Loader(const SweepRequest& request) : request_(request) {}

  SweepLoad load() {
    if (!read_files() || !read_options() || !read_base()) return refused();
    choose_arms();
    choose_seeds();
    const Value* const sweep = root_.find("sweep");
    check_keys(plan_, sweep, problems_);
    if (!problems_.list().empty()) return refused();
    check_size(plan_, request_.size, sweep == nullptr ? Place{request_.file, {}, "sweep"} : sweep->place, problems_);
    if (!problems_.list().empty() || !read_axes()) return refused();
    drop_other_arms();
    check_points(plan_, problems_);
    if (!problems_.list().empty()) return refused();
    SweepLoad result;
    result.plan = std::move(plan_);
    return result;
  }

 private:
  SweepLoad refused() {
    SweepLoad result;
    result.diagnostics = std::move(problems_.list());
    base::sort_and_unite(result.diagnostics);
    if (result.diagnostics.size() > kMistakesTold) result.diagnostics.resize(kMistakesTold);
    result.file_missing = file_missing_;
    return result;
  }

  void cannot_read(const Place& place, const std::string& got) {
    problems_.add(place, got.empty() ? "cannot be read" : fmt::format("cannot be read; got \"{}\"", got),
                  got.empty() ? "give the path of a sweep or scenario file"
                              : "it is looked for beside the sweep");
    file_missing_ = true;
  }

  bool read_files() {
    const auto text = content_of(request_.file);
    if (!text) cannot_read({request_.file, {}, ""}, "");
    if (!text) return false;
    root_ = scenario::parse_toml(*text, request_.file, problems_);
    if (!problems_.list().empty()) return false;
    plan_.file = request_.file;
    plan_.text = *text;
    const Value* const base = root_.find("base");
    return base == nullptr || read_sweep_file(*base);
  }

  bool read_sweep_file(const Value& base) {
    const std::vector<std::string> known = {"format", "base", "sweep"};
    for (const base::Entry& entry : root_.entries) {
      if (std::ranges::count(known, entry.key) > 0) continue;
      problems_.add(entry.key_place, "unknown key",
                    "beside base, a sweep file has format and sweep; write set = [\"KEY=VALUE\"] in [sweep]");
    }
    const Value* const format = root_.find("format");
    const auto number = format == nullptr ? std::nullopt : base::read_integer(*format, {}, problems_);
    if (format == nullptr) {
      problems_.add({request_.file, {1, 1}, "format"}, "is missing", "version of this form: format = 1");
    } else if (number && *number != scenario::kFormat) {
      problems_.add(format->place, fmt::format("must be {}; got {}", scenario::kFormat, *number),
                    "this version reads no other form");
    }
    const auto name = base::read_text(base, problems_);
    if (!name || !problems_.list().empty()) return false;
    plan_.file = beside(request_.file, *name);
    const auto text = content_of(plan_.file);
    if (!text) cannot_read(base.place, *name);
    if (text) plan_.text = *text;
    return text.has_value();
  }

  bool read_options() {
    const Value* const sweep = root_.find("sweep");
    if (sweep == nullptr && request_.needs_sweep) {
      problems_.add({request_.file, {}, "sweep"}, "is missing",
                    "write [sweep] and [[sweep.axis]], or use atoll run or atoll compare");
    }
    Value absent;
    absent.place = {request_.file, {}, "sweep"};
    base::bind(scenario::sweep_schema(), sweep == nullptr ? absent : *sweep, &plan_.options, problems_);
    if (request_.until_ci) plan_.options.until_ci = *request_.until_ci;
    plan_.seeds_place = place_of("seeds");
    choose_metrics();
    plan_.sets = plan_.options.set;
    plan_.sets.insert(plan_.sets.end(), request_.sets.begin(), request_.sets.end());
    return problems_.list().empty();
  }

  bool read_base() {
    scenario::LoadResult loaded = scenario::load_text(plan_.text, plan_.file, plan_.sets);
    if (loaded.scenario) {
      plan_.base = std::move(*loaded.scenario);
      return true;
    }
    problems_.list() = std::move(loaded.diagnostics);
    file_missing_ = loaded.file_missing;
    return false;
  }

  // Those of the command line, else of [sweep]. `metrics` is never empty afterwards.
  void choose_metrics() {
    scenario::SweepOptions& options = plan_.options;
    plan_.metric_place = place_of(options.metrics.empty() ? "metric" : "metrics");
    check_metric(options.metric, place_of("metric"));
    for (const std::string& metric : options.metrics) check_metric(metric, plan_.metric_place);
    for (const std::string& metric : request_.metrics) check_metric(metric, {"--metric", {}, ""});
    if (!request_.metrics.empty()) {
      options.metric = request_.metrics.front();
      options.metrics = request_.metrics;
    }
    if (options.metrics.empty()) options.metrics = {options.metric};
    const Place place = request_.metrics.empty() ? plan_.metric_place : Place{"--metric", {}, ""};
    for (const std::string& metric : options.metrics) {
      if (std::ranges::count(options.metrics, metric) < 2) continue;
      problems_.add(place, fmt::format("names a metric twice; got \"{}\"", metric));
      break;
    }
  }

  void check_metric(const std::string& metric, const Place& place) {
    if (scenario::is_summary_number(metric)) return;
    problems_.add(place, fmt::format("must be a number in summary.json; got \"{}\"", metric),
                  scenario::summary_number_hint(metric));
  }

  bool read_axes() {
    const bool hypercube = plan_.options.combine == SweepCombine::kLatinHypercube;
    const bool grid = plan_.options.combine == SweepCombine::kGrid;
    for (const scenario::AxisOptions& options : plan_.options.axes) {
      plan_.axes.push_back(hypercube ? sample_axis(options, plan_.options.samples,
                                                   plan_.options.design_seed, problems_)
                                     : make_axis(options, grid ? Repeats::kRefuse : Repeats::kAllow, problems_));
    }
    if (problems_.list().empty()) check_lengths();
    return problems_.list().empty();
  }

  void check_lengths() {
    if (plan_.options.combine != SweepCombine::kZip) return;
    for (std::size_t i = 1; i < plan_.axes.size(); ++i) {
      if (plan_.axes[i].values.size() == plan_.axes[0].values.size()) continue;
      problems_.add(plan_.options.axes[i].place,
                    fmt::format("must have as many values as the first axis ({}) with combine = "
                                "\"zip\"; got {}",
                                plan_.axes[0].values.size(), plan_.axes[i].values.size()));
    }
  }

  Place place_of(const char* key) const {
    const Value* const sweep = root_.find("sweep");
    const Value* const value = sweep == nullptr ? nullptr : sweep->find(key);
    if (value != nullptr) return value->place;
    return {request_.file, {}, fmt::format("sweep.{}", key)};
  }

  std::optional<std::size_t> arm_named(const std::string& name, const Place& place) {
    std::vector<std::string> names;
    for (const scenario::Arm& arm : plan_.base.arms) names.push_back(arm.training.name);
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    const std::string near = base::nearest_name(name, names);
    problems_.add(place, fmt::format("no arm is named \"{}\"", name),
                  near.empty() ? fmt::format("arms here are {}", fmt::join(names, ", "))
                               : fmt::format("did you mean '{}'?", near));
    return std::nullopt;
  }

  // In the scenario's order, whatever order the list has.
  void choose_arms() {
    const scenario::SweepOptions& options = plan_.options;
    for (std::size_t i = 0; options.arms.empty() && i < plan_.base.arms.size(); ++i) {
      plan_.arms.push_back(i);
    }
    for (const std::string& name : options.arms) {
      const auto found = arm_named(name, place_of("arms"));
      if (found && std::ranges::count(plan_.arms, *found) == 0) plan_.arms.push_back(*found);
    }
    std::ranges::sort(plan_.arms);
    if (options.reference.empty()) return;
    const auto found = arm_named(options.reference, place_of("reference"));
    const auto position = found ? std::ranges::find(plan_.arms, *found) : plan_.arms.end();
    if (found && position == plan_.arms.end()) {
      problems_.add(place_of("reference"),
                    fmt::format("must be one of the sweep's arms; got \"{}\"", options.reference));
    }
    if (position != plan_.arms.end()) {
      plan_.reference = static_cast<std::size_t>(position - plan_.arms.begin());
    }
  }

  // Arms that are not swept are not read at the points either: an axis may be illegal for them.
  void drop_other_arms() {
    if (plan_.arms.size() == plan_.base.arms.size()) return;
    std::vector<std::string> names;
    for (const std::size_t arm : plan_.arms) names.push_back(plan_.base.arms[arm].training.name);
    const std::string text = text_of_arms(plan_.text, names);
    scenario::LoadResult loaded = scenario::load_text(text, plan_.file, plan_.sets);
    if (!loaded.scenario) return;  // something depends on the other arms, such as a --set arm.NAME
    plan_.text = text;
    plan_.base = std::move(*loaded.scenario);
    plan_.arms.clear();
    for (std::size_t i = 0; i < plan_.base.arms.size(); ++i) {
      if (std::ranges::count(names, plan_.base.arms[i].training.name) > 0) plan_.arms.push_back(i);
    }
  }

  void choose_seeds() {
    plan_.seeds = request_.seeds;
    if (!plan_.seeds.empty()) return;
    if (auto seeds = parse_seeds(plan_.options.seeds)) {
      plan_.seeds = std::move(*seeds);
    } else {
      problems_.add(plan_.seeds_place, fmt::format("must be FIRST..LAST, whole numbers, rising; got \"{}\"",
                                                   plan_.options.seeds));
    }
  }

  const SweepRequest& request_;
  Problems problems_;
  Value root_;
  SweepPlan plan_{};
  bool file_missing_ = false;
};

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::vector<std::uint64_t>> parse_seeds(const std::string& text) {
  const std::string_view view = text;
  const std::size_t dots = view.find("..");
  const auto first = whole_number(view.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : whole_number(view.substr(dots + 2));
  if (!first || !last || *last < *first || *last - *first >= kSeedsMax) return std::nullopt;
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = *first; seed < *last; ++seed) seeds.push_back(seed);
  seeds.push_back(*last);
  return seeds;
}

SweepLoad load_sweep(const SweepRequest& request) { return Loader(request).load(); }

}  // namespace sim::experiment
