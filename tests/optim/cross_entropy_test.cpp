// tests/optim/cross_entropy_test.cpp: softmax cross-entropy by hand.
//
// Teeth: seen failing without the subtraction of the highest logit, without the minus one at the
//        target, and with the range check of targets removed.
#include "optim/cross_entropy.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace optim {
namespace {

using Catch::Matchers::WithinAbs;

TEST_CASE("cross-entropy: equal logits cost the log of the number of classes", "[unit][optim]") {
  std::vector<float> logits(4, 2.5f);
  CHECK_THAT(cross_entropy(logits, 3), WithinAbs(std::log(4.0), 1e-15));
}

TEST_CASE("cross-entropy: loss and gradient of two classes by hand", "[unit][optim]") {
  // z = (ln 3, 0): p = (3/4, 1/4). Target 1: loss = ln 4, gradient (3/4, 1/4 - 1).
  std::vector<float> logits = {std::log(3.0f), 0.0f};
  CHECK_THAT(cross_entropy_and_gradient(logits, 1), WithinAbs(std::log(4.0), 2e-7));
  CHECK_THAT(logits[0], WithinAbs(0.75, 2e-7));  // float roundings of numbers below 1
  CHECK_THAT(logits[1], WithinAbs(-0.75, 2e-7));
}

TEST_CASE("cross-entropy: huge logits do not overflow", "[unit][optim]") {
  for (const std::int32_t high : {0, 1}) {
    std::vector<float> logits(2, 0.0f);
    logits[static_cast<std::size_t>(high)] = 1000.0f;
    CHECK(cross_entropy_and_gradient(logits, 1 - high) == 1000.0);
    CHECK(logits[static_cast<std::size_t>(high)] == 1.0f);
  }
}

TEST_CASE("cross-entropy: rows in lanes agree with one row alone", "[unit][optim]") {
  for (const std::size_t classes : {1u, 3u, 16u, 33u, 64u}) {
    CAPTURE(classes);
    constexpr std::size_t kRows = 3;
    std::vector<float> logits;
    for (std::size_t i = 0; i < kRows * classes; ++i) {
      logits.push_back(static_cast<float>((i * 37) % 101) * 0.2f - 10.0f);
    }
    const std::int32_t last = static_cast<std::int32_t>(classes) - 1;
    const std::vector<std::int32_t> targets = {0, last, last / 2};
    std::vector<float> rows = logits, alone = logits, loss_only = logits;
    double expected = 0.0;
    for (std::size_t r = 0; r < kRows; ++r) {
      expected += cross_entropy_and_gradient({alone.data() + r * classes, classes}, targets[r]);
    }
    const double got = cross_entropy_of_rows(classes, targets, 0.25f, rows.data());
    CHECK_THAT(got, WithinAbs(expected, 3 * 64 * 6e-8));  // float sums of at most 64 terms
    CHECK(cross_entropy_of_rows(classes, targets, 0.0f, loss_only.data()) == got);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      REQUIRE_THAT(rows[i], WithinAbs(0.25 * alone[i], 1e-6));  // 64 roundings of numbers below 1/4
    }
  }
}

TEST_CASE("cross-entropy: a target that is no class is refused", "[unit][optim]") {
  std::vector<float> logits(3, 0.0f);
  CHECK_THROWS_WITH(cross_entropy(logits, 3), "target must be a class in [0, 3); got 3");
  CHECK_THROWS_WITH(cross_entropy(logits, -1), "target must be a class in [0, 3); got -1");
}

}  // namespace
}  // namespace optim
