// tests/optim/shards_test.cpp: which shard a slot is of, and the Dirichlet shares by closed forms.
//
// Teeth: seen failing with the power u^(1 / shape) left out below shape 1, with d = shape, with
//        shares that are not divided by their sum, with lanes that depend on the number of shards, with
//        shards by slot modulo count, and with the teacher's first input taken whatever its label.
#include "optim/shards.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "optim/dirichlet.h"
#include "optim/task.h"
#include "tests/optim/same_bits.h"

namespace optim {
namespace {

using Catch::Matchers::WithinAbs;

TEST_CASE("shards: a slot's shard by hand", "[unit][optim]") {
  // 10 slots, 4 shards: floor(slot * 4 / 10).
  const Shards shards({ShardKind::kContiguous, 4, 1.0, 10}, 0, 1);
  const std::vector<std::size_t> expected = {0, 0, 0, 1, 1, 2, 2, 2, 3, 3};
  for (std::uint32_t slot = 0; slot < 10; ++slot) CHECK(shards.shard_of(slot) == expected[slot]);
  CHECK(shards.shard_of(10) == 3);
  CHECK(Shards({ShardKind::kIid, 4, 1.0, 10}, 0, 1).shard_of(9) == 0);
}

TEST_CASE("shards: parts are in order, leave nothing out and differ by one at most",
          "[unit][optim]") {
  for (std::size_t size = 0; size <= 40; ++size) {
    for (std::size_t parts = 1; parts <= 9; ++parts) {
      std::size_t next = 0;
      for (std::size_t i = 0; i < parts; ++i) {
        const Range part = part_of(size, i, parts);
        CHECK(part.first == next);
        CHECK(part.end - part.first >= size / parts);
        CHECK(part.end - part.first <= size / parts + 1);
        next = part.end;
      }
      CHECK(next == size);
    }
  }
}

// A gamma variate of shape a has mean a, variance a and third central moment 2 a. The standard
// error of the mean is sqrt(a / n), that of the variance sqrt((3 a^2 + 6 a - a^2) / n); 5 of each.
TEST_CASE("gamma variates: mean and variance are the shape", "[unit][optim][property]") {
  constexpr int kDraws = 40000;
  for (const double shape : {0.1, 0.5, 1.0, 2.5, 20.0}) {
    CAPTURE(shape);
    sim::base::Stream stream(5, "tests/gamma");
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < kDraws; ++i) {
      const double x = std::exp(log_gamma_variate(shape, stream));
      sum += x;
      squares += (x - shape) * (x - shape);
    }
    CHECK_THAT(sum / kDraws, WithinAbs(shape, 5.0 * std::sqrt(shape / kDraws)));
    CHECK_THAT(squares / kDraws,
               WithinAbs(shape, 5.0 * std::sqrt((2.0 * shape * shape + 6.0 * shape) / kDraws)));
  }
}

// At shape 1 the variate is exponential: P(x < t) = 1 - e^-t; at 1/2 it is z^2 / 2 with z normal:
// P(x < t) = erf(sqrt t). Standard error of a share below 0.5 / sqrt(n).
TEST_CASE("gamma variates: two distribution functions in closed form", "[unit][optim][property]") {
  constexpr int kDraws = 40000;
  for (const double t : {0.01, 0.3, 1.0, 2.0}) {
    CAPTURE(t);
    sim::base::Stream stream(6, "tests/gamma");
    int below_one = 0, below_half = 0;
    for (int i = 0; i < kDraws; ++i) {
      below_one += log_gamma_variate(1.0, stream) < std::log(t) ? 1 : 0;
      below_half += log_gamma_variate(0.5, stream) < std::log(t) ? 1 : 0;
    }
    CHECK_THAT(static_cast<double>(below_one) / kDraws, WithinAbs(1.0 - std::exp(-t), 0.0125));
    CHECK_THAT(static_cast<double>(below_half) / kDraws, WithinAbs(std::erf(std::sqrt(t)), 0.0125));
  }
}

TEST_CASE("Dirichlet shares: mean and variance by the closed form", "[unit][optim][property]") {
  constexpr std::size_t kGroups = 5, kShards = 20000;
  for (const double c : {0.1, 0.5, 3.0}) {
    CAPTURE(c);
    const Shards shards({ShardKind::kDirichlet, kShards, c, kShards}, kGroups, 9);
    std::vector<double> sums(kGroups, 0.0), squares(kGroups, 0.0);
    for (std::size_t shard = 0; shard < kShards; ++shard) {
      const auto shares = shards.shares(shard);
      CHECK_THAT(std::accumulate(shares.begin(), shares.end(), 0.0), WithinAbs(1.0, 1e-14));
      for (std::size_t g = 0; g < kGroups; ++g) {
        sums[g] += shares[g];
        squares[g] += (shares[g] - 0.2) * (shares[g] - 0.2);
      }
    }
    const double variance = 4.0 / (25.0 * (5.0 * c + 1.0));
    for (std::size_t g = 0; g < kGroups; ++g) {
      CHECK_THAT(sums[g] / kShards, WithinAbs(0.2, 5.0 * std::sqrt(variance / kShards)));
      // (x - mean)^2 lies in [0, 0.64] with mean `variance`, so its variance is below 0.64 of that.
      CHECK_THAT(squares[g] / kShards,
                 WithinAbs(variance, 5.0 * std::sqrt(0.64 * variance / kShards)));
    }
  }
}

TEST_CASE("Dirichlet shares: a tiny concentration gives each shard one group, a huge one all alike",
          "[unit][optim]") {
  const Shards tiny({ShardKind::kDirichlet, 200, 1e-5, 200}, 4, 3);
  std::vector<int> owners(4, 0);
  for (std::size_t shard = 0; shard < 200; ++shard) {
    for (std::size_t g = 0; g < 4; ++g) owners[g] += tiny.shares(shard)[g] > 0.999 ? 1 : 0;
  }
  CHECK(std::accumulate(owners.begin(), owners.end(), 0) >= 199);
  for (const int count : owners) CHECK(count > 20);  // binomial(200, 1/4): mean 50, sd 6.1
  const Shards huge({ShardKind::kDirichlet, 10, 1e6, 10}, 4, 3);
  for (const double share : huge.shares(7)) CHECK_THAT(share, WithinAbs(0.25, 0.005));
}

TEST_CASE("Dirichlet shares: a further shard re-draws no other, groups follow the shares",
          "[unit][optim]") {
  const Shards few({ShardKind::kDirichlet, 2, 0.5, 8}, 3, 4);
  const Shards many({ShardKind::kDirichlet, 8, 0.5, 8}, 3, 4);
  CHECK(same_bits(few.shares(1), many.shares(1)));
  CHECK_FALSE(same_bits(few.shares(0), few.shares(1)));
  sim::base::Stream stream(1, "tests/groups");
  std::vector<double> counts(3, 0.0);
  for (int i = 0; i < 20000; ++i) counts[many.draw_group(5, stream)] += 1.0;
  // Standard error below 0.5 / sqrt(20000) = 0.0035; 5 of them.
  for (std::size_t g = 0; g < 3; ++g) {
    CHECK_THAT(counts[g] / 20000.0, WithinAbs(many.shares(5)[g], 0.018));
  }
}

// The label shares of a shard's examples are its Dirichlet shares; what the shards of an iid task see
// does not depend on the shard options at all.
TEST_CASE("shards: labels of the teacher and first symbols of the chain follow the shard's shares",
          "[unit][optim]") {
  const ShardOptions dirichlet{ShardKind::kDirichlet, 2, 0.5, 4};
  for (const TaskKind kind : {TaskKind::kTeacher, TaskKind::kMarkov}) {
    CAPTURE(static_cast<int>(kind));
    TaskOptions options{kind, 12, 4, 3, 0.0, 1.5, 1};
    options.shards = dirichlet;
    const auto task = make_task(options, 2);
    const Shards shards(dirichlet, 4, 2);
    constexpr std::uint32_t kExamples = 3000;
    for (const std::uint32_t slot : {1u, 3u}) {
      std::vector<double> counts(4, 0.0);
      for (std::uint32_t step = 0; step < kExamples; ++step) {
        Batch batch;
        task->append_example(step, slot, batch);
        std::size_t group = static_cast<std::size_t>(batch.targets[0]);
        if (kind == TaskKind::kMarkov) {
          group = static_cast<std::size_t>(std::find(batch.inputs.begin(), batch.inputs.end(), 1.0f) -
                                           batch.inputs.begin());
        }
        counts[group] += 1.0;
      }
      for (std::size_t g = 0; g < 4; ++g) {  // 5 standard errors of at most 0.5 / sqrt(3000)
        CHECK_THAT(counts[g] / kExamples, WithinAbs(shards.shares(slot / 2)[g], 0.046));
      }
    }
  }
}

TEST_CASE("shards: options that make no sense are refused", "[unit][optim]") {
  CHECK_THROWS_WITH(Shards({ShardKind::kDirichlet, 0, 1.0, 4}, 2, 1),
                    "shards must be at least 1; got 0");
  CHECK_THROWS_WITH(Shards({ShardKind::kContiguous, 5, 1.0, 4}, 2, 1),
                    "shards must not exceed the slots (4); got 5");
  CHECK_THROWS_WITH(Shards({ShardKind::kDirichlet, 2, 0.0, 4}, 2, 1),
                    "concentration must be above 0; got 0");
  CHECK_THROWS_WITH(Shards({ShardKind::kDirichlet, 2, 1.0, 4}, 0, 1),
                    "a shard needs at least 1 group; got 0");
  TaskOptions options{TaskKind::kQuadratic, 4, 0, 0, 0.1, 0.0, 1};
  options.shards = {ShardKind::kContiguous, 2, 1.0, 4};
  CHECK_THROWS_WITH(make_task(options, 1),
                    "a quadratic's examples have neither classes nor order for shards");
  options = {TaskKind::kMarkov, 4, 4, 1, 0.0, 1.0, 1, {}, options.shards};
  CHECK_THROWS_WITH(make_task(options, 1), "a Markov chain has no order to cut shards from");
  options.kind = TaskKind::kTeacher;
  CHECK_THROWS_WITH(make_task(options, 1), "a teacher's inputs have no order to cut shards from");
}

}  // namespace
}  // namespace optim
