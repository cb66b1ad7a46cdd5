// tests/optim/allocation_test.cpp: a training step allocates nothing once it is warm.
//
// Method: this file replaces the global operator new and counts its calls.
// Teeth:  seen failing with the scratch buffer made anew in each call, and with a vector of
//         activation pointers inside the step.
// Absent under the address sanitizer, which owns operator new itself.
#ifndef __SANITIZE_ADDRESS__
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>
#include <vector>

#include "optim/inner_optimizer.h"
#include "optim/model.h"
#include "optim/task.h"

namespace {

std::atomic<long> allocation_count{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocation_count;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* const place = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (place == nullptr) throw std::bad_alloc();
  return place;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }
void operator delete(void* place, std::align_val_t) noexcept { std::free(place); }
void operator delete(void* place, std::size_t, std::align_val_t) noexcept { std::free(place); }

namespace optim {
namespace {

TEST_CASE("training step: no allocation after the first of its batch size", "[unit][optim]") {
  const TaskOptions markov{TaskKind::kMarkov, 32, 8, 4, 0.0, 2.0, 70};
  const TaskOptions teacher{TaskKind::kTeacher, 32, 8, 0, 0.1, 0.0, 70};
  const TaskOptions quadratic{TaskKind::kQuadratic, 32, 0, 0, 0.1, 0.0, 70};
  const ModelOptions mlp{ModelKind::kMlp, 32, 8, 48, 3, 0.0};
  const ModelOptions softmax{ModelKind::kSoftmax, 32, 8, 0, 0, 0.0};
  const ModelOptions bowl{ModelKind::kQuadratic, 32, 0, 0, 0, 10.0};
  const TaskOptions sequences{TaskKind::kMarkov, 8 * 20, 8, 20, 0.0, 2.0, 70, ExampleForm::kTokens};
  const ModelOptions transformer{ModelKind::kTransformer, 0, 8, 0, 2, 0.0, 24, 2, 20};
  struct Pair {
    TaskOptions task;
    ModelOptions model;
  };
  for (const Pair& pair : {Pair{markov, mlp}, Pair{teacher, softmax}, Pair{quadratic, bowl},
                           Pair{sequences, transformer}}) {
    const auto task = make_task(pair.task, 1);
    const auto model = make_model(pair.model);
    const InnerOptions inner{InnerKind::kAdamW, 0.01, 0.9, 0.99, 1e-8, 0.1, 1.0};
    InnerState state = make_inner_state(inner, model->block_size());
    AlignedBlock parameters(model->block_size()), gradient(model->block_size());
    model->initialise(1, parameters);
    Batch batch;
    std::vector<float> scratch;
    const auto step = [&](std::uint32_t index) {
      batch.examples = 0;
      batch.inputs.clear();
      batch.targets.clear();
      batch.tokens.clear();
      for (std::uint32_t slot = 0; slot < 8; ++slot) task->append_example(index, slot, batch);
      gradient.set_zero();
      model->loss_and_gradient(parameters, batch, gradient, scratch);
      inner_update(inner, 1.0, *model, parameters, gradient, state);
      return model->loss(parameters, task->held_out(), scratch);
    };
    double sum = step(0);
    const long before = allocation_count;
    for (std::uint32_t index = 1; index < 20; ++index) sum += step(index);
    CHECK(allocation_count == before);
    CHECK(sum > 0.0);
  }
  CHECK(allocation_count > 0);  // the counter is really in use
}

}  // namespace
}  // namespace optim

#endif
