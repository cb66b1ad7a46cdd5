// tests/optim/dense_test.cpp: the three products of an affine layer.
//
// Goal:   right values at every remainder of the tiles, and bits that depend neither on addresses
//         nor on how the examples are cut into calls.
// Method: Eigen in double as a second implementation; every shape from 1 to past two tiles.
// Teeth:  seen failing with the last column of a tile row left out, with the rest beyond eight
//         outputs dropped, with the tail summed into a fresh zero, and (bits of a cut batch) with
//         three-row groups summed in descending order of inputs.
#include "optim/dense.h"

#include <Eigen/Core>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "tests/optim/same_bits.h"

namespace optim {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Floats = std::vector<float>;

struct Layer {
  LayerShape shape;
  Floats inputs, weights, outputs;
};

Layer random_layer(std::size_t examples, std::size_t inputs, std::size_t outputs) {
  std::mt19937_64 rng(examples * 10007 + inputs * 101 + outputs);
  const auto draw = [&rng](std::size_t count) {
    Floats values(count);
    for (float& value : values) value = static_cast<float>(rng() >> 40) / 16777216.0f - 0.5f;
    return values;
  };
  return {{examples, inputs, outputs}, draw(examples * inputs), draw(inputs * outputs),
          draw(examples * outputs)};
}

Matrix matrix(const Floats& values, std::size_t rows, std::size_t cols) {
  using Source = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Source>(values.data(), static_cast<Eigen::Index>(rows),
                                  static_cast<Eigen::Index>(cols))
      .cast<double>();
}

// Terms are at most 1/4 and there are at most 70; each float rounding is half of 2^-23 of a partial
// sum below 70/4: 70 * 17.5 * 6e-8 = 7e-5 at worst, a tenth of it in practice.
constexpr double kTolerance = 7e-6;

void check_close(const Floats& got, const Matrix& expected) {
  REQUIRE(got.size() == static_cast<std::size_t>(expected.size()));
  double worst = 0.0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    worst = std::fmax(worst, std::fabs(got[i] - expected.data()[i]));
  }
  CHECK(worst < kTolerance);
}

TEST_CASE("affine products: agree with Eigen in double at every remainder", "[unit][optim]") {
  for (const std::size_t examples : {1u, 2u, 3u, 4u, 5u, 7u, 8u}) {
    for (const std::size_t inputs : {1u, 2u, 5u, 16u, 33u}) {
      for (const std::size_t outputs : {1u, 3u, 7u, 8u, 9u, 16u, 23u, 24u, 32u, 41u, 70u}) {
        CAPTURE(examples, inputs, outputs);
        const Layer layer = random_layer(examples, inputs, outputs);
        const Matrix a = matrix(layer.inputs, examples, inputs);
        const Matrix w = matrix(layer.weights, inputs, outputs);
        const Matrix z = matrix(layer.outputs, examples, outputs);
        Floats forward = layer.outputs, weight_gradient = layer.weights;
        Floats input_gradient(examples * inputs, 99.0f);
        add_forward(layer.shape, layer.inputs.data(), layer.weights.data(), forward.data());
        check_close(forward, z + a * w);
        set_input_gradient(layer.shape, layer.outputs.data(), layer.weights.data(),
                           input_gradient.data());
        check_close(input_gradient, z * w.transpose());
        add_weight_gradient(layer.shape, layer.inputs.data(), layer.outputs.data(),
                            weight_gradient.data());
        check_close(weight_gradient, w + a.transpose() * z);
      }
    }
  }
}

// All three results, one after another, of a layer whose arrays start `shift` floats late and whose
// examples are handed over `at_once` at a time.
Floats all_products(const Layer& layer, std::size_t shift, std::size_t at_once) {
  const auto [examples, inputs, outputs] = layer.shape;
  const auto late = [shift](const Floats& values) {
    Floats moved(shift, 0.0f);
    moved.insert(moved.end(), values.begin(), values.end());
    return moved;
  };
  const Floats a = late(layer.inputs), w = late(layer.weights), z = late(layer.outputs);
  Floats forward = z, input_gradient = a, weight_gradient = w;
  for (std::size_t first = 0; first < examples; first += at_once) {
    const LayerShape part{std::min(at_once, examples - first), inputs, outputs};
    const std::size_t in = shift + first * inputs, out = shift + first * outputs;
    add_forward(part, &a[in], &w[shift], &forward[out]);
    set_input_gradient(part, &z[out], &w[shift], &input_gradient[in]);
    add_weight_gradient(part, &a[in], &z[out], &weight_gradient[shift]);
  }
  Floats all;
  for (const Floats* part : {&forward, &input_gradient, &weight_gradient}) {
    all.insert(all.end(), part->begin() + static_cast<std::ptrdiff_t>(shift), part->end());
  }
  return all;
}

TEST_CASE("affine products: neither address nor the cut of a batch moves a bit",
          "[unit][optim][property]") {
  for (const std::size_t outputs : {5u, 24u, 43u}) {
    const Layer layer = random_layer(7, 19, outputs);
    const Floats expected = all_products(layer, 0, 7);
    for (std::size_t shift = 0; shift < 16; ++shift) {
      for (const std::size_t at_once : {1u, 2u, 3u, 4u, 7u}) {
        CAPTURE(outputs, shift, at_once);
        CHECK(same_bits(all_products(layer, shift, at_once), expected));
      }
    }
  }
}

}  // namespace
}  // namespace optim
