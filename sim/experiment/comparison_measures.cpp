// sim/experiment/comparison_measures.cpp: see comparison_measures.h.
#include "sim/experiment/comparison_measures.h"

#include <fmt/format.h>

#include "sim/experiment/figure.h"

namespace sim::experiment {
namespace {

// In the largest unit that leaves at least two: "6 h", "90 min".
std::string in_words(base::Nanoseconds time) {
  const double seconds = base::to_seconds(time);
  if (time >= 2 * base::kHour) return fmt::format("{:.6g} h", seconds / 3600.0);
  if (time >= 2 * base::kMinute) return fmt::format("{:.6g} min", seconds / 60.0);
  return fmt::format("{:.6g} s", seconds);
}

// Time measures stand at the time mark, else at the end of the run.
std::string until(const scenario::MarkOptions& marks) {
  return marks.time > 0 ? "up to " + in_words(marks.time) : "up to the end of the run";
}

void add_goodput(const std::string& when, std::vector<Measure>& list) {
  const std::string group = "Goodput " + when;
  const auto add = [&](const std::string& key, const std::string& column, bool difference) {
    const Wish wish = key == "goodput.token" ? Wish::kLarger : Wish::kNone;
    list.push_back({group, key, key, column, 4, wish, difference});
  };
  add("goodput.token", "token", true);
  add("goodput.stepping", "stepping", true);
  add("goodput.time", "time", false);
  add("goodput.chip", "chip", false);
  add("uptime", "uptime", false);
}

void add_steps(const std::string& when, std::vector<Measure>& list) {
  const std::string steps = "Steps and merges " + when, network = "Network between regions " + when;
  const auto add = [&list](const std::string& group, const std::string& key, const std::string& title,
                           const std::string& column, int decimals) -> Measure& {
    return list.emplace_back(Measure{group, key, title, column, decimals, Wish::kNone, false});
  };
  add(steps, "compute_utilization", "compute utilization", "compute utilization", 4);
  add(steps, "syncs.in_time", "share of due merges that came in time", "due merges in time", 4).divisor =
      "syncs.due";
  add(steps, "participation", "participation in merges", "participation in merges", 4);
  add(steps, "syncs.lone", "share of merges with one contributor", "lone merges", 4).divisor =
      "syncs.merged";
  add(steps, "step_median_s", "median step time (s)", "median step (s)", 4);
  add(network, "wan.mean_gbps", "WAN mean (Gbit/s)", "mean (Gbit/s)", 4);
  add(network, "wan.peak_gbps", "WAN peak (Gbit/s)", "peak (Gbit/s)", 4);
  add(network, "wan.bytes_per_token", "WAN bytes per token", "bytes per token", -1);
}

// The name of a setting of the stall power: "stall 0.2".
std::string stall(double share) { return fmt::format("stall {:.6g}", share); }

void add_energy(const std::string& when, const readers::EnergyOptions& power,
                std::vector<Measure>& list) {
  const std::string group = "Nominal energy and money " + when;
  const auto add = [&](const std::string& key, const std::string& title, const std::string& column,
                       bool difference) {
    list.push_back({group, key, title, column, -1, Wish::kNone, difference});
  };
  add("energy_kwh", fmt::format("energy (kWh), {}", stall(power.stall)),
      fmt::format("kWh, {}", stall(power.stall)), true);
  if (power.stall_low != power.stall) {
    add("energy_kwh_stall_low", fmt::format("energy (kWh), {}", stall(power.stall_low)),
        fmt::format("kWh, {}", stall(power.stall_low)), false);
  }
  if (power.stall_high != power.stall) {
    add("energy_kwh_stall_high", fmt::format("energy (kWh), {}", stall(power.stall_high)),
        fmt::format("kWh, {}", stall(power.stall_high)), false);
  }
  add("energy.wasted_kwh", "energy of undone and discarded work (kWh)", "wasted kWh", false);
  add("energy.joules_per_token", "joules per token", "J per token", false);
  add("cost_usd", "cost (USD)", "USD", true);
  add("cost.usd_per_billion_tokens", "cost of 1e9 tokens (USD)", "USD per 1e9 tokens", false);
}

std::string at_start(std::string at) {
  at.front() = at.front() == 'a' ? 'A' : 'T';  // "at ..." or "to ..."
  return at;
}

// Proxy loss at a mark, and what it took to get there. `at` is "at 6 h".
void add_mark(const std::string& name, const std::string& at, bool asks_for_loss,
              const readers::EnergyOptions& power, std::vector<Measure>& list) {
  const std::string group = at_start(at) + ": proxy loss at nominal time, energy and money";
  // To a loss all arms did the same work; at the other marks they did not.
  const Wish price = asks_for_loss ? Wish::kSmaller : Wish::kNone;
  const auto add = [&](const std::string& field, const std::string& title,
                       const std::string& column, int decimals, Wish wish, bool difference) {
    list.push_back({group, fmt::format("marks.{}.{}", name, field), fmt::format("{} {}", title, at),
                    column, decimals, wish, difference, asks_for_loss});
  };
  if (!asks_for_loss) add("loss", "loss", "loss", 4, Wish::kSmaller, true);
  if (name != "time") add("at_s", "time (s)", "time (s)", 1, price, false);
  if (asks_for_loss) add("tokens", "tokens", "tokens", -1, Wish::kSmaller, false);
  if (!asks_for_loss) add("merged_tokens", "merged tokens", "merged tokens", -1, Wish::kLarger, false);
  if (name == "time") return;  // there they are the measures of energy and money themselves
  if (name != "energy_kwh") {
    add("energy_kwh", fmt::format("energy (kWh), {},", stall(power.stall)),
        fmt::format("kWh, {}", stall(power.stall)), -1, price, false);
  }
  if (power.stall_high != power.stall) {
    add("energy_kwh_stall_high", fmt::format("energy (kWh), {},", stall(power.stall_high)),
        fmt::format("kWh, {}", stall(power.stall_high)), -1, price, false);
  }
  if (name != "cost_usd") add("cost_usd", "cost (USD)", "USD", -1, price, false);
}

void add_schedule(const std::string& name, const std::string& at, std::vector<Measure>& list) {
  list.push_back({"Place in the schedule: share of the peak learning rate",
                  fmt::format("marks.{}.learning_rate_factor", name),
                  fmt::format("share of the peak learning rate {}", at), at, 4, Wish::kNone, false});
}

void add_events(std::vector<Measure>& list) {
  const std::string group = "What happened up to the last mark";
  const auto add = [&](const std::string& key, const std::string& title, int decimals) {
    list.push_back({group, key, title, title, decimals, Wish::kNone, false});
  };
  add("steps", "steps", -1);
  add("tokens", "tokens consumed", -1);
  add("duration_s", "duration (s)", 1);
  add("loss.final", "loss at the end", 4);
  add("faults_met", "faults met", -1);
  add("faults_met_arm_relative", "faults met, arm-relative", -1);
  add("recoveries.lives", "recovered lives", -1);
  add("recoveries.back_in_merges", "of these back in merges", -1);
}

}  // namespace

std::string key_of(const Measure& measure) {
  return measure.divisor.empty() ? measure.key : measure.key + "/" + measure.divisor;
}

std::optional<double> figure_of(const Measure& measure, const nlohmann::ordered_json& summary) {
  const std::optional<double> figure = figure_at(summary, measure.key);
  if (!figure || measure.divisor.empty()) return figure;
  const std::optional<double> whole = figure_at(summary, measure.divisor);
  if (!whole || *whole <= 0.0) return std::nullopt;
  return *figure / *whole;
}

std::vector<Measure> measures(const scenario::Scenario& scenario) {
  const scenario::MarkOptions& marks = scenario.marks;
  std::vector<Measure> list;
  add_goodput(until(marks), list);
  add_steps(until(marks), list);
  std::vector<Measure> schedule;
  const auto mark = [&](bool declared, const std::string& name, const std::string& at) {
    if (!declared) return;
    add_mark(name, at, name == "loss", scenario.energy, list);
    add_schedule(name, at, schedule);
  };
  mark(marks.time > 0, "time", "at " + in_words(marks.time));
  mark(marks.tokens > 0, "tokens", fmt::format("at {:.6g} tokens", marks.tokens));
  mark(marks.energy_kwh > 0, "energy_kwh", fmt::format("at {:.6g} kWh", marks.energy_kwh));
  mark(marks.cost_usd > 0, "cost_usd", fmt::format("at {:.6g} USD", marks.cost_usd));
  mark(marks.loss > 0, "loss", fmt::format("to loss {:.6g}", marks.loss));
  add_energy(until(marks), scenario.energy, list);
  list.insert(list.end(), schedule.begin(), schedule.end());
  add_events(list);
  return list;
}

std::vector<std::string> marks_in_words(const scenario::MarkOptions& marks) {
  std::vector<std::string> words;
  if (marks.time > 0) words.push_back(in_words(marks.time));
  if (marks.tokens > 0) words.push_back(fmt::format("{:.6g} tokens", marks.tokens));
  if (marks.energy_kwh > 0) words.push_back(fmt::format("{:.6g} kWh", marks.energy_kwh));
  if (marks.cost_usd > 0) words.push_back(fmt::format("{:.6g} USD", marks.cost_usd));
  if (marks.loss > 0) words.push_back(fmt::format("loss {:.6g}", marks.loss));
  return words;
}

}  // namespace sim::experiment
