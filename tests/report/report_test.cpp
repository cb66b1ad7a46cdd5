// tests/report/report_test.cpp: what stands in the files, to the byte.
//
// Goal:   headers, units and numbers of every table; summary.json reads back.
// Method: hand-written tapes and exact text.
// Teeth:  seen failing with two columns of faults.csv swapped, with a summary field not read back, and
//         with energy taken at the end of the run.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/report/activity_csv.h"
#include "sim/report/faults_csv.h"
#include "sim/report/loss_csv.h"
#include "sim/report/step_table.h"
#include "sim/report/summary.h"
#include "sim/report/traffic_csv.h"
#include "tests/readers/hand_written_run.h"

namespace sim::report {
namespace {

using namespace readers::hand;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Summary example() {
  const RunShape shape = data_parallel();
  readers::RunAccount account(
      shape, {.quorum = 0, .overlap_steps = 0, .counting = readers::TokenCounting::kAtOnce});
  std::vector<Fact> facts = rolled_back_run();
  facts.insert(facts.begin() + 6, Fact(8_s, MarkReached{700, MarkKind::kTime}));
  play(facts, account);
  Summary summary;
  summary.scenario = "hand \"written\"";
  summary.scenario_hash = 0xfedcba9876543210;
  summary.arm = summary.method = "data-parallel";
  summary.seed = UINT64_MAX;
  summary.version = "0.1.0";
  summary.isa_level = "x86-64-v3";
  summary.trace_hash = 1;
  summary.marks = {{"time", {}, 2.5, {}}, {"tokens", {}, {}, {}}};
  summary.loss.initial = 0.1;
  summary.proxy = ProxySummary{"mlp", "teacher", "adamw", 1000, 32};
  summary.clock = "wall";
  fill(summary, shape, account);
  return summary;
}

TEST_CASE("summary: figures come from the ledgers and from the right date", "[unit][report]") {
  const auto json = nlohmann::json::parse(to_json(example()));
  CHECK(json["duration_s"] == 12.0);
  CHECK(json["accounted_until_s"] == 8.0);
  CHECK(json["goodput"]["time"] == 7.0 / 8.0);
  CHECK(json["tokens"] == 600);
  CHECK(json["steps"] == 7);
  CHECK(json["learner_steps"] == 9);
  CHECK(json["step_median_s"] == 1.0);
  CHECK(json["marks"]["time"]["at_s"] == 8.0);
  CHECK(json["marks"]["time"]["tokens"] == 700);
  CHECK(json["marks"]["time"]["loss"] == 2.5);
  CHECK(json["marks"]["tokens"]["at_s"].is_null());
  CHECK(json["participation"].is_null());  // nothing merges in data parallel
  CHECK(json["activity_chip_seconds"]["compute"] == 22.4);  // seven steps of 0.8 s on 4 chips
  CHECK(json["token_account"]["rolled_back"] == 300);
  CHECK(json["trace_hash"] == "0000000000000001");
  CHECK(json["seed"] == UINT64_MAX);
}

TEST_CASE("summary: what is written reads back to the same text", "[unit][report]") {
  const std::string text = to_json(example());
  CHECK(to_json(from_json(text)) == text);
  CHECK(text.starts_with("{\n  \"format\": 1,\n  \"scenario\": \"hand \\\"written\\\"\""));
  Summary bare = example();
  bare.proxy.reset();
  CHECK(to_json(from_json(to_json(bare))) == to_json(bare));
}

TEST_CASE("summary: energy and cost stand as far as the time mark", "[unit][report]") {
  // Four chips of 100 W at 2 USD/h. Seven steps of 0.8 s + 0.2 s and a second of saving by 8 s:
  // 400 W x (5.6 s + 0.2 x 2.4 s) = 2,432 J.
  RunShape shape = data_parallel();
  shape.slices[0].milliwatts = 100'000;
  shape.slices[0].nanodollars_per_h = 2'000'000'000;
  shape.watts_assumed = true;
  readers::AccountOptions options{.quorum = 0,
                                  .overlap_steps = 0,
                                  .counting = readers::TokenCounting::kAtOnce};
  options.energy.host_w = 0;
  options.energy.pue = 1;
  readers::RunAccount account(shape, options);
  std::vector<Fact> facts = rolled_back_run();
  facts.insert(facts.begin() + 6, Fact(8_s, MarkReached{700, MarkKind::kTime}));
  play(facts, account);
  Summary summary = example();
  fill(summary, shape, account);
  const std::string text = to_json(summary);
  CHECK(to_json(from_json(text)) == text);
  const auto json = nlohmann::json::parse(text);
  const auto near = [](double value) { return Approx(value).epsilon(1e-14); };  // a few roundings
  CHECK(json["energy_kwh"].get<double>() == near(2432 / 3.6e6));
  CHECK(json["energy_kwh_stall_low"] == json["energy_kwh"]);
  CHECK(json["energy_kwh_stall_high"].get<double>() == near(3200 / 3.6e6));
  CHECK(json["energy"]["joules_per_token"].get<double>() == near(2432.0 / 700));
  CHECK(json["energy"]["stalled_kwh"].get<double>() == near(192 / 3.6e6));
  CHECK(json["energy"]["watts_assumed"] == true);
  CHECK(json["cost_usd"].get<double>() == near(8.0 * 8 / 3600));
  CHECK(json["cost"]["usd_per_billion_tokens"].get<double>() == near(8.0 * 8 / 3600 / 700e-9));
  CHECK(json["marks"]["time"]["energy_kwh"] == json["energy_kwh"]);
  CHECK(json["marks"]["tokens"]["cost_usd"].is_null());
  CHECK(nlohmann::json::parse(to_json(example()))["energy_kwh"].is_null());
}

TEST_CASE("summary: a missing key and another format are named", "[unit][report]") {
  auto json = nlohmann::ordered_json::parse(to_json(example()));
  json.erase("wan");
  CHECK_THROWS_WITH(from_json(json.dump()), "summary: wan: missing key");
  json["format"] = 7;
  CHECK_THROWS_WITH(from_json(json.dump()), "summary: format: must be 1; got 7");
  CHECK_THROWS_WITH(from_json("{"), "summary: this is not JSON");
}

TEST_CASE("faults.csv: planned durations, empty for good", "[unit][report]") {
  const RunShape shape = two_learners();
  readers::FaultLog log;
  play({{1'500'000'000, FaultStarted{5_s, 1.0, 0, 1, FaultKind::kKill, TargetKind::kRegion, 1, 0}},
        {2_s, FaultStarted{base::kNever, 0.5, 1, 0, FaultKind::kRateCut, TargetKind::kLink, 0, 1}}},
       log);
  std::ostringstream out;
  write_faults_csv(log, shape, out);
  CHECK(out.str() ==
        "at_s,kind,target_kind,target,for_s,rate_factor,source,arm_relative\n"
        "1.500000000,kill,region,east,5.000000000,,scripted,0\n"
        "2.000000000,rate-cut,link,west--east,,0.5,random,1\n");
}

TEST_CASE("activity.csv: one second per row, chip-seconds per bucket", "[unit][report]") {
  const RunShape shape = two_learners();
  readers::ActivityGrid grid;
  readers::ActivityLedger ledger(shape, &grid);
  play(lost_and_found(), ledger);
  std::ostringstream out;
  write_activity_csv(ledger.grid_at(50_s), out);
  const auto lines = lines_of(out.str());
  REQUIRE(lines.size() == 51);
  CHECK(lines[0].starts_with("time_s,bin_s,compute_chip_s,waiting_for_slowest_chip_s,exposed_"));
  // Second 8: learner 0 communicates on 4 chips; learner 1 is 3 s into a step of 4 s + 1 s.
  CHECK(lines[9].starts_with("8.000000000,1.000000000,4.000000000,0.000000000,4.000000000"));
}

TEST_CASE("traffic.csv: a transfer is spread from start to end", "[unit][report]") {
  const RunShape shape = two_learners();
  readers::TrafficLedger ledger(shape);
  play({{0_s, TransferStarted{250'000'000, 1, 1, 0, 1, TrafficClass::kFragment}},
        {2_s, TransferDone{250'000'000, 250'000'000, 0, 1, 0, 1, TrafficClass::kFragment,
                           TransferStatus::kOk}}},
       ledger);
  std::ostringstream out;
  write_traffic_csv(ledger, out);
  const auto lines = lines_of(out.str());
  REQUIRE(lines.size() == 3);
  // 250 MB in 2 s are 1 Gbit/s.
  CHECK(lines[2] == "1.000000000,1.000000000,1,0,1,0,0,0,0,0");
}

TEST_CASE("steps.csv: bins of one nominal step", "[unit][report]") {
  const RunShape shape = data_parallel();
  readers::TokenLedger tokens(shape);
  StepTable table(shape, tokens);
  for (const Fact& fact : rolled_back_run()) {
    tokens.on(fact);
    table.on(fact);
  }
  std::ostringstream out;
  table.write_csv(out);
  const auto lines = lines_of(out.str());
  CHECK(lines[0] ==
        "time_s,bin_s,step,learner_steps,learners_stepping,merges,contributions,tokens,"
        "merged_tokens,lone_merges");
  CHECK(lines[1] == "1.000000000,1.000000000,1,1,1,0,0,0,0,0");
  CHECK(lines[5] == "5.000000000,1.000000000,4,0,0,0,0,400,400,0");   // saving; the stretch was told at 4 s
  CHECK(lines[11] == "11.000000000,1.000000000,5,1,1,0,0,400,400,0");  // step 5 again
}

TEST_CASE("loss.csv: long records are thinned and keep their last point", "[unit][report]") {
  std::vector<LossPoint> points;
  for (std::uint64_t i = 0; i < 25'000; ++i) points.push_back({static_cast<Nanoseconds>(i), i, 0.5});
  std::ostringstream out;
  write_loss_csv(points, out);
  const auto lines = lines_of(out.str());
  CHECK(lines.size() == 1 + 6'250 + 1);  // every fourth, and the last
  CHECK(lines[2] == "0.000000004,4,0.5");
  CHECK(lines.back() == "0.000024999,24999,0.5");
}

}  // namespace
}  // namespace sim::report
