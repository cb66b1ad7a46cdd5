// tests/bench/methods_bench.cpp: whole runs of the methods, as ratios to what bare loops cost.
//
// The two rows of the speed table that are about methods: a goodput question on millions of chips, and
// Decoupled DiLoCo with its traffic. Times are only comparable within one run of this program. Every
// measurement is a forked child, so its peak memory is its own; ctest runs the tiny sizes only.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>

#include "sim/engine/conductor.h"
#include "sim/engine/flow_network.h"
#include "sim/experiment/simulate.h"
#include "sim/scenario/load.h"
#include "tests/bench/bare_ring.h"
#include "tests/engine/run_forked.h"

namespace sim::experiment {
namespace {

using WallClock = std::chrono::steady_clock;
using engine::run_forked;

struct Measured {
  double seconds = 0;
  double peak_mib = 0;          // of the child, the program's own pages included
  std::uint64_t faults = 0, learner_steps = 0, merges = 0;
  std::uint64_t trace_hash = 0;  // printed, so that nobody changes unseen what is computed
};

Measured measure(const std::string& text) {
  return run_forked([&text] {
    const scenario::LoadResult loaded = scenario::load_text(text, "bench.toml");
    if (!loaded.scenario) throw std::logic_error(base::format(loaded.diagnostics));
    SimulateRequest request{};
    request.scenario = &*loaded.scenario;
    request.seed = loaded.scenario->seed;
    request.threads = 1;
    const WallClock::time_point start = WallClock::now();
    const report::Summary summary = simulate(request);
    Measured measured;
    measured.seconds = std::chrono::duration<double>(WallClock::now() - start).count();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    measured.peak_mib = static_cast<double>(usage.ru_maxrss) / 1024;
    measured.faults = summary.faults_met;
    measured.learner_steps = summary.learner_steps;
    measured.merges = summary.syncs.merged;
    measured.trace_hash = summary.trace_hash;
    return measured;
  });
}

void show(benchmark::State& state, const Measured& measured) {
  state.SetIterationTime(measured.seconds);
  state.counters["peak_MiB"] = measured.peak_mib;
  state.counters["faults"] = static_cast<double>(measured.faults);
  state.counters["learner_steps"] = static_cast<double>(measured.learner_steps);
  state.SetLabel(fmt::format("trace {:016x}", measured.trace_hash));
}

// --- Goodput alone: 2.4 million chips ---

std::string goodput_scenario(std::int64_t days) {
  return fmt::format(R"(format = 1
name = "Goodput"
seed = 1
marks = {{ time = "{} d" }}
[model]
parameters = 5e9
batch_tokens = 4194304
[network]
model = "none"
[[region]]
name = "everywhere"
[[island]]
name = "cluster"
region = "everywhere"
chip = "tpu-v5p"
chips = 2400000
slices = 64
[training]
method = "decoupled-diloco"
learners = 8
step_time = "1 s"
[[failure]]
target = "chip"
mtbi = "1 y"
repair = {{ kind = "exponential", mean = "60 s" }}
)",
                     days);
}

engine::Process sleeper(engine::Conductor& conductor, std::int64_t sleeps, std::uint32_t index) {
  for (std::int64_t i = 0; i < sleeps; ++i) {
    co_await conductor.sleep_for(base::kSecond, {engine::Priority::kStep, index});
  }
  if (index == 0) conductor.stop();
}

// Of eight processes that do nothing else.
double bare_sleeps_per_second() {
  constexpr std::int64_t kSleeps = 100'000;
  constexpr std::uint32_t kProcesses = 8;
  const double seconds = run_forked([] {
    const auto network = engine::make_no_network();
    engine::Conductor conductor(*network);
    for (std::uint32_t i = 0; i < kProcesses; ++i) conductor.spawn(sleeper(conductor, kSleeps, i), {});
    const WallClock::time_point start = WallClock::now();
    conductor.run();
    return std::chrono::duration<double>(WallClock::now() - start).count();
  });
  return kProcesses * kSleeps / seconds;
}

// An event is a fault that starts or ends; all that a job does about it is paid by these two.
void goodput_alone(benchmark::State& state) {
  for (auto _ : state) {
    const Measured measured = measure(goodput_scenario(state.range(0)));
    show(state, measured);
    const double events_per_s = 2 * static_cast<double>(measured.faults) / measured.seconds;
    state.counters["events_per_s"] = events_per_s;
    state.counters["events_over_bare_sleeps"] = events_per_s / bare_sleeps_per_second();
  }
}
BENCHMARK(goodput_alone)->Arg(1)->Arg(30)->UseManualTime()->Iterations(1);  // target: 3 s, 200 MiB

// --- Decoupled DiLoCo with its traffic: 8 learners in 4 regions ---

constexpr std::uint32_t kLearners = 8, kRegions = 4;

// H = P = 24: a fragment every step. 2e9 parameters in 24 fragments of bf16 are 167 MB each; a ring of
// four moves 1.5 times that over each link: 250 MB, 0.4 s of every step at 5 Gbit/s.
std::string decoupled_scenario(std::int64_t steps, const char* network) {
  std::string text = fmt::format(R"(format = 1
name = "Decoupled"
seed = 1
marks = {{ time = "{} s" }}
[network]
model = "{}"
[model]
parameters = 2e9
batch_tokens = 4194304
)",
                                 steps, network);
  for (std::uint32_t i = 0; i < kRegions; ++i) {
    text += fmt::format("[[region]]\nname = \"r{}\"\n", i);
    text += fmt::format("[[island]]\nname = \"i{}\"\nregion = \"r{}\"\nchip = \"tpu-v5p\"\n"
                        "chips = 64\nslices = 4\ncount = {}\n",
                        i, i, kLearners / kRegions);
    text += fmt::format("[[link]]\nbetween = [\"r{}\", \"r{}\"]\nbandwidth = \"5 Gbps\"\n"
                        "rtt = \"60 ms\"\n",
                        i, (i + 1) % kRegions);
  }
  return text + "[training]\nmethod = \"decoupled-diloco\"\nstep_time = \"1 s\"\nfragments = 24\n"
                "sync_every = 24\noverlap_steps = 2\n";
}

