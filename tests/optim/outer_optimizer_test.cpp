// tests/optim/outer_optimizer_test.cpp: the outer step by hand and against torchft's scalar traces.
//
// Teeth: seen failing with heavy ball in place of Nesterov, the sign flipped, the velocity not kept,
//        and (rate 0) with the early return removed. Adam: with bias correction, with epsilon under
//        the root, with beta1 and beta2 swapped, and with |delta| in place of its square.
#include "optim/outer_optimizer.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "optim/merge.h"
#include "sim/base/random.h"

namespace optim {
namespace {

using Catch::Matchers::WithinAbs;

TEST_CASE("outer Nesterov: two rounds by hand", "[unit][optim]") {
  // Rate 1/2, momentum 1/2, theta 4. Round 1, delta 1: velocity 1, step 0.5 * (1 + 0.5) = 0.75.
  // Round 2, delta 2: velocity 0.5 + 2 = 2.5, step 0.5 * (2 + 1.25) = 1.625. All exact in binary.
  const OuterOptions options{OuterKind::kNesterov, 0.5, 0.5};
  std::vector<float> theta = {4.0f};
  std::vector<double> velocity = {0.0};
  outer_update(options, theta, std::vector<double>{1.0}, velocity);
  CHECK(theta[0] == 3.25f);
  CHECK(velocity[0] == 1.0);
  outer_update(options, theta, std::vector<double>{2.0}, velocity);
  CHECK(theta[0] == 1.625f);
  CHECK(velocity[0] == 2.5);
}

TEST_CASE("outer Nesterov: a constant delta is amplified to rate over one minus momentum",
          "[unit][optim]") {
  // Rate 0.7, momentum 0.9: the step tends to 0.7 * (1 + 0.9 * 10) = 7 deltas.
  const OuterOptions options{OuterKind::kNesterov, 0.7, 0.9};
  std::vector<float> theta = {0.0f};
  std::vector<double> velocity = {0.0};
  for (int round = 0; round < 400; ++round) {
    theta[0] = 0.0f;
    outer_update(options, theta, std::vector<double>{1.0}, velocity);
  }
  CHECK_THAT(theta[0], WithinAbs(-7.0, 1e-6));  // one rounding to float near 7
}

TEST_CASE("outer Adam: two rounds by hand", "[unit][optim]") {
  // Rate 1, beta1 1/2, beta2 3/4, epsilon 1/2, theta 4; all exact in binary.
  // Round 1, delta 2: m = 1, v = 1/4 x 4 = 1, step 1 / (1 + 1/2) = 2/3.
  // Round 2, delta 4: m = 1/2 + 2 = 5/2, v = 3/4 + 1/4 x 16 = 19/4.
  const OuterOptions options{OuterKind::kAdam, 1.0, 0.0, 0.5, 0.75, 0.5};
  std::vector<float> theta = {4.0f};
  std::vector<double> first = {0.0}, second = {0.0};
  outer_update(options, theta, std::vector<double>{2.0}, first, second);
  CHECK(theta[0] == static_cast<float>(4.0 - 2.0 / 3.0));
  CHECK(first[0] == 1.0);
  CHECK(second[0] == 1.0);
  outer_update(options, theta, std::vector<double>{4.0}, first, second);
  CHECK(first[0] == 2.5);
  CHECK(second[0] == 4.75);
  // 4 - 0.666667 - 2.5 / (2.179449 + 0.5) = 2.400306
  CHECK_THAT(theta[0], WithinAbs(2.400306, 1e-6));  // a few float roundings near 4
}

TEST_CASE("outer Adam: fifty rounds follow straight-line code", "[unit][optim]") {
  sim::base::Stream stream(3, "tests/outer-adam");
  const OuterOptions options{OuterKind::kAdam, 0.7, 0.0, 0.9, 0.95, 0.1};
  std::vector<float> theta = {1.0f, -2.0f, 0.5f};
  std::vector<double> first(3, 0.0), second(3, 0.0), delta(3);
  double m[3] = {}, v[3] = {};
  float expected[3] = {1.0f, -2.0f, 0.5f};
  for (int round = 0; round < 50; ++round) {
    for (double& d : delta) d = 0.3 * stream.next_normal();
    outer_update(options, theta, delta, first, second);
    for (std::size_t i = 0; i < 3; ++i) {
      const double d = delta[i];
      m[i] = 0.9 * m[i] + (1 - 0.9) * d;
      v[i] = 0.95 * v[i] + (1 - 0.95) * d * d;
      expected[i] = static_cast<float>(expected[i] - 0.7 * (m[i] / (std::sqrt(v[i]) + 0.1)));
    }
  }
  for (std::size_t i = 0; i < 3; ++i) CHECK_THAT(theta[i], WithinAbs(expected[i], 1e-6));
}

// A delta far below epsilon is scaled by rate / epsilon in the long run: at 0.7 and 0.1, seven
// deltas, as Nesterov at 0.7 and 0.9. One far above moves by the rate, whatever its size.
TEST_CASE("outer Adam: small deltas are amplified, large ones have the size of the rate",
          "[unit][optim]") {
  const OuterOptions options{OuterKind::kAdam, 0.7, 0.0, 0.9, 0.95, 0.1};
  std::vector<float> theta(2);
  std::vector<double> first(2, 0.0), second(2, 0.0);
  for (int round = 0; round < 1000; ++round) {
    theta = {0.0f, 0.0f};
    outer_update(options, theta, std::vector<double>{1e-7, -1e7}, first, second);
  }
  CHECK_THAT(theta[0] / -7e-7, WithinAbs(1.0, 2e-6));  // |delta| / epsilon = 1e-6, and a rounding
  CHECK_THAT(theta[1], WithinAbs(0.7, 1e-6));
}

TEST_CASE("outer optimizer: rate 0 freezes exactly, whatever delta holds", "[unit][optim]") {
  for (const OuterKind kind : {OuterKind::kSgd, OuterKind::kNesterov, OuterKind::kAdam}) {
    std::vector<float> theta = {0.1f, -3.0f};
    std::vector<double> velocity = {0.5, 0.0}, second = {0.25, 0.0};
    const std::vector<double> delta = {std::numeric_limits<double>::quiet_NaN(), 1e300};
    outer_update({kind, 0.0, 0.9, 0.9, 0.95, 0.1}, theta, delta, velocity, second);
    CHECK(theta == std::vector<float>{0.1f, -3.0f});
    CHECK(velocity == std::vector<double>{0.5, 0.0});
    CHECK(second == std::vector<double>{0.25, 0.0});
  }
}

TEST_CASE("outer optimizer: momentum changes the path from the second round on", "[unit][optim]") {
  std::vector<float> plain = {1.0f}, moving = {1.0f};
  std::vector<double> unused = {0.0}, velocity = {0.0};
  const std::vector<double> delta = {0.25};
  // One round: 1 - 0.25 = 0.75 against 1 - (0.25 + 0.5 * 0.25) = 0.625; two: 0.5 against
  // 0.625 - (0.25 + 0.5 * 0.375) = 0.1875.
  outer_update({OuterKind::kSgd, 1.0, 0.0}, plain, delta, unused);
  outer_update({OuterKind::kNesterov, 1.0, 0.5}, moving, delta, velocity);
  CHECK(plain[0] == 0.75f);
  CHECK(moving[0] == 0.625f);
  outer_update({OuterKind::kSgd, 1.0, 0.0}, plain, delta, unused);
  outer_update({OuterKind::kNesterov, 1.0, 0.5}, moving, delta, velocity);
  CHECK(plain[0] == 0.5f);
  CHECK(moving[0] == 0.1875f);
}

// torchft's set-up: two scalar fragments from 1, two identical replicas, inner SGD of rate 1 on a
// constant gradient 2, outer SGD of rate 2, one merge every 3 steps, fragments in turn. A delta is
// taken `tau` steps before its merge. Returns (local after the merge, stored global) per merge.
std::vector<std::array<double, 2>> scalar_trace(int tau, double alpha) {
  std::array<float, 2> local = {1.0f, 1.0f}, taken{};
  std::array<std::vector<float>, 2> global = {std::vector<float>{1.0f}, std::vector<float>{1.0f}};
  const std::vector<Tensor> tensors = {{"scalar", 0, 1, 1, false, false}};
  const Fragment fragment{{{0, 0, 1, 0, 1}}, 1};
  std::vector<double> delta(1), velocity(1);
  std::vector<std::array<double, 2>> trace;
  for (int step = 1; step <= 15; ++step) {
    for (float& value : local) value -= 2.0f;
    const auto due = static_cast<std::size_t>((step + tau) / 3 + 1) % 2;
    if ((step + tau) % 3 == 0) taken[due] = local[due];
    if (step % 3 != 0) continue;
    const auto merged = static_cast<std::size_t>(step / 3 + 1) % 2;
    const std::span<const float> value(&taken[merged], 1);
    const std::array<Contribution, 2> twins = {Contribution{1.0, value}, Contribution{1.0, value}};
    merge({MergeKind::kAverage, RdaGranularity::kTensor}, tensors, fragment, global[merged], twins,
          delta);
    outer_update({OuterKind::kSgd, 2.0, 0.0}, global[merged], delta, velocity);
    const double stored = global[merged][0];
    local[merged] = static_cast<float>(alpha * double{local[merged]} + (1.0 - alpha) * stored);
    trace.push_back({double{local[merged]}, stored});
  }
  return trace;
}

TEST_CASE("outer SGD: torchft's scalar traces come out exactly", "[unit][optim]") {
  using Trace = std::vector<std::array<double, 2>>;
  CHECK(scalar_trace(0, 0.0) ==
        Trace{{-11, -11}, {-23, -23}, {-35, -35}, {-47, -47}, {-59, -59}});
  CHECK(scalar_trace(0, 0.5) ==
        Trace{{-8, -11}, {-17, -23}, {-24.5, -29}, {-32, -35}, {-40.25, -44}});
  CHECK(scalar_trace(0, 1.0) == Trace{{-5, -11}, {-11, -23}, {-17, -23}, {-23, -23}, {-29, -35}});
  CHECK(scalar_trace(1, 0.0) == Trace{{-7, -7}, {-19, -19}, {-27, -27}, {-39, -39}, {-47, -47}});
  CHECK(scalar_trace(1, 0.5) ==
        Trace{{-6, -7}, {-15, -19}, {-21.5, -25}, {-29, -31}, {-35.75, -38}});
  CHECK(scalar_trace(1, 1.0) == Trace{{-5, -7}, {-11, -19}, {-17, -23}, {-23, -23}, {-29, -31}});
}

TEST_CASE("outer optimizer: unequal sizes are refused", "[unit][optim]") {
  std::vector<float> theta(3);
  std::vector<double> two(2), three(3);
  const OuterOptions options{OuterKind::kNesterov, 0.7, 0.9};
  CHECK_THROWS_WITH(outer_update(options, theta, two, three),
                    "outer gradient has 2 floats, expected 3");
  CHECK_THROWS_WITH(outer_update(options, theta, three, two), "velocity has 2 floats, expected 3");
  const OuterOptions adam{OuterKind::kAdam, 0.7, 0.0, 0.9, 0.95, 0.1};
  CHECK_THROWS_WITH(outer_update(adam, theta, three, three),
                    "second moment has 0 floats, expected 3");
}

}  // namespace
}  // namespace optim
