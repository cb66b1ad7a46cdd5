// tests/bench/tape_bench.cpp: facts per second through three ledgers, and bytes per fact on disk.
//
// Targets: 20 million facts per second through three readers; under 100 bytes a fact on disk. The bare
// loop over the same array is there so that the ratio can be compared between machines. Every case
// prints a hash of what it computed (label), which must not change with the code.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <sstream>
#include <vector>

#include "sim/readers/activity_ledger.h"
#include "sim/readers/properties.h"
#include "sim/readers/token_ledger.h"
#include "sim/readers/traffic_ledger.h"
#include "sim/readers/vector_clocks.h"
#include "sim/tape/tape.h"
#include "sim/tape/tape_file.h"

namespace {

using namespace sim::tape;
using sim::base::kSecond;

constexpr std::uint16_t kLearners = 8, kFragments = 24;

RunShape shape() {
  RunShape shape;
  shape.regions = {"west", "east"};
  shape.islands = {"a"};
  for (std::uint16_t m = 0; m < kLearners; ++m) {
    const auto region = static_cast<std::uint16_t>(m % 2);
    shape.slices.push_back({fmt::format("a/{}", m), 0, region, m, 64, 0, 1, 1000});
    shape.learners.push_back({fmt::format("l{}", m), region, {m}, 64});
  }
  shape.fragment_parameters.assign(kFragments, 500'000'000);
  shape.chips = 64 * kLearners;
  shape.nominal_step = kSecond;
  return shape;
}

// What Decoupled DiLoCo writes per second: steps, takes, transfers, a merge, adoptions.
std::vector<Fact> facts(std::uint32_t seconds, const std::vector<Contributor>& all) {
  std::vector<Fact> tape;
  for (std::uint16_t m = 0; m < kLearners; ++m) {
    tape.emplace_back(0, ActivityChanged{m, Activity::kStepping});
  }
  std::uint32_t transfer = 0;
  for (std::uint32_t s = 1; s <= seconds; ++s) {
    const Nanoseconds now = s * kSecond;
    const auto fragment = static_cast<std::uint16_t>(s % kFragments);
    for (std::uint16_t m = 0; m < kLearners; ++m) {
      tape.emplace_back(now, StepsDone{now - kSecond, kSecond, kSecond, s, 1, 1000, s, m, 1});
    }
    for (std::uint16_t m = 0; m < kLearners; ++m) {
      tape.emplace_back(now, FragmentTaken{1000, 1, s, s, 0, m, 1, fragment});
    }
    for (std::uint32_t i = 0; i < kLearners; ++i) {
      tape.emplace_back(now, TransferStarted{1'000'000, transfer + i, transfer + i, 0, 1, TrafficClass::kFragment});
    }
    const Nanoseconds end = now + kSecond / 2;
    for (std::uint32_t i = 0; i < kLearners; ++i) {
      tape.emplace_back(end, TransferDone{1'000'000, 1'000'000, now, transfer + i, 0, 1,
                                          TrafficClass::kFragment, TransferStatus::kOk});
    }
    transfer += kLearners;
    tape.emplace_back(end, FragmentMerged{all.data(), 0, kLearners, s, s, s, fragment, 0});
    for (std::uint16_t m = 0; m < kLearners; ++m) {
      tape.emplace_back(end, FragmentAdopted{s, s, s, 1, m, 1, fragment, 0});
    }
  }
  tape.emplace_back((seconds + 1) * kSecond, RunEnded{0});
  return tape;
}

struct Run {
  std::vector<Contributor> all;
  std::vector<Fact> tape;
};

const Run& run() {
  static const Run made = [] {
    Run run;
    for (std::uint16_t m = 0; m < kLearners; ++m) run.all.push_back({1.0, m, 1});
    run.tape = facts(2000, run.all);
    return run;
  }();
  return made;
}

void count_facts(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(run().tape.size()));
}

void bare_loop(benchmark::State& state) {
  std::uint64_t sum = 0;
  for (auto _ : state) {
    sum = 0;
    for (const Fact& fact : run().tape) sum += static_cast<std::uint64_t>(fact.at) ^ fact.steps_done.count;
    benchmark::DoNotOptimize(sum);
  }
  state.SetLabel(fmt::format("hash {:016x}", sum));
  count_facts(state);
}
BENCHMARK(bare_loop);

void three_ledgers(benchmark::State& state) {
  const RunShape run_shape = shape();
  std::uint64_t hash = 0;
  for (auto _ : state) {
    sim::readers::ActivityLedger activity(run_shape);
    sim::readers::TokenLedger tokens(run_shape);
    sim::readers::TrafficLedger traffic(run_shape);
    Reader* readers[] = {&activity, &tokens, &traffic};
    for (const Fact& fact : run().tape) {
      for (Reader* reader : readers) reader->on(fact);
    }
    hash = tokens.merged_tokens() ^ static_cast<std::uint64_t>(traffic.wan().received);
    benchmark::DoNotOptimize(activity.snapshot(run().tape.back().at));
  }
  state.SetLabel(fmt::format("hash {:016x}", hash));
  count_facts(state);
}
BENCHMARK(three_ledgers);

void trace_hash(benchmark::State& state) {
  std::uint64_t value = 0;
  for (auto _ : state) {
    TraceHash hash;
    for (const Fact& fact : run().tape) hash.on(fact);
    value = hash.value();
  }
  state.SetLabel(fmt::format("hash {:016x}", value));
  count_facts(state);
}
BENCHMARK(trace_hash);

void properties(benchmark::State& state) {
  const RunShape run_shape = shape();
  std::uint64_t violations = 0;
  for (auto _ : state) {
    sim::readers::Properties checks(run_shape, 1);
    for (const Fact& fact : run().tape) checks.on(fact);
    violations = checks.violation_count();
  }
  state.SetLabel(fmt::format("hash {:016x}", violations));
  count_facts(state);
}
BENCHMARK(properties);

void vector_clocks(benchmark::State& state) {
  const RunShape run_shape = shape();
  std::uint32_t watermark = 0;
  for (auto _ : state) {
    sim::readers::VectorClocks clocks(run_shape);
    for (const Fact& fact : run().tape) clocks.on(fact);
    watermark = clocks.watermark().step;
  }
  state.SetLabel(fmt::format("hash {:016x}", watermark));
  count_facts(state);
}
BENCHMARK(vector_clocks);

void write_file(benchmark::State& state) {
  const RunShape run_shape = shape();
  std::uint64_t size_bytes = 0;
  for (auto _ : state) {
    std::ostringstream out;
    TapeWriter writer(out, run_shape, 0);
    for (const Fact& fact : run().tape) writer.on(fact);
    writer.finish();
    size_bytes = writer.size_bytes();
  }
  state.counters["bytes_per_fact"] =
      static_cast<double>(size_bytes) / static_cast<double>(run().tape.size());
  state.SetLabel(fmt::format("hash {:016x}", size_bytes));
  count_facts(state);
}
BENCHMARK(write_file);

}  // namespace

BENCHMARK_MAIN();
