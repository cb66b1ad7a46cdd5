// tests/experiment/comparison_format_test.cpp: all forms of one table carry the same figures.
//
// Goal:   JSON, CSV and Markdown agree in every figure, difference and median; the text of six arms
//         with long names and five seeds keeps within 100 columns and shows every cell of Markdown.
// Method: real summaries with figures of every kind, written and parsed again.
// Teeth:  seen failing with columns in reverse order, with differences left out of the CSV, and with
//         columns packed up to 108.
#include "sim/experiment/comparison_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "sim/experiment/comparison_table.h"
#include "sim/experiment/figure.h"
#include "sim/report/summary.h"

namespace sim::experiment {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kArms = 6, kSeeds = 5;

scenario::Scenario six_arms() {
  scenario::Scenario scenario{};
  scenario.name = "Six arms, \"quoted\", with a name that is long enough to be broken into two lines "
                  "of the head of the table";
  scenario.marks = {6 * base::kHour, 5.6e10, 90 * base::kDay, 900, 20'000, 2.4};
  for (std::size_t arm = 0; arm < kArms; ++arm) {
    scenario.arms.emplace_back();
    scenario.arms.back().training.name =
        arm % 2 == 0 ? fmt::format("streaming, in region {}", arm)
                     : fmt::format("an-arm-whose-name-is-longer-than-a-column-{}", arm);
  }
  return scenario;
}

// Some spread that belongs to nothing but (arm, seed, what).
double spread(std::size_t arm, std::size_t seed, std::size_t what) {
  return std::fmod(0.37 * static_cast<double>(arm + 1) + 0.61 * static_cast<double>(seed * seed) +
                       0.13 * static_cast<double>(what), 1.0);
}

FinishedRun run_of(std::size_t arm, std::uint64_t seed) {
  report::Summary s;
  s.version = "1.2.3 (abc)";
  const auto some = [&](std::size_t what) { return 0.5 + spread(arm, seed, what) / 7.0; };
  s.goodput = {some(1), some(2), some(3), some(4), some(5), some(6)};
  if (arm != 1) s.participation = some(7);
  s.wan = {1000, some(8), some(9), 1, 1234.5 * some(10)};
  s.tokens = static_cast<std::uint64_t>(5.6e10 * some(11));
  s.loss = {9.0, some(12), 0.1};
  s.energy = report::EnergySummary{.total = 700 * some(13), .stall_low = 690, .stall_high = 900 * some(14)};
  s.energy->joules_per_token = some(15);
  s.cost = report::CostSummary{1e4 * some(16), 1, 2, 3 * some(17)};
  s.power = {0.2, 0.2, 1.0, 1.1, true};
  for (const char* name : {"time", "tokens", "energy_kwh", "cost_usd", "loss"}) {
    report::MarkSummary mark{name, {}, {}, {}};
    if (seed % 3 != arm % 4) {  // some seeds miss some marks
      mark.at = base::from_seconds(1e4 * some(18));
      mark.loss = some(19);
      mark.tokens = static_cast<std::uint64_t>(1e9 * some(20));
      mark.energy_kwh = 500 * some(21);
      mark.energy_kwh_stall_high = 600 * some(22);
      mark.cost_usd = 1e4 * some(23);
      mark.learning_rate_factor = some(24);
    }
    s.marks.push_back(mark);
  }
  return {arm, seed, ordered_json::parse(report::to_json(s))};
}

std::vector<FinishedRun> all_runs() {
  std::vector<FinishedRun> runs;
  for (std::size_t arm = 0; arm < kArms; ++arm) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) runs.push_back(run_of(arm, seed));
  }
  return runs;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> csv_cells(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

// Rows of all tables in order: arm, then its cells.
std::vector<std::vector<std::string>> markdown_rows(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : split_lines(text)) {
    if (!line.starts_with("| ")) continue;
    rows.emplace_back();
    for (std::size_t at = 2; at < line.size();) {
      const std::size_t end = line.find(" |", at);
      rows.back().push_back(line.substr(at, end - at));
      at = end + 3;
    }
  }
  return rows;
}

std::string csv_form(const ordered_json& number) {
  if (number.is_null()) return "";
  return number.is_string() ? "inf" : fmt::format("{}", number.get<double>());
}

TEST_CASE("formats: CSV holds every figure of JSON", "[unit][experiment]") {
  const Comparison comparison = compare(six_arms(), all_runs(), 2);
  const auto json = ordered_json::parse(as_json(comparison, {}, {"not checked: x"}, all_runs()));
  const auto lines = split_lines(as_csv(comparison));
  std::size_t line = 1;
  for (const auto& measure : json["measures"]) {
    for (const auto& arm : measure["arms"]) {
      const auto cells = csv_cells(lines.at(line++));
      CAPTURE(lines[line - 1]);
      REQUIRE(cells.size() == 13);
      CHECK(cells[0] == measure["key"]);
      CHECK(cells[1] == measure["title"]);
      CHECK(cells[2] == arm["arm"]);
      CHECK(cells[5] == fmt::format("{}", arm["reached"].get<int>()));
      const auto part = [&](const char* of, const char* what) {
        return arm[of].is_null() ? "" : csv_form(arm[of][what]);
      };
      CHECK(cells[6] == part("value", "mean"));
      CHECK(cells[7] == part("value", "half_width_95"));
      CHECK(cells[8] == part("difference", "mean"));
      CHECK(cells[9] == part("difference", "half_width_95"));
      CHECK(cells[10] == csv_form(arm["median"]));
      CHECK(cells[12] == (arm["best"].get<bool>() ? "1" : "0"));
    }
  }
  CHECK(line == lines.size());
  CHECK(line > 200);
  CHECK(json["reference"] == "streaming, in region 2");
  CHECK(json["expectations_not_checked"][0] == "not checked: x");
}

// Whether the cell shows the mean and half-width to the digits that it prints.
void check_cell(const std::string& cell, const ordered_json& estimate) {
  CAPTURE(cell, estimate.dump());
  const double mean = estimate["mean"], half = estimate["half_width_95"];
  std::size_t used = 0;
  const double shown = std::stod(cell, &used);
  CHECK(std::abs(shown - mean) <= std::max(0.5000001e-4 * std::abs(mean), 0.5000001e-4));
  const std::size_t sign = cell.find("±");
  REQUIRE(sign != std::string::npos);
  const double shown_half = std::stod(cell.substr(sign + std::string("±").size()));
  CHECK(std::abs(shown_half - half) <= std::max(0.06 * half, 0.051));
}

TEST_CASE("formats: Markdown holds every figure of JSON, in its place", "[unit][experiment]") {
  const Comparison comparison = compare(six_arms(), all_runs(), 2);
  const auto json = ordered_json::parse(as_json(comparison, {}, {}, all_runs()));
  const auto rows = markdown_rows(as_markdown(comparison));
  std::size_t table = 0, column = 1, checked = 0;  // a table: a row of titles and one for each arm
  std::string question;
  for (const auto& measure : json["measures"]) {
    if (!question.empty() && measure["question"] != question) {
      CHECK(column == rows.at(table).size());
      table += kArms + 1;
      column = 1;
    }
    question = measure["question"];
    const auto& titles = rows.at(table);
    const bool differs = column + 1 < titles.size() && titles[column + 1].ends_with("minus ref");
    for (std::size_t a = 0; a < kArms; ++a) {
      const auto& cells = rows.at(table + 1 + a);
      const auto& arm = measure["arms"][a];
      CHECK(cells[0] == arm["arm"]);
      if (arm["median"].is_number()) {
        CHECK(std::stod(cells[column]) == Approx(arm["median"].get<double>()).epsilon(1e-4));
      } else if (arm["median"].is_string()) {
        CHECK(cells[column].starts_with("not reached ("));
      } else if (!arm["value"].is_null()) {
        check_cell(cells[column], arm["value"]);
        CHECK(cells[column].ends_with(" *") == arm["best"].get<bool>());
      }
      if (differs && !arm["difference"].is_null()) {
        check_cell(cells[column + 1], arm["difference"]);
      }
      ++checked;
    }
    column += differs ? 2 : 1;
  }
  CHECK(column == rows.at(table).size());
  CHECK(table + kArms + 1 == rows.size());
  CHECK(checked > 200);
}

TEST_CASE("formats: six long arms and five seeds fit into 100 columns", "[unit][experiment]") {
  const Comparison comparison = compare(six_arms(), all_runs());
  const std::string text = as_text(comparison);
  for (const std::string& line : split_lines(text)) {
    CAPTURE(line);
    CHECK(std::ranges::count_if(line, [](char c) {
      return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u;
    }) <= 100);
  }
  for (const auto& row : markdown_rows(as_markdown(comparison))) {
    if (row[0] == "arm") continue;
    for (const std::string& cell : row) CHECK(text.find(cell) != std::string::npos);
  }
  CHECK_THAT(text, Catch::Matchers::Contains("n = 5 seeds (1 to 5)"));
  CHECK_THAT(text, Catch::Matchers::Contains("0.2 of its watts"));
  CHECK_THAT(text, Catch::Matchers::Contains("900 kWh, 20000 USD, loss 2.4"));
}

}  // namespace
}  // namespace sim::experiment
