// tests/bench/optim_bench.cpp: one training step of the proxy transformer, and its share in products.
//
// A step is what a learner does: gradient to zero, forward, backward, division by the examples, clip,
// AdamW. The label is the loss after a fixed number of steps, so that nobody changes unseen what is
// computed. Beside PyTorch: tests/bench/against_torch, which reads what `--export SIZE FILE` writes.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <ctime>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "optim/elementwise.h"
#include "optim/inner_optimizer.h"
#include "tests/bench/step_products.h"
#include "tests/bench/transformer_sizes.h"

namespace optim::bench {
namespace {

constexpr InnerOptions kInner{InnerKind::kAdamW, 3e-3, 0.9, 0.99, 1e-8, 0.01, 1.0};

class Learner {
 public:
  explicit Learner(const Size& size)
      : model_(make_model(size.options())),
        parameters_(model_->block_size()),
        gradient_(model_->block_size()),
        state_(make_inner_state(kInner, model_->block_size())) {
    model_->initialise(1, parameters_);
  }

  // Mean loss of the batch before the step.
  double step(const Batch& batch) {
    gradient_.set_zero();
    const double loss = model_->loss_and_gradient(parameters_, batch, gradient_, scratch_);
    const float share = 1.0f / static_cast<float>(batch.examples);
    scale(gradient_, share);
    inner_update(kInner, 1.0, *model_, parameters_, gradient_, state_);
    return loss / static_cast<double>(batch.examples);
  }

  // The optimizer alone, on whatever gradient there is.
  void update() { inner_update(kInner, 1.0, *model_, parameters_, gradient_, state_); }

  const Model& model() const { return *model_; }
  const AlignedBlock& parameters() const { return parameters_; }

 private:
  std::unique_ptr<Model> model_;
  AlignedBlock parameters_, gradient_;
  InnerState state_;
  std::vector<float> scratch_;
};

// Processor time of this thread: what other programs take of the machine is not in it.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <typename Work>
double seconds_of(const Work& work) {
  const double start = thread_seconds();
  work();
  return thread_seconds() - start;
}

// The shortest of many tries of each, in turns: other programs on the machine only lengthen them.
void transformer_step(benchmark::State& state) {
  const Size& size = kSizes[state.range(0)];
  Learner learner(size);
  StepProducts products(size);
  const Batch batch = random_batch(size, 0);
  constexpr double kLong = std::numeric_limits<double>::infinity();
  double step_s = kLong, product_s = kLong, update_s = kLong, loss = 0.0;
  for (int i = 0; i < 5; ++i) loss = learner.step(batch);
  for (auto _ : state) {
    step_s = std::min(step_s, seconds_of([&] { learner.step(batch); }));
    product_s = std::min(product_s, seconds_of([&] { products.run(); }));
    update_s = std::min(update_s, seconds_of([&] { learner.update(); }));
  }
  state.counters["parameters"] = static_cast<double>(learner.model().parameter_count());
  state.counters["tokens"] = static_cast<double>(size.tokens());
  state.counters["step_us"] = step_s * 1e6;
  state.counters["products_share"] = product_s / step_s;
  state.counters["products_gflop_per_s"] = products.flop() / product_s * 1e-9;
  state.counters["optimizer_share"] = update_s / step_s;
  state.SetLabel(fmt::format("{} loss {:.5f}", size.name, loss));
}
BENCHMARK(transformer_step)->DenseRange(0, 3);

template <typename T>
void write(std::ofstream& file, const T* values, std::size_t count) {
  file.write(reinterpret_cast<const char*>(values), static_cast<std::streamsize>(count * sizeof(T)));
}

// Sizes (7 int32), the parameters tensor by tensor without padding, then per step: tokens, targets
// and the loss before it (double).
bool export_size(const char* name, const char* path) {
  constexpr std::int32_t kSteps = 8;
  for (const Size& size : kSizes) {
    if (std::strcmp(size.name, name) != 0) continue;
    std::ofstream file(path, std::ios::binary);
    Learner learner(size);
    for (const std::size_t number : {size.vocabulary, size.context, size.width, size.heads,
                                     size.layers, size.examples, std::size_t{kSteps}}) {
      const auto value = static_cast<std::int32_t>(number);
      write(file, &value, 1);
    }
    for (const Tensor& tensor : learner.model().tensors()) {
      write(file, learner.parameters().data() + tensor.offset, tensor.size());
    }
    for (std::int32_t step = 0; step < kSteps; ++step) {
      const Batch batch = random_batch(size, static_cast<std::uint64_t>(step));
      const double loss = learner.step(batch);
      write(file, batch.tokens.data(), batch.tokens.size());
      write(file, batch.targets.data(), batch.targets.size());
      write(file, &loss, 1);
    }
    return file.good();
  }
  return false;
}

}  // namespace
}  // namespace optim::bench

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--export") == 0) {
    return optim::bench::export_size(argv[2], argv[3]) ? 0 : 1;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
