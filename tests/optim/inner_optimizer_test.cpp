// tests/optim/inner_optimizer_test.cpp: SGD, AdamW, decay and clipping, by hand.
//
// Teeth: seen failing with the bias corrections dropped, with the step counter one ahead,
//        with decay added to the gradient instead of the parameters, with decay on every tensor,
//        with the norm of one lane only, and with clipping that also scales small gradients up.
#include "optim/inner_optimizer.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "tests/optim/same_bits.h"

namespace optim {
namespace {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

// 2 x 3 weight (decayed) at 0, bias of 3 (not decayed) at 16.
struct Fixture {
  std::unique_ptr<Model> model = make_model({ModelKind::kSoftmax, 2, 3, 0, 0, 0.0});
  AlignedBlock theta{32}, gradient{32};
};

constexpr std::size_t kWeight = 0, kBias = 16;

InnerOptions adamw(double rate) { return {InnerKind::kAdamW, rate, 0.9, 0.99, 1e-8, 0.0, 0.0}; }
InnerOptions sgd(double rate) { return {InnerKind::kSgd, rate, 0.0, 0.0, 0.0, 0.0, 0.0}; }

TEST_CASE("AdamW: the first step has the size of the rate for any gradient", "[unit][optim]") {
  for (const float g : {1e-4f, 0.3f, -7.0f, 1e6f}) {
    Fixture f;
    const InnerOptions options = adamw(0.01);
    InnerState state = make_inner_state(options, 32);
    f.gradient[kWeight] = g;
    inner_update(options, 1.0, *f.model, f.theta, f.gradient, state);
    CAPTURE(g);
    // epsilon over the smallest gradient is 1e-4 of the step; float rounding is far below.
    CHECK_THAT(f.theta[kWeight], WithinRel(g > 0 ? -0.01f : 0.01f, 1.1e-4f));
    CHECK(state.updates == 1);
  }
}

TEST_CASE("AdamW: two steps by hand", "[unit][optim]") {
  // beta1 = 1/2, beta2 = 3/4, rate = 0.1, epsilon = 0, decay 0.5, theta = 1.
  // Step 1, g = 2: m = 1, v = 1. Corrections 1/2 and 1/4: m/c = 2, sqrt(v/c) = 2, ratio 1.
  //   theta = 1 - 0.1 * (1 + 0.5 * 1) = 0.85
  // Step 2, g = 4: m = 0.5 + 2 = 2.5, v = 0.75 + 4 = 4.75. Corrections 3/4 and 7/16:
  //   ratio = (10/3) / sqrt(76/7) = 1.011634, theta = 0.85 - 0.1 * (1.011634 + 0.425) = 0.7063366
  Fixture f;
  const InnerOptions options{InnerKind::kAdamW, 0.1, 0.5, 0.75, 0.0, 0.5, 0.0};
  InnerState state = make_inner_state(options, 32);
  // Without epsilon an element whose gradient is 0 would be 0/0; give all of them the same.
  for (const Tensor& tensor : f.model->tensors()) {
    for (std::size_t i = 0; i < tensor.size(); ++i) {
      f.theta[tensor.offset + i] = 1.0f;
      f.gradient[tensor.offset + i] = 2.0f;
    }
  }
  inner_update(options, 1.0, *f.model, f.theta, f.gradient, state);
  CHECK_THAT(f.theta[kWeight + 5], WithinAbs(0.85, 2e-7));  // a few roundings near 1
  CHECK_THAT(f.theta[kBias + 2], WithinAbs(0.9, 2e-7));     // no decay on the bias
  CHECK_THAT(state.first[kWeight], WithinAbs(1.0, 1e-7));
  CHECK_THAT(state.second[kWeight], WithinAbs(1.0, 1e-7));
  for (float& g : f.gradient) g *= 2.0f;
  inner_update(options, 1.0, *f.model, f.theta, f.gradient, state);
  const double ratio = (2.5 / 0.75) / std::sqrt(4.75 / 0.4375);
  CHECK_THAT(ratio, WithinAbs(1.011634, 1e-5));
  CHECK_THAT(f.theta[kWeight], WithinAbs(0.85 - 0.1 * (ratio + 0.425), 3e-7));
  CHECK_THAT(f.theta[kBias], WithinAbs(0.9 - 0.1 * ratio, 3e-7));
  CHECK(state.updates == 2);
}

TEST_CASE("AdamW: a thousand steps follow the equations in double", "[unit][optim][property]") {
  const InnerOptions options{InnerKind::kAdamW, 0.003, 0.9, 0.999, 1e-8, 0.1, 0.0};
  Fixture f;
  InnerState state = make_inner_state(options, 32);
  double theta = 0.5, m = 0.0, v = 0.0;
  f.theta[kWeight] = 0.5f;
  for (int t = 1; t <= 1000; ++t) {
    const double g = 0.3 + std::sin(0.1 * t), factor = 1.0 - t / 2000.0;
    f.gradient[kWeight] = static_cast<float>(g);
    inner_update(options, factor, *f.model, f.theta, f.gradient, state);
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    const double first = m / (1.0 - std::pow(0.9, t)), second = v / (1.0 - std::pow(0.999, t));
    theta -= 0.003 * factor * (first / (std::sqrt(second) + 1e-8) + 0.1 * theta);
  }
  // 1000 roundings of a number near 1 at 6e-8 each, in random directions: about 2e-6.
  CHECK_THAT(f.theta[kWeight], WithinAbs(theta, 1e-5));
}

TEST_CASE("inner SGD: rate, schedule factor and decoupled decay by hand", "[unit][optim]") {
  // theta = 2, g = 3, rate 0.5 * 0.5, decay 0.1: 2 - 0.25 * (3 + 0.2) = 1.2; bias: 2 - 0.75 = 1.25.
  Fixture f;
  InnerOptions options = sgd(0.5);
  options.weight_decay = 0.1;
  InnerState state = make_inner_state(options, 32);
  CHECK(state.first.empty());
  f.theta[kWeight] = f.theta[kBias] = 2.0f;
  f.gradient[kWeight] = f.gradient[kBias] = 3.0f;
  inner_update(options, 0.5, *f.model, f.theta, f.gradient, state);
  CHECK_THAT(f.theta[kWeight], WithinAbs(1.2, 2e-7));
  CHECK_THAT(f.theta[kBias], WithinAbs(1.25, 0.0));
}

TEST_CASE("clipping: scales the whole gradient to the norm, and only when it is longer",
          "[unit][optim]") {
  // Norm of (3, 4) in two tensors is 5. Clip to 1: (0.6, 0.8). Clip to 6: untouched.
  Fixture f;
  InnerOptions options = sgd(1.0);
  InnerState state = make_inner_state(options, 32);
  const auto run = [&](double clip_norm) {
    f.theta.set_zero();
    f.gradient[kWeight + 1] = 3.0f;
    f.gradient[kBias + 2] = 4.0f;
    options.clip_norm = clip_norm;
    inner_update(options, 1.0, *f.model, f.theta, f.gradient, state);
  };
  run(1.0);
  CHECK_THAT(f.theta[kWeight + 1], WithinAbs(-0.6, 1e-7));
  CHECK_THAT(f.theta[kBias + 2], WithinAbs(-0.8, 1e-7));
  CHECK_THAT(f.gradient[kBias + 2], WithinAbs(0.8, 1e-7));  // in place
  run(6.0);
  CHECK(f.theta[kWeight + 1] == -3.0f);
  run(0.0);
  CHECK(f.theta[kBias + 2] == -4.0f);
}

TEST_CASE("inner update: a gradient that is not a number is passed on, not hidden",
          "[unit][optim]") {
  Fixture f;
  InnerOptions options = sgd(1.0);
  options.clip_norm = 1.0;
  InnerState state = make_inner_state(options, 32);
  f.gradient[kWeight] = std::numeric_limits<float>::quiet_NaN();
  inner_update(options, 1.0, *f.model, f.theta, f.gradient, state);
  CHECK(std::isnan(f.theta[kWeight]));
}

TEST_CASE("inner update: rate 0 leaves parameters, but moments move", "[unit][optim]") {
  Fixture f;
  const InnerOptions options = adamw(0.0);
  InnerState state = make_inner_state(options, 32);
  f.theta[kWeight] = 0.7f;
  f.gradient[kWeight] = 1.0f;
  inner_update(options, 1.0, *f.model, f.theta, f.gradient, state);
  CHECK(f.theta[kWeight] == 0.7f);
  CHECK(state.first[kWeight] > 0.0f);
}

TEST_CASE("inner update: moments made for another optimizer are refused", "[unit][optim]") {
  Fixture f;
  InnerState none = make_inner_state(sgd(1.0), 32);
  CHECK_THROWS_WITH(inner_update(adamw(1.0), 1.0, *f.model, f.theta, f.gradient, none),
                    "first moment has 0 floats, expected 32");
  AlignedBlock odd(31);
  CHECK_THROWS_WITH(inner_update(sgd(1.0), 1.0, *f.model, f.theta, odd, none),
                    "gradient has 31 floats, expected 32");
}

}  // namespace
}  // namespace optim
