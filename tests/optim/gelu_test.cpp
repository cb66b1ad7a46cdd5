// tests/optim/gelu_test.cpp: our float exp, GELU and its slope against double arithmetic.
//
// Teeth: seen failing with one Taylor term less, with the low part of ln 2 dropped, with the cube's
//        coefficient 0.0447 with the factor 3 missing from the slope, and
//        (value and slope at once) with 1 - s left out.
#include "optim/gelu.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "optim/fast_exp.h"
#include "tests/optim/same_bits.h"

namespace optim {
namespace {

double gelu(double x) {
  return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
}

TEST_CASE("float exp: within two units in the last place", "[unit][optim]") {
  double worst = 0.0;
  for (int i = -86000; i < 88000; ++i) {
    const float x = static_cast<float>(i) * 1e-3f;
    const double exact = std::exp(double{x});
    worst = std::fmax(worst, std::fabs(double{fast_exp(x)} / exact - 1.0));
  }
  CHECK(worst < 2.0 * 0x1p-24 + 1e-8);  // two roundings of half a unit, and the series' rest
}

TEST_CASE("float exp: ends are held and NaN stays NaN", "[unit][optim]") {
  CHECK(fast_exp(0.0f) == 1.0f);
  CHECK(fast_exp(-1000.0f) == fast_exp(-87.0f));
  CHECK(fast_exp(1000.0f) == fast_exp(88.0f));
  CHECK(std::isfinite(fast_exp(std::numeric_limits<float>::infinity())));
  CHECK(std::isnan(fast_exp(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("gelu: value and slope agree with the tanh form in double", "[unit][optim]") {
  std::vector<float> x, y, slope;
  for (int i = -1000; i <= 1000; ++i) x.push_back(static_cast<float>(i) * 0.01f);
  y.resize(x.size());
  slope.assign(x.size(), 1.0f);
  set_gelu(x.size(), x.data(), y.data());
  multiply_by_gelu_slope(x.size(), x.data(), slope.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    CAPTURE(x[i]);
    constexpr double h = 1e-5;  // central difference: h^2 / 6 * gelu''' is below 1e-10
    const double difference = (gelu(x[i] + h) - gelu(x[i] - h)) / (2.0 * h);
    // Values up to 10 with a few roundings of 6e-8; the slope's terms stay below 2.
    REQUIRE(std::fabs(y[i] - gelu(x[i])) < 2e-6);
    REQUIRE(std::fabs(slope[i] - difference) < 2e-6);
  }
}

// The exponentials inside are the sixteen-lane ones, so this holds the two together as well.
TEST_CASE("gelu: value and slope at once are the bits of the two alone", "[unit][optim]") {
  for (const std::size_t count : {1u, 15u, 16u, 17u, 100u}) {
    CAPTURE(count);
    std::vector<float> x, y(count), expected(count), slope(count, 1.0f);
    for (std::size_t i = 0; i < count; ++i) x.push_back(static_cast<float>(i) * 2.37f - 100.0f);
    set_gelu(count, x.data(), expected.data());
    multiply_by_gelu_slope(count, x.data(), slope.data());
    set_gelu_and_slope(count, x.data(), y.data(), x.data());
    CHECK(same_bits(y, expected));
    CHECK(same_bits(x, slope));
  }
}

}  // namespace
}  // namespace optim
