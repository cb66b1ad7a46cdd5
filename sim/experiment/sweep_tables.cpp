// sim/experiment/sweep_tables.cpp: see sweep_tables.h.
#include "sim/experiment/sweep_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/cell_text.h"
#include "sim/experiment/statistics.h"
#include "sim/experiment/sweep_seeds.h"

namespace sim::experiment {
namespace {

using Json = nlohmann::ordered_json;

std::string cell(const std::string& text) { return base::csv_cell(text); }

std::string cell_of_json(std::string_view value) {
  if (value == "null") return "";
  return value.starts_with('"') ? cell(Json::parse(value).get<std::string>()) : std::string(value);
}

std::string cell(const std::optional<double>& value) { return value ? Json(*value).dump() : ""; }

// Columns of all rows, and for each of the journal's lists of names where its values go.
class Columns {
 public:
  Columns(const SweepPlan& plan, const Shard& shard, const Journal& journal) {
    places_.resize(journal.names().size());
    visit_runs(plan, shard, journal, [&](const RunKey&, const Journal::Entry* entry) {
      if (entry != nullptr && !entry->failed && places_[entry->names].empty()) {
        add(journal.names()[entry->names], entry->names);
      }
    });
    settle();
  }

  const std::vector<std::string>& names() const { return names_; }  // without their kind
  bool is_number(std::size_t column) const { return numbers_[column]; }
  // Column of each value of that list.
  const std::vector<std::size_t>& places(std::size_t list) const { return places_[list]; }

 private:
  // A name that is new stands behind the one before it in its list.
  void add(const std::string& text, std::size_t list) {
    const Json names = Json::parse(text);
    std::size_t after = 0;
    for (const Json& entry : names) {
      const std::string kind_and_name = entry.get<std::string>(), name = kind_and_name.substr(2);
      auto found = std::ranges::find(names_, name);
      if (found == names_.end()) {
        found = names_.insert(names_.begin() + static_cast<std::ptrdiff_t>(after), name);
      }
      after = static_cast<std::size_t>(found - names_.begin()) + 1;
      if (kind_and_name[0] != 'n') texts_[name] = true;
    }
    places_[list].resize(names.size());
    lists_[list] = names;
  }

  void settle() {
    std::map<std::string, std::size_t> column_of;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      column_of[names_[i]] = i;
      numbers_.push_back(!texts_.contains(names_[i]) && names_[i] != "format");
    }
    for (const auto& [list, names] : lists_) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        places_[list][i] = column_of.at(names[i].get<std::string>().substr(2));
      }
    }
  }

  std::vector<std::string> names_;
  std::map<std::string, bool> texts_;
  std::vector<bool> numbers_;
  std::map<std::size_t, Json> lists_;
  std::vector<std::vector<std::size_t>> places_;
};

std::string head_of(const SweepPlan& plan) {
  std::string text = "point";
  for (const Axis& axis : plan.axes) text += "," + cell(axis.column);
  return text + ",arm";
}

std::string lead_of(const SweepPlan& plan, std::uint64_t point, std::uint64_t arm) {
  const std::vector<std::size_t> choices = plan.choices_at(point);
  std::string text = std::to_string(point);
  for (std::size_t i = 0; i < plan.axes.size(); ++i) text += "," + cell(plan.axes[i].cells[choices[i]]);
  return text + "," + cell(plan.arm_name(arm));
}

// The numbers of one point: (arms x seeds x columns), none where there is no number.
struct PointNumbers {
  std::uint64_t point, seeds;
  std::vector<std::vector<std::vector<std::optional<double>>>> of_arm;
  std::vector<std::vector<bool>> failed;  // (arms x seeds)
};

PointNumbers numbers_of(const SweepPlan& plan, const Journal& journal, const Columns& columns,
                        std::uint64_t point) {
  PointNumbers numbers{point, seeds_wanted(plan, journal, point), {}, {}};
  for (std::uint64_t arm = 0; arm < plan.arms.size(); ++arm) {
    auto& rows = numbers.of_arm.emplace_back();
    auto& failed = numbers.failed.emplace_back();
    for (std::uint64_t i = 0; i < numbers.seeds; ++i) {
      auto& row = rows.emplace_back(columns.names().size());
      const auto found = journal.entries().find({point, arm, plan.seed_at(i)});
      failed.push_back(found == journal.entries().end() || found->second.failed);
      if (failed.back()) continue;
      const Journal::Row read = journal.row(found->first);
      const std::vector<std::size_t>& places = columns.places(read.names);
      for (std::size_t k = 0; k < places.size(); ++k) {
        row[places[k]] = Journal::number_in(read.values[k]);
      }
    }
  }
  return numbers;
}

