// tests/bench/trainer_bench.cpp: two learners' mathematics on two threads beside one.
//
// Both learners train the proxy transformer of 90,000 parameters, 512 tokens a step each, and merge
// now and then. The two runs must end with the same bits; the ratio of their wall times is the figure
// (target 1.8 on two idle cores). `cores_given` says what the machine gave the run of two threads:
// processor time over wall time; where that is below 2, other programs ran, and the ratio cannot reach it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <ctime>
#include <limits>
#include <stdexcept>

#include "sim/base/random.h"
#include "sim/trainer/trainer.h"
#include "tests/trainer/tape_fixture.h"

namespace sim::trainer {
namespace {

constexpr std::uint16_t kLearners = 2;
constexpr std::uint32_t kSlots = 16;

TrainerOptions transformer_options(const tape::RunShape& shape, std::size_t threads) {
  TrainerOptions options = with_threads(make_options(shape), threads);
  options.learning.model = {optim::ModelKind::kTransformer, 0, 64, 0, 3, 0.0, 48, 3, 32};
  options.learning.task = {optim::TaskKind::kMarkov, 64 * 32, 64, 32, 0.0, 2.0, 8,
                           optim::ExampleForm::kTokens};
  return options;
}

HandTape rounds(std::uint32_t count) {
  HandTape tape;
  for (std::uint32_t round = 0; round < count; ++round) {
    for (std::uint16_t m = 0; m < kLearners; ++m) tape.steps(m, 8 * round, 8);
    for (std::uint16_t m = 0; m < kLearners; ++m) tape.take(round, 0, m);
    tape.merge(round, 0, {0, 1});
    for (std::uint16_t m = 0; m < kLearners; ++m) tape.adopt(round, 0, m);
  }
  tape.end(1);
  return tape;
}

struct Measured {
  double wall_s = std::numeric_limits<double>::infinity();
  double cores_given = 0.0;
  std::uint64_t hash = 0;  // of the learners' parameters
};

Measured measure(std::uint32_t round_count, std::size_t threads) {
  const tape::RunShape shape = make_shape(kLearners, 1, kSlots, 1);
  const HandTape tape = rounds(round_count);
  Trainer trainer(shape, transformer_options(shape, threads));
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t processor = std::clock();
  play(tape, trainer);
  trainer.finish();
  Measured measured;
  measured.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  measured.cores_given = static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC / measured.wall_s;
  for (std::uint16_t m = 0; m < kLearners; ++m) {
    const optim::AlignedBlock& parameters = trainer.learner(m).parameters;
    measured.hash = base::hash_name(measured.hash, {reinterpret_cast<const char*>(parameters.data()),
                                                    parameters.size() * sizeof(float)});
  }
  return measured;
}

// In turns, the shortest of each.
void two_threads_over_one(benchmark::State& state) {
  const auto round_count = static_cast<std::uint32_t>(state.range(0));
  Measured one, two;
  for (auto _ : state) {
    const Measured alone = measure(round_count, 1), together = measure(round_count, 2);
    if (alone.hash != together.hash) throw std::logic_error("two threads gave other bits than one");
    if (alone.wall_s < one.wall_s) one = alone;
    if (together.wall_s < two.wall_s) two = together;
  }
  state.counters["one_thread_ms"] = one.wall_s * 1e3;
  state.counters["two_threads_ms"] = two.wall_s * 1e3;
  state.counters["cores_given"] = two.cores_given;
  state.counters["one_over_two"] = one.wall_s / two.wall_s;  // target: at least 1.8
  state.SetLabel(fmt::format("parameters {:016x}", one.hash));
}
BENCHMARK(two_threads_over_one)->Arg(1)->Iterations(1);
BENCHMARK(two_threads_over_one)->Arg(5)->Iterations(30);

}  // namespace
}  // namespace sim::trainer

BENCHMARK_MAIN();
