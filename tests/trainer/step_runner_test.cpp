// tests/trainer/step_runner_test.cpp: a step whose chunks are shared has the bits of a step alone.
//
// Method: the node waits until another thread is idle, so that sharing is certain and not luck.
// Teeth:  seen failing with fewer gradient blocks than chunks, and with a share that returns before
//         its guests are done.
#include "sim/trainer/step_runner.h"

#include <catch2/catch.hpp>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "sim/trainer/task_graph.h"
#include "tests/trainer/tape_fixture.h"

namespace sim::trainer {
namespace {

LearnerState three_steps(std::size_t threads, const std::vector<std::uint32_t>& slots) {
  const TrainerOptions options = make_options(make_shape(1, 1, 48, 1));
  const auto model = optim::make_model(options.learning.model);
  const auto task = optim::make_task(options.learning.task, options.seed);
  StepRunner runner({options.inner, options.learning.schedule, 48'000}, *model, *task, threads);
  LearnerState state{optim::AlignedBlock(model->block_size()),
                     optim::make_inner_state(options.inner, model->block_size())};
  model->initialise(options.seed, state.parameters.span());
  const std::vector<StepRun> runs = {
      {0, 0, 3, std::make_shared<const SlotList>(make_slot_list(slots, 48))}};
  TaskGraph graph(threads);
  graph.add({}, [&](const Worker& worker) {
    while (threads > 1 && !worker.crew->has_idle()) std::this_thread::yield();
    runner.run(runs, state, worker);
  });
  graph.run();
  return state;
}

TEST_CASE("step runner: shared chunks give the bits of one thread", "[unit][trainer]") {
  std::vector<std::uint32_t> slots(48);
  std::iota(slots.begin(), slots.end(), 0u);
  const LearnerState alone = three_steps(1, slots);
  CHECK(alone.inner.updates == 3);
  CHECK(same_bits(three_steps(2, slots), alone));
  CHECK(same_bits(three_steps(4, slots), alone));
}

}  // namespace
}  // namespace sim::trainer