struct Interval {
  std::optional<double> mean, low, high;
};

Interval interval_of(const std::vector<double>& values, double confidence) {
  if (values.empty()) return {};
  const Estimate found = estimate(values, confidence);
  if (!found.half_width) return {found.mean, std::nullopt, std::nullopt};
  return {found.mean, found.mean - *found.half_width, found.mean + *found.half_width};
}

std::string cells(const Interval& interval) {
  return fmt::format("{},{},{}", cell(interval.mean), cell(interval.low), cell(interval.high));
}

// One line of points.csv, without its lead.
std::string estimates(const PointNumbers& numbers, std::size_t arm, std::size_t reference,
                      std::size_t column, double confidence) {
  std::vector<double> values, differences;
  std::size_t failed = 0;
  bool paired = arm != reference;
  for (std::size_t i = 0; i < numbers.seeds; ++i) {
    if (numbers.failed[arm][i]) {
      ++failed;
      continue;
    }
    const auto& value = numbers.of_arm[arm][i][column];
    if (value) values.push_back(*value);
    if (numbers.failed[reference][i]) continue;
    const auto& other = numbers.of_arm[reference][i][column];
    if (!value || !other) paired = false;
    if (paired) differences.push_back(*value - *other);
  }
  if (!paired) differences.clear();
  const std::size_t reached = values.size();
  if (reached + failed < numbers.seeds) values.clear();
  return fmt::format("{},{},{},{},{},{}", numbers.seeds, failed, reached,
                     cells(interval_of(values, confidence)), Json(confidence).dump(),
                     cells(interval_of(differences, confidence)));
}

}  // namespace

void write_runs_csv(const SweepPlan& plan, const Shard& shard, const Journal& journal, std::ostream& out) {
  const Columns columns(plan, shard, journal);
  out << head_of(plan) << ",seed,run_id,status,reason";
  for (const std::string& name : columns.names()) out << "," << cell(name);
  out << "\n";
  std::vector<std::string> texts(columns.names().size());
  visit_runs(plan, shard, journal, [&](const RunKey& key, const Journal::Entry* entry) {
    if (entry == nullptr) return;
    const Journal::Row row = journal.row(key);
    out << lead_of(plan, key.point, key.arm) << "," << key.seed << "," << row.identity << ","
        << (entry->failed ? "failed" : "done") << "," << cell(row.reason);
    std::ranges::fill(texts, "");
    if (!entry->failed) {
      const std::vector<std::size_t>& places = columns.places(row.names);
      for (std::size_t i = 0; i < places.size(); ++i) texts[places[i]] = cell_of_json(row.values[i]);
    }
    for (const std::string& text : texts) out << "," << text;
    out << "\n";
  });
}

void write_points_csv(const SweepPlan& plan, const Shard& shard, const Journal& journal,
                      std::ostream& out) {
  const Columns columns(plan, shard, journal);
  out << head_of(plan) << ",metric,seeds,failed,n,mean,low,high,confidence,"
      << "difference_mean,difference_low,difference_high\n";
  const double confidence = interval_confidence(plan);
  const std::uint64_t points = plan.point_count();
  for (std::uint64_t point = shard.number - 1; point < points; point += shard.count) {
    const PointNumbers numbers = numbers_of(plan, journal, columns, point);
    for (std::size_t arm = 0; arm < plan.arms.size(); ++arm) {
      const std::string lead = lead_of(plan, point, arm);
      for (std::size_t k = 0; k < columns.names().size(); ++k) {
        if (!columns.is_number(k)) continue;
        out << lead << "," << cell(columns.names()[k]) << ","
            << estimates(numbers, arm, plan.reference, k, confidence) << "\n";
      }
    }
  }
}

}  // namespace sim::experiment
