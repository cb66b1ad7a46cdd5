// tests/optim/model_test.cpp: gradients, purity and layout of every model.
//
// Goal:   the hand-written backward is the derivative of the forward; bits depend on nothing but
//         parameters and examples; padding stays zero.
// Method: a plain double-precision network written here, differentiated by central differences.
// Teeth:  seen failing with the GELU slope left out, the bias gradient dropped, the two delta
//         buffers swapped too early or never, the quadratic's gradient set instead of added, tensors
//         placed without padding, and the seed ignored at initialisation.
#include "optim/model.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "optim/aligned_block.h"
#include "optim/inner_optimizer.h"
#include "optim/quadratic_model.h"
#include "sim/base/random.h"
#include "tests/optim/same_bits.h"
#include "tests/optim/shifted_arena.h"

namespace optim {
namespace {

using Catch::Matchers::WithinAbs;
using Doubles = std::vector<double>;

const ModelOptions kSmallMlp{ModelKind::kMlp, 5, 3, 9, 3, 0.0};
const ModelOptions kWideMlp{ModelKind::kMlp, 17, 11, 40, 2, 0.0};
const ModelOptions kSoftmax{ModelKind::kSoftmax, 13, 6, 0, 0, 0.0};
const ModelOptions kQuadratic{ModelKind::kQuadratic, 37, 0, 0, 0, 50.0};

Batch random_batch(const ModelOptions& options, std::size_t examples, std::uint64_t seed) {
  sim::base::Stream stream(seed, "test/batch");
  Batch batch{examples, {}, {}};
  for (std::size_t i = 0; i < examples * options.inputs; ++i) {
    batch.inputs.push_back(static_cast<float>(stream.next_normal()));
  }
  if (options.kind == ModelKind::kQuadratic) return batch;
  for (std::size_t i = 0; i < examples; ++i) {
    batch.targets.push_back(static_cast<std::int32_t>(stream.next_below(options.outputs)));
  }
  return batch;
}

double reference_gelu(double x) {
  return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
}

// The network's loss in double, in the plainest form.
double reference_loss(const std::vector<Tensor>& tensors, const Doubles& parameters,
                      const Batch& batch) {
  double loss_sum = 0.0;
  for (std::size_t b = 0; b < batch.examples; ++b) {
    const std::size_t inputs = tensors[0].rows;
    Doubles a(batch.inputs.begin() + static_cast<std::ptrdiff_t>(b * inputs),
              batch.inputs.begin() + static_cast<std::ptrdiff_t>((b + 1) * inputs));
    for (std::size_t layer = 0; 2 * layer < tensors.size(); ++layer) {
      const Tensor &weight = tensors[2 * layer], &bias = tensors[2 * layer + 1];
      Doubles z(weight.cols);
      for (std::size_t j = 0; j < weight.cols; ++j) {
        z[j] = parameters[bias.offset + j];
        for (std::size_t i = 0; i < weight.rows; ++i) {
          z[j] += a[i] * parameters[weight.offset + i * weight.cols + j];
        }
      }
      const bool last = 2 * layer + 2 == tensors.size();
      if (!last) for (double& unit : z) unit = reference_gelu(unit);
      a = z;
    }
    double sum = 0.0;
    for (const double z : a) sum += std::exp(z);
    loss_sum += std::log(sum) - a[static_cast<std::size_t>(batch.targets[b])];
  }
  return loss_sum;
}

AlignedBlock initial(const Model& model, std::uint64_t seed) {
  AlignedBlock parameters(model.block_size());
  model.initialise(seed, parameters);
  return parameters;
}

TEST_CASE("network: gradients agree with finite differences in double", "[unit][optim]") {
  for (const ModelOptions& options : {kSmallMlp, kWideMlp, kSoftmax}) {
    CAPTURE(options.inputs, options.hidden, options.layers);
    const auto model = make_model(options);
    AlignedBlock parameters = initial(*model, 3);
    sim::base::Stream stream(4, "test/bias");  // biases start at zero; move them
    for (const Tensor& tensor : model->tensors()) {
      for (std::size_t i = 0; i < tensor.size(); ++i) {
        parameters[tensor.offset + i] += 0.2f * static_cast<float>(stream.next_normal());
      }
    }
    const Batch batch = random_batch(options, 7, 5);
    AlignedBlock gradient(model->block_size());
    std::vector<float> scratch;
    const double loss = model->loss_and_gradient(parameters, batch, gradient, scratch);
    Doubles point(parameters.begin(), parameters.end());
    // Float forward passes of O(1) numbers, a few hundred roundings of 6e-8 over 7 examples.
    CHECK_THAT(loss, WithinAbs(reference_loss(model->tensors(), point, batch), 2e-5));
    CHECK_THAT(model->loss(parameters, batch, scratch), WithinAbs(loss, 0.0));
    constexpr double h = 1e-5;  // difference error h^2 and rounding 1e-16 * 20 / h: below 1e-9
    for (const Tensor& tensor : model->tensors()) {
      for (std::size_t i = tensor.offset; i < tensor.offset + tensor.size(); ++i) {
        const double here = point[i];
        point[i] = here + h;
        const double above = reference_loss(model->tensors(), point, batch);
        point[i] = here - h;
        const double below = reference_loss(model->tensors(), point, batch);
        point[i] = here;
        CAPTURE(tensor.name, i - tensor.offset);
        REQUIRE_THAT(gradient[i], WithinAbs((above - below) / (2.0 * h), 1e-5));
      }
    }
  }
}

TEST_CASE("quadratic: loss and gradient by hand", "[unit][optim]") {
  // Two curvatures with ratio 3 and mean 1: 3/2 and 1/2. theta = (2, 1), x = (0, 3).
  //   loss = 1/2 (3/2 * 4 + 1/2 * 4) = 4 ;  gradient = (3/2 * 2, 1/2 * -2) = (3, -1)
  const QuadraticModel model(2, 3.0);
  AlignedBlock theta(model.block_size()), gradient(model.block_size());
  theta[0] = 2.0f;
  theta[1] = 1.0f;
  std::vector<float> scratch;
  const Batch batch{1, {0.0f, 3.0f}, {}};
  CHECK_THAT(model.loss_and_gradient(theta, batch, gradient, scratch), WithinAbs(4.0, 1e-6));
  CHECK_THAT(gradient[0], WithinAbs(3.0, 1e-6));  // curvatures are rounded to float
  CHECK_THAT(gradient[1], WithinAbs(-1.0, 1e-6));
  // Two examples more, (2, 1) and (0, 3): nothing and the same again, added to what is there.
  const Batch two{2, {2.0f, 1.0f, 0.0f, 3.0f}, {}};
  CHECK_THAT(model.loss_and_gradient(theta, two, gradient, scratch), WithinAbs(4.0, 1e-6));
  CHECK_THAT(gradient[0], WithinAbs(6.0, 2e-6));
}

TEST_CASE("quadratic: gradients agree with finite differences", "[unit][optim]") {
  const auto model = make_model(kQuadratic);
  AlignedBlock theta = initial(*model, 3), gradient(model->block_size());
  const Batch batch = random_batch(kQuadratic, 7, 5);
  std::vector<float> scratch;
  model->loss_and_gradient(theta, batch, gradient, scratch);
  for (std::size_t i = 0; i < model->parameter_count(); ++i) {
    // A parabola has no error of difference: any power of two that the parameter holds exactly.
    constexpr float h = 0.0625f;
    const float here = theta[i];
    theta[i] = here + h;
    const double high = theta[i], above = model->loss(theta, batch, scratch);
    theta[i] = here - h;
    const double low = theta[i], below = model->loss(theta, batch, scratch);
    theta[i] = here;
    CAPTURE(i);
    // The gradient is a float sum of 7 terms below 40: 7 * 40 * 6e-8.
    REQUIRE_THAT(gradient[i], WithinAbs((above - below) / (high - low), 2e-5));
  }
}

TEST_CASE("quadratic: curvatures have mean 1 and the wanted ratio", "[unit][optim]") {
  const QuadraticModel model(64, 1000.0);
  double sum = 0.0;
  for (const float c : model.curvature()) sum += double{c};
  CHECK_THAT(sum, WithinAbs(64.0, 64 * 1e-6));  // 64 float roundings of numbers below 8
  CHECK_THAT(double{model.curvature().front()} / double{model.curvature().back()},
             WithinAbs(1000.0, 1e-3));
}

TEST_CASE("models: a batch cut in two adds up to the same bits", "[unit][optim][property]") {
  for (const ModelOptions& options : {kSmallMlp, kWideMlp, kSoftmax, kQuadratic}) {
    const auto model = make_model(options);
    const AlignedBlock parameters = initial(*model, 1);
    const Batch whole = random_batch(options, 11, 2);
    AlignedBlock expected(model->block_size());
    std::vector<float> scratch;
    model->loss_and_gradient(parameters, whole, expected, scratch);
    for (std::size_t cut = 1; cut < 11; ++cut) {
      const auto at = static_cast<std::ptrdiff_t>(cut);
      const auto in = static_cast<std::ptrdiff_t>(cut * options.inputs);
      Batch front{cut, {whole.inputs.begin(), whole.inputs.begin() + in}, {}};
      Batch back{11 - cut, {whole.inputs.begin() + in, whole.inputs.end()}, {}};
      if (!whole.targets.empty()) {
        front.targets.assign(whole.targets.begin(), whole.targets.begin() + at);
        back.targets.assign(whole.targets.begin() + at, whole.targets.end());
      }
      AlignedBlock gradient(model->block_size());
      model->loss_and_gradient(parameters, front, gradient, scratch);
      model->loss_and_gradient(parameters, back, gradient, scratch);
      CAPTURE(options.inputs, cut);
      CHECK(same_bits(gradient, expected));
    }
  }
}

std::vector<float> trained_at(const ModelOptions& options, std::size_t shift) {
  return trained_at(options, shift, 5,
                    [&](std::uint64_t step) { return random_batch(options, 6, step); });
}

TEST_CASE("models: shifting the whole arena by 0 to 15 floats moves no bit",
          "[unit][optim][property]") {
  for (const ModelOptions& options : {kSmallMlp, kWideMlp, kSoftmax, kQuadratic}) {
    const std::vector<float> expected = trained_at(options, 0);
    for (std::size_t shift = 1; shift < 16; ++shift) {
      CAPTURE(options.inputs, shift);
      CHECK(same_bits(trained_at(options, shift), expected));
    }
  }
}

TEST_CASE("models: tensors start cache lines, do not overlap, and padding stays zero",
          "[unit][optim]") {
  for (const ModelOptions& options : {kSmallMlp, kWideMlp, kSoftmax, kQuadratic}) {
    const auto model = make_model(options);
    std::vector<float> trained = trained_at(options, 0);
    std::size_t count = 0, end = 0;
    for (const Tensor& tensor : model->tensors()) {
      CHECK(tensor.offset % 16 == 0);
      CHECK(tensor.offset >= end);
      end = tensor.offset + tensor.size();
      count += tensor.size();
      std::fill_n(trained.begin() + static_cast<std::ptrdiff_t>(tensor.offset), tensor.size(), 0.0f);
    }
    CHECK(count == model->parameter_count());
    CHECK(end <= model->block_size());
    CHECK(same_bits(trained, std::vector<float>(model->block_size(), 0.0f)));
  }
}

TEST_CASE("models: initial parameters are a function of the seed", "[unit][optim]") {
  for (const ModelOptions& options : {kSmallMlp, kSoftmax, kQuadratic}) {
    const auto model = make_model(options);
    CHECK(same_bits(initial(*model, 7), initial(*model, 7)));
    CHECK_FALSE(same_bits(initial(*model, 7), initial(*model, 8)));
  }
}

TEST_CASE("models: sizes of zero and kind none are refused", "[unit][optim]") {
  CHECK_THROWS_WITH(make_model({ModelKind::kNone, 1, 1, 1, 1, 1.0}),
                    "a model of kind none has no parameters to train");
  CHECK_THROWS_WITH(make_model({ModelKind::kSoftmax, 0, 2, 0, 0, 0.0}),
                    "inputs must be at least 1; got 0");
  CHECK_THROWS_WITH(make_model({ModelKind::kSoftmax, 2, 0, 0, 0, 0.0}),
                    "outputs must be at least 1; got 0");
  CHECK_THROWS_WITH(make_model({ModelKind::kMlp, 2, 2, 0, 1, 0.0}),
                    "hidden must be at least 1; got 0");
  CHECK_THROWS_WITH(make_model({ModelKind::kMlp, 2, 2, 4, 0, 0.0}),
                    "layers must be at least 1; got 0");
  CHECK_THROWS_WITH(make_model({ModelKind::kQuadratic, 2, 0, 0, 0, 0.5}),
                    "condition_number must be at least 1; got 0.5");
  CHECK_THROWS_WITH(make_model({ModelKind::kMlp, 2, 2, 4, 64, 0.0}),
                    "layers must be 1 to 64; got 65");
}

TEST_CASE("models: wrong shapes name both sizes", "[unit][optim]") {
  const auto model = make_model(kSoftmax);  // 13 x 6 padded to 80, and 6 padded to 16
  REQUIRE(model->block_size() == 96);
  AlignedBlock right(96), wrong(95);
  std::vector<float> scratch;
  Batch batch = random_batch(kSoftmax, 2, 1);
  CHECK_THROWS_WITH(model->loss(wrong, batch, scratch), "parameters has 95 floats, expected 96");
  CHECK_THROWS_WITH(model->loss_and_gradient(right, batch, wrong, scratch),
                    "gradient has 95 floats, expected 96");
  batch.targets.pop_back();
  CHECK_THROWS_WITH(model->loss(right, batch, scratch), "targets has 1 examples, expected 2");
  batch.inputs.pop_back();
  CHECK_THROWS_WITH(model->loss(right, batch, scratch), "inputs has 25 floats, expected 26");
}

}  // namespace
}  // namespace optim
