// tests/optim/merge_test.cpp: averaging and RDA.
//
// Teeth: seen failing with float sums, weights left unnormalised, the sign of delta flipped, the
//        radius taken as the norm of the mean, rows treated as tensors, embeddings given to RDA, the
//        fallback removed, the canonical sort removed, and each check of a contribution removed.
#include "optim/merge.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "sim/base/random.h"
#include "tests/optim/same_bits.h"

namespace optim {
namespace {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;

constexpr MergeOptions kAvg{MergeKind::kAverage, RdaGranularity::kTensor};
constexpr MergeOptions kByTensor{MergeKind::kRda, RdaGranularity::kTensor};
constexpr MergeOptions kByRow{MergeKind::kRda, RdaGranularity::kRow};
constexpr MergeOptions kByFragment{MergeKind::kRda, RdaGranularity::kFragment};

// Tensors one after another in one fragment.
Fragment whole(const std::vector<Tensor>& tensors) {
  Fragment fragment;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    fragment.pieces.push_back({i, 0, tensors[i].rows, tensors[i].offset, tensors[i].size()});
    fragment.size += tensors[i].size();
  }
  return fragment;
}

struct Learner {
  double weight;
  Floats values;
};

// Merges values against an anchor of zeros, so that delta = -values.
Doubles merged(const MergeOptions& options, const std::vector<Tensor>& tensors,
               const std::vector<Learner>& learners) {
  const Fragment fragment = whole(tensors);
  const Floats anchor(fragment.size, 0.0f);
  Doubles result(fragment.size, 99.0);
  std::vector<Contribution> contributions;
  for (const Learner& learner : learners) contributions.push_back({learner.weight, learner.values});
  merge(options, tensors, fragment, anchor, contributions, result);
  return result;
}

double norm(const Doubles& values) {
  double sum = 0.0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

void check_close(const Doubles& got, const Doubles& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK_THAT(got[i], WithinAbs(expected[i], 1e-14));  // a few double roundings of small numbers
  }
}

const std::vector<Tensor> kOneRow = {{"w", 0, 1, 2, false, true}};

TEST_CASE("merge: the average is weighted, and old minus new", "[unit][optim]") {
  // (1 * 4 + 3 * 8) / 4 = 7 and (1 * 0 + 3 * 4) / 4 = 3, both falling: delta = -values.
  check_close(merged(kAvg, kOneRow, {{1.0, {4, 0}}, {3.0, {8, 4}}}), {-7, -3});
  const Fragment fragment = whole(kOneRow);
  Doubles result(2);
  const Floats anchor = {10, 1}, end = {4, 3};
  merge(kAvg, kOneRow, fragment, anchor, std::vector<Contribution>{{5.0, end}}, result);
  check_close(result, {6, -2});
}

TEST_CASE("merge: small moves survive large ones that cancel", "[unit][optim]") {
  // Moves 2^30, 1 and -2^30: the mean is 1/3, off by at most half an ulp of 2^30 / 3 (3e-8). A sum in
  // float gives 0.
  const Doubles got = merged(kAvg, {{"s", 0, 1, 1, false, true}},
                             {{1.0, {0x1p30f}}, {1.0, {1.0f}}, {1.0, {-0x1p30f}}});
  CHECK_THAT(got[0], WithinAbs(-1.0 / 3.0, 6e-8));
}

TEST_CASE("RDA: two orthogonal moves by hand", "[unit][optim]") {
  // Deltas (-3, 0) and (0, -4): radius 3.5, directions (-1, 0) and (0, -1), mean direction at
  // 45 degrees, so the result is -3.5 / sqrt(2) in both.
  const double side = -3.5 / std::sqrt(2.0);
  check_close(merged(kByTensor, kOneRow, {{1.0, {3, 0}}, {1.0, {0, 4}}}), {side, side});
  // Weights 3 and 1: radius (9 + 4) / 4 = 3.25, mean direction (-3, -1) / 4, of length sqrt(10) / 4.
  check_close(merged(kByTensor, kOneRow, {{3.0, {3, 0}}, {1.0, {0, 4}}}),
              {-3.25 * 3 / std::sqrt(10.0), -3.25 / std::sqrt(10.0)});
}

TEST_CASE("RDA: one learner keeps its own move", "[unit][optim]") {
  check_close(merged(kByTensor, kOneRow, {{0.3, {3, -4}}}), {-3, 4});
}

TEST_CASE("RDA: keeps the norm of near-orthogonal moves where averaging loses it",
          "[unit][optim][property]") {
  constexpr std::size_t kSize = 4096;
  const std::vector<Tensor> tensors = {{"w", 0, 64, 64, false, true}};
  for (std::size_t learner_count = 2; learner_count <= 16; ++learner_count) {
    CAPTURE(learner_count);
    std::vector<Learner> learners;
    double norm_sum = 0.0;
    for (std::size_t m = 0; m < learner_count; ++m) {
      sim::base::Stream stream = sim::base::Stream(1, "test/moves").at(m, 0);
      Floats values(kSize);
      for (float& value : values) value = static_cast<float>(stream.next_normal() / 64.0);
      double squares = 0.0;
      for (const float value : values) squares += double{value} * double{value};
      norm_sum += std::sqrt(squares);
      learners.push_back({1.0, values});
    }
    const double radius = norm_sum / static_cast<double>(learner_count);
    // The radius is put in by construction; what is left is double rounding over 4096 terms.
    CHECK_THAT(norm(merged(kByTensor, tensors, learners)), WithinRel(radius, 1e-12));
    // Cosines of random pairs have sd 1/64. M (norm of mean / R)^2 = 1 + (M - 1) * mean cosine has
    // sd sqrt(2 (M - 1) / M) / 64 <= 0.0221 plus the norms' own spread (sd 1/90 each); 5 sd.
    const double ratio = norm(merged(kAvg, tensors, learners)) / radius;
    CHECK_THAT(static_cast<double>(learner_count) * ratio * ratio, WithinAbs(1.0, 0.12));
  }
}

// Two tensors of 2 x 2 and 1 x 2. Learner a moves in some rows, learner b in others.
const std::vector<Tensor> kTwo = {{"w", 0, 2, 2, false, true}, {"b", 16, 1, 2, false, false}};
const Learner kA{1.0, {3, 0, 0, 0, 1, 0}};
const Learner kB{1.0, {0, 4, 2, 0, 0, 0}};

TEST_CASE("RDA: one norm per tensor, per row or per fragment", "[unit][optim]") {
  // Per row: row 0 as two orthogonal moves 3 and 4; row 1 has b's move 2 alone: radius (0 + 2) / 2,
  // direction b's; bias alike with a's move 1: radius 1/2.
  const double side = -3.5 / std::sqrt(2.0);
  check_close(merged(kByRow, kTwo, {kA, kB}), {side, side, -1, 0, -0.5, 0});
  // Per tensor: w_a = (3,0,0,0), w_b = (0,4,2,0) of norm sqrt(20); radius (3 + sqrt(20)) / 2; the
  // directions are orthogonal, so each has weight 1 / sqrt(2).
  const double b_norm = std::sqrt(20.0), radius = (3.0 + b_norm) / 2.0, half = std::sqrt(0.5);
  check_close(merged(kByTensor, kTwo, {kA, kB}),
              {-radius * half, -radius * half * 4 / b_norm, -radius * half * 2 / b_norm, 0, -0.5, 0});
  // Per fragment: a has norm sqrt(10) over both tensors, b sqrt(20), orthogonal.
  const double a_norm = std::sqrt(10.0), both = (a_norm + b_norm) / 2.0 * half;
  check_close(merged(kByFragment, kTwo, {kA, kB}),
              {-both * 3 / a_norm, -both * 4 / b_norm, -both * 2 / b_norm, 0, -both / a_norm, 0});
}

TEST_CASE("RDA: embeddings are averaged at every granularity", "[unit][optim]") {
  std::vector<Tensor> tensors = kTwo;
  tensors[0].embedding = true;
  for (const MergeOptions& options : {kByTensor, kByRow, kByFragment}) {
    // The embedding plainly averaged; the bias as if it stood alone: radius 1/2, direction a's.
    check_close(merged(options, tensors, {kA, kB}), {-1.5, -2, -1, 0, -0.5, 0});
  }
}

TEST_CASE("RDA: zero moves count in the radius and have no direction", "[unit][optim]") {
  check_close(merged(kByTensor, kOneRow, {{1.0, {0, 0}}, {1.0, {0, 4}}}), {0, -2});
  check_close(merged(kByTensor, kOneRow, {{1.0, {0, 0}}, {1.0, {0, 0}}}), {0, 0});
}

TEST_CASE("RDA: opposite directions fall back to the average", "[unit][optim]") {
  // Directions (1, 0) and (-1, 0) cancel; the average of 6 and -2 is 2.
  check_close(merged(kByTensor, kOneRow, {{1.0, {6, 0}}, {1.0, {-2, 0}}}), {-2, 0});
  // (0.3, 0.4) and -(3, 4) differ by rounding only: still no direction.
  const Doubles got = merged(kByTensor, kOneRow, {{1.0, {0.3f, 0.4f}}, {1.0, {-0.6f, -0.8f}}});
  CHECK_THAT(norm(got), WithinAbs(0.25, 1e-7));  // (1 - 0.5) / 2, inputs rounded to float
}

TEST_CASE("merge: the order of contributions never changes a bit", "[unit][optim][property]") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    // Magnitudes 2^-30 to 2^70 and one learner that cancels another: without both, double sums of
    // floats are exact and this test could never fail.
    const auto draw = [&rng] {
      const float unit = static_cast<float>(rng() >> 40) / 16777216.0f - 0.5f;
      return std::ldexp(unit, static_cast<int>(rng() % 101) - 30);
    };
    std::vector<Learner> learners(7, {1.0, Floats(6)});
    for (Learner& learner : learners) std::ranges::generate(learner.values, draw);
    std::ranges::transform(learners[0].values, learners[6].values.begin(), std::negate{});
    learners[2].weight = 0.1;
    for (const MergeOptions& options : {kAvg, kByTensor, kByRow, kByFragment}) {
      const Doubles expected = merged(options, kTwo, learners);
      std::vector<Learner> shuffled = learners;
      for (std::size_t k = 6; k > 0; --k) std::swap(shuffled[k], shuffled[rng() % (k + 1)]);
      REQUIRE(same_bits(merged(options, kTwo, shuffled), expected));
    }
  }
}