void decoupled_against_bare(benchmark::State& state) {
  const std::int64_t steps = state.range(0);
  const bench::BareRing bare = {.learners = kLearners, .regions = kRegions, .bytes_per_s = 6.25e8,
                                .delay_s = 0.03, .hop_bytes = 250'000'000, .steps = steps};
  for (auto _ : state) {
    const Measured measured = measure(decoupled_scenario(steps, "simgrid"));
    const double bare_s = run_forked([&bare] { return bench::bare_seconds(bare); });
    show(state, measured);
    // The events that both have: a step of each learner, and a flow over each link and merge.
    const double ours =
        static_cast<double>(measured.learner_steps + kRegions * measured.merges) / measured.seconds;
    const double theirs = static_cast<double>((kLearners + kRegions) * steps) / bare_s;
    state.counters["merges"] = static_cast<double>(measured.merges);
    state.counters["our_events_per_s"] = ours;
    state.counters["bare_events_per_s"] = theirs;
    state.counters["ours_over_bare"] = ours / theirs;  // target: at least 0.5
  }
}
// The same with the links' sharing by formula; beside the flows moved by SimGrid where those are short.
void decoupled_in_closed_form(benchmark::State& state) {
  const std::int64_t steps = state.range(0);
  const std::int64_t compared_steps = std::min<std::int64_t>(steps, 10'000);
  for (auto _ : state) {
    const Measured measured = measure(decoupled_scenario(steps, "closed-form"));
    const Measured some = measure(decoupled_scenario(compared_steps, "closed-form"));
    const Measured flows = measure(decoupled_scenario(compared_steps, "simgrid"));
    show(state, measured);
    state.counters["merges"] = static_cast<double>(measured.merges);
    state.counters["simgrid_over_ours"] = flows.seconds / some.seconds;
    state.counters["same_trace"] = flows.trace_hash == some.trace_hash;
  }
}
// Target for the second: 20 s.
BENCHMARK(decoupled_in_closed_form)->Arg(1'000)->Arg(30 * 86'400)->UseManualTime()->Iterations(1);
BENCHMARK(decoupled_against_bare)->Arg(1'000)->Arg(86'400)->UseManualTime()->Iterations(1);

}  // namespace
}  // namespace sim::experiment

BENCHMARK_MAIN();
