// tests/report/timeline_test.cpp: a trace that a viewer can read, whatever the run's length.
//
// Goal:   every track, span and arrow of a hand-written run; valid nesting, order and arrows; the bound.
// Method: parsed with a JSON library; exact names and microseconds; a random run of 40,000 syncs.
// Teeth:  seen failing with a trailing comma, with arrows of one sync sharing an id, with overlapping
//         syncs on one row, without the sort by date, with the threshold's spans kept, and with groups
//         counted instead of their events.
#include "sim/report/timeline.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/readers/hand_written_run.h"

namespace sim::report {
namespace {

using namespace readers::hand;
using nlohmann::json;

json written(const Timeline& timeline) {
  std::ostringstream out;
  timeline.write_json(out);
  return json::parse(out.str());
}

// "track: name from to" of spans and "track: s/t/f id at" of arrows, in the file's order.
std::vector<std::string> told(const json& trace) {
  std::map<std::pair<int, int>, std::string> names;
  std::vector<std::string> lines;
  for (const json& e : trace["traceEvents"]) {
    const std::pair<int, int> track = {e["pid"], e["tid"]};
    if (e["ph"] == "M") {
      if (e["name"] == "thread_name") names[track] = e["args"]["name"];
      continue;
    }
    const double at = e["ts"].get<double>() / 1e6;
    std::ostringstream line;
    line << names[track] << ": ";
    if (e["ph"] == "X") {
      line << e["name"].get<std::string>() << " " << at << " " << at + e["dur"].get<double>() / 1e6;
    } else {
      line << e["ph"].get<std::string>() << e["id"] << " " << at;
    }
    lines.push_back(line.str());
  }
  return lines;
}

// What a viewer needs: order and proper nesting on each track, arrows that begin, go on and end in order.
void check_form(const json& trace) {
  std::map<std::pair<int, int>, double> last;
  std::map<std::pair<int, int>, std::vector<double>> open;  // ends of the spans around
  std::map<int, std::vector<std::pair<double, char>>> arrows;
  for (const json& e : trace["traceEvents"]) {
    const std::string phase = e["ph"];
    if (phase == "M") continue;
    const std::pair<int, int> track = {e["pid"], e["tid"]};
    const double at = e["ts"];
    REQUIRE(at >= last[track]);
    last[track] = at;
    if (phase == "X") {
      const double end = at + e["dur"].get<double>();
      auto& around = open[track];
      while (!around.empty() && around.back() <= at + 1e-4) around.pop_back();
      if (!around.empty()) REQUIRE(end <= around.back() + 1e-4);
      around.push_back(end);
      continue;
    }
    REQUIRE((phase == "s" || phase == "t" || phase == "f"));
    arrows[e["id"]].push_back({at, phase[0]});
  }
  for (auto& [id, points] : arrows) {
    CAPTURE(id);
    std::ranges::stable_sort(points, {}, [](const auto& p) {
      return std::pair(p.first, p.second == 's' ? 0 : p.second == 't' ? 1 : 2);
    });
    std::string word;
    for (const auto& point : points) word += point.second;
    REQUIRE((word == "sf" || word == "stf"));
  }
}

const std::vector<Contributor> kBoth = {{1.0, 0, 1}, {1.0, 1, 1}}, kFirst = {{1.0, 0, 1}};

FragmentAdopted got(std::uint32_t sync, std::uint16_t fragment, std::uint16_t learner) {
  FragmentAdopted fact{};
  fact.sync = sync;
  fact.learner = learner;
  fact.fragment = fragment;
  return fact;
}

TEST_CASE("timeline: activities and stretches of steps have tracks of their own", "[unit][report]") {
  const RunShape shape = two_learners();
  Timeline timeline(shape);
  play(lost_and_found(), timeline);
  const json trace = written(timeline);
  check_form(trace);
  CHECK(told(trace) == std::vector<std::string>{
                           "a: stepping 0 25", "a: detecting 25 30", "a: downscaling 30 32",
                           "a: stepping 32 42", "a: upscaling 42 45", "a: stepping 45 50",
                           "a steps: steps 1 to 2 0 20", "a steps: step 3 32 42", "b: stepping 0 50",
                           "b steps: steps 1 to 10 0 50"});
}

TEST_CASE("timeline: syncs, their waits and their arrows", "[unit][report]") {
  const RunShape shape = two_learners();
  Timeline timeline(shape);
  play({{0_s, ActivityChanged{0, Activity::kStepping}},
        {0_s, ActivityChanged{1, Activity::kStepping}},
        {4_s, GraceDecided{0, 0, 0, 2_s, 5}},
        {6_s, taken(0, 0, 0)},
        {6_s, taken(0, 1, 0)},
        {7_s, taken(1, 0, 1)},
        {8_s, merged(1, 1, 1, kFirst)},
        {9_s, merged(0, 0, 1, kBoth)},
        {10_s, got(0, 0, 0)},
        {11_s, got(1, 1, 1)},
        {20_s, RunEnded{0}}},
       timeline);
  const json trace = written(timeline);
  check_form(trace);
  // Arrows 1 and 2 are the takes of sync 0 by learners 0 (which adopts it) and 1; sync 1 is taken from
  // learner 0 (3) and adopted by learner 1 (4).
  CHECK(told(trace) == std::vector<std::string>{
                           "a: stepping 0 20", "a: s1 6", "a: s3 7", "a: f1 10", "b: stepping 0 20",
                           "b: s2 6", "b: f4 11", "steps: reports for step 5 0 4",
                           "steps: grace of step 5 4 6", "syncs: sync 0 of fragment 0 6 9",
                           "syncs: t1 9", "syncs: f2 9", "syncs (2): sync 1 of fragment 1 7 8",
                           "syncs (2): f3 8", "syncs (2): s4 8"});
  // An arrow ends inside the span, one nanosecond before its end; microseconds have ns decimals.
  std::ostringstream out;
  timeline.write_json(out);
  CHECK(out.str().find("\"ph\":\"t\",\"name\":\"sync\",\"cat\":\"sync\",\"id\":1,\"pid\":3,\"tid\":4,"
                       "\"ts\":8999999.999}") != std::string::npos);
}

TEST_CASE("timeline: faults stand on the track of what they hit", "[unit][report]") {
  const RunShape shape = two_learners();
  Timeline timeline(shape);
  const auto fault = [](std::uint32_t id, TargetKind kind, std::uint32_t target) {
    return FaultStarted{5_s, 1.0, id, target, FaultKind::kKill, kind, 0, 0};
  };
  play({{0_s, fault(0, TargetKind::kChip, 1)},
        {1_s, fault(1, TargetKind::kIsland, 0)},
        {1_s, fault(2, TargetKind::kSlice, 3)},
        {1_s, fault(3, TargetKind::kRegion, 1)},
        {1_s, fault(4, TargetKind::kLink, 0)},
        {1_s, fault(5, TargetKind::kSyncer, 1)},
        {2_s, FaultEnded{0}},
        {9_s, RunEnded{0}}},
       timeline);
  const json trace = written(timeline);
  check_form(trace);
  // Slice 3 has no learner, so it stands with its region, beside the region's own.
  CHECK(told(trace) == std::vector<std::string>{
                           "east: kill b/slice-1 1 9", "east (2): kill east 1 9",
                           "a faults: kill a/slice-1 0 2", "a faults (2): kill a 1 9",
                           "shard 1: kill b 1 9", "west--east faults: kill west--east 1 9"});
}

TEST_CASE("timeline: transfers and copied states", "[unit][report]") {
  const RunShape shape = two_learners();
  Timeline timeline(shape);
  play({{1_s, TransferStarted{10, 0, 0, 0, 1, TrafficClass::kFragment}},
        {1_s, TransferStarted{10, 1, 1, 0, 1, TrafficClass::kControl}},
        {2_s, TransferStarted{10, 2, 2, 0, 1, TrafficClass::kRecovery}},
        {2_s, StateSent{0, 0, 1}},
        {3_s, TransferDone{10, 10, 1_s, 0, 0, 1, TrafficClass::kFragment, TransferStatus::kOk}},
        {3_s, TransferStarted{10, 3, 3, 0, 1, TrafficClass::kFragment}},
        {4_s, TransferDone{10, 5, 2_s, 2, 0, 1, TrafficClass::kRecovery, TransferStatus::kLinkDown}},
        {4_s, StateCopied{0, 7, 0, 1, 2}},
        {9_s, RunEnded{0}}},
       timeline);
  const json trace = written(timeline);
  check_form(trace);
  CHECK(told(trace) == std::vector<std::string>{
                           "a: s1 2", "b: f1 4", "west to east: fragment 0 1 3",
                           "west to east: fragment 3 (cancelled) 3 9",
                           "west to east (2): recovery 2 (link down) 2 4"});
}

// Two learners, a sync at every step, a transfer each, and now and then a fault, for `steps` steps.
void play_long(Timeline& timeline, std::uint32_t steps_count) {
  std::mt19937_64 rng(1);
  Nanoseconds now = 0;
  for (std::uint32_t i = 0; i < steps_count; ++i) {
    const auto p = static_cast<std::uint16_t>(i % 2);
    timeline.on({now, GraceDecided{0, 0, 0, 0, i + 1}});
    timeline.on({now, TransferStarted{1, i, i, 0, 1, TrafficClass::kFragment}});
    for (std::uint16_t m = 0; m < 2; ++m) {
      timeline.on({now, ActivityChanged{m, Activity::kStepping}});
      timeline.on({now, taken(i, m, p)});
    }
    timeline.on({now, FaultStarted{1, 1.0, i, 0, FaultKind::kKill, TargetKind::kChip, 0, 0}});
    now += base::kMillisecond * static_cast<Nanoseconds>(1 + rng() % 1000);
    timeline.on({now, merged(i, p, i / 2 + 1, kBoth)});
    timeline.on({now, FaultEnded{i}});
    timeline.on({now, TransferDone{1, 1, 0, i, 0, 1, TrafficClass::kFragment, TransferStatus::kOk}});
    for (std::uint16_t m = 0; m < 2; ++m) {
      timeline.on({now, steps(m, 2 * i, 1, now - 1, 1)});
      timeline.on({now, ActivityChanged{m, Activity::kUpscaling}});
      timeline.on({now, got(i, p, m)});
    }
  }
  timeline.on({now, RunEnded{0}});
}

TEST_CASE("timeline: a long run keeps its bound, its form and whole arrows", "[unit][report]") {
  const RunShape shape = two_learners();
  for (const std::size_t bound : {100, 1000, 10'000}) {
    CAPTURE(bound);
    Timeline timeline(shape, bound);
    play_long(timeline, 40'000);
    const json trace = written(timeline);
    CHECK(trace["traceEvents"].size() <= bound);
    CHECK(trace["traceEvents"].size() > bound / 4);
    check_form(trace);
    // The rule in the file is the rule of the file.
    const json& rules = trace["otherData"];
    CHECK(rules["one_sync_in"].get<int>() > 1);
    CHECK(rules["one_transfer_in"].get<int>() > 1);
    const double shortest = std::stod(rules["shortest_fault_s"].get<std::string>());
    CHECK(shortest > 0);
    std::size_t syncs = 0;
    for (const json& e : trace["traceEvents"]) {
      if (e["ph"] != "X") continue;
      const std::string name = e["name"];
      if (name.starts_with("kill")) CHECK(e["dur"].get<double>() >= shortest * 1e6 - 1e-3);
      syncs += name.starts_with("sync");
    }
    // Evenly spread: within one of what one in k gives of 40,000.
    const double expected = 40'000.0 / rules["one_sync_in"].get<double>();
    CHECK(std::abs(static_cast<double>(syncs) - expected) <= 2);
  }
}

TEST_CASE("timeline: spans of one length are sampled, not dropped", "[unit][report]") {
  const RunShape shape = two_learners();
  Timeline timeline(shape, 1000);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    timeline.on({i * 10_s, FaultStarted{5_s, 1.0, i, 0, FaultKind::kKill, TargetKind::kChip, 0, 0}});
    timeline.on({i * 10_s + 5_s, FaultEnded{i}});
  }
  timeline.on({50'000_s, RunEnded{0}});
  const json trace = written(timeline);
  check_form(trace);
  std::size_t faults = 0;
  for (const json& e : trace["traceEvents"]) faults += e["ph"] == "X";
  // Room for 150: 5,000 / 64 = 78.
  CHECK(trace["otherData"]["one_fault_in"] == 64);
  CHECK((faults == 78 || faults == 79));
}

TEST_CASE("timeline: a short run is told whole", "[unit][report]") {
  const RunShape shape = two_learners();
  Timeline timeline(shape);
  play_long(timeline, 100);
  const json rules = written(timeline)["otherData"];
  CHECK(rules["one_sync_in"] == 1);
  CHECK(rules["one_transfer_in"] == 1);
  CHECK(rules["shortest_activity_s"] == "0.000000000");
}

TEST_CASE("timeline: it needs room", "[unit][report]") {
  const RunShape shape = two_learners();
  CHECK_THROWS_WITH(Timeline(shape, 99), "a timeline needs room for 100 events");
}

}  // namespace
}  // namespace sim::report