TEST_CASE("merge: contributions that cannot be weighed are refused", "[unit][optim]") {
  CHECK_THROWS_WITH(merged(kAvg, kOneRow, {}), "a merge needs at least one contribution");
  CHECK_THROWS_WITH(merged(kAvg, kOneRow, {{1.0, {1, 2}}, {0.0, {1, 2}}}),
                    "weight of contribution 1 must be positive and finite; got 0");
  CHECK_THROWS_WITH(merged(kAvg, kOneRow, {{-2.0, {1, 2}}}),
                    "weight of contribution 0 must be positive and finite; got -2");
  CHECK_THROWS_WITH(merged(kAvg, kOneRow, {{std::numeric_limits<double>::infinity(), {1, 2}}}),
                    "weight of contribution 0 must be positive and finite; got inf");
  CHECK_THROWS_WITH(merged(kAvg, kOneRow, {{std::nan(""), {1, 2}}}),
                    "weight of contribution 0 must be positive and finite; got nan");
  CHECK_THROWS_WITH(merged(kAvg, kOneRow, {{1.0, {1, 2, 3}}}),
                    "contribution 0 has 3 floats, expected 2");
}

TEST_CASE("token weight: quantity times quality", "[unit][optim]") {
  CHECK(token_weight(1000.0, 10.0) == 100000.0);  // 1000 * (1000 / 10)
  CHECK(token_weight(500.0, 10.0) == 25000.0);    // half the batch: a quarter of the weight
  CHECK(token_weight(0.0, 10.0) == 0.0);
  CHECK(token_weight(0.0, 0.0) == 0.0);
}

}  // namespace
}  // namespace optim
