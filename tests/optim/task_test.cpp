// tests/optim/task_test.cpp: examples are pure functions, and floors are what theory says.
//
// Teeth: seen failing with step ignored, with slot ignored, with the held-out set
//        drawn from the training stream, with a flip that may keep the label, with noise added twice,
//        with the entropy of a uniform start instead of the stationary one, with the newest
//        symbol first, with one target per sequence, and with a floor of the first examples' targets only.
#include "optim/task.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <vector>

#include "optim/markov_task.h"
#include "optim/quadratic_model.h"
#include "optim/quadratic_task.h"
#include "optim/teacher_task.h"
#include "tests/optim/same_bits.h"

namespace optim {
namespace {

using Catch::Matchers::WithinAbs;

const TaskOptions kQuadratic{TaskKind::kQuadratic, 12, 0, 0, 0.5, 0.0, 400};
const TaskOptions kTeacher{TaskKind::kTeacher, 9, 4, 0, 0.2, 0.0, 400};
const TaskOptions kMarkov{TaskKind::kMarkov, 15, 5, 3, 0.0, 1.5, 400};

Batch one(const Task& task, std::uint32_t step, std::uint32_t slot) {
  Batch batch;
  task.append_example(step, slot, batch);
  return batch;
}

bool same(const Batch& a, const Batch& b) {
  return a.examples == b.examples && same_bits(a.inputs, b.inputs) && a.targets == b.targets;
}

TEST_CASE("tasks: an example depends on seed, step and slot alone", "[unit][optim]") {
  for (const TaskOptions& options : {kQuadratic, kTeacher, kMarkov}) {
    const auto task = make_task(options, 7), again = make_task(options, 7);
    const Batch first = one(*task, 3, 5);
    one(*again, 1000, 2);  // asking for others in between changes nothing
    CHECK(same(one(*again, 3, 5), first));
    Batch together;
    task->append_example(2, 4, together);
    task->append_example(3, 5, together);
    CHECK(together.examples == 2);
    CHECK(same_bits(std::vector<float>(together.inputs.end() - static_cast<int>(task->inputs()),
                                       together.inputs.end()),
                    first.inputs));
    CHECK(first.inputs.size() == options.inputs);
  }
}

TEST_CASE("tasks: step, slot and seed each make another example", "[unit][optim]") {
  for (const TaskOptions& options : {kQuadratic, kTeacher}) {
    const auto task = make_task(options, 7);
    std::set<std::vector<float>> seen;
    for (std::uint32_t step = 0; step < 10; ++step) {
      for (std::uint32_t slot = 0; slot < 10; ++slot) seen.insert(one(*task, step, slot).inputs);
    }
    seen.insert(one(*task, UINT32_MAX, UINT32_MAX).inputs);
    seen.insert(one(*make_task(options, 8), 0, 0).inputs);
    for (std::size_t i = 0; i < 100; ++i) {
      const auto from = task->held_out().inputs.begin() + static_cast<long>(i * options.inputs);
      seen.insert(std::vector<float>(from, from + static_cast<long>(options.inputs)));
    }
    CHECK(seen.size() == 202);  // 100 + 2 + the first 100 held out, which are never trained on
  }
}

TEST_CASE("quadratic task: the floor is reached at the optimum and nowhere below", "[unit][optim]") {
  constexpr double kNoise = 0.5;
  const QuadraticTask task({TaskKind::kQuadratic, 12, 0, 0, kNoise, 0.0, 4000}, 3);
  const QuadraticModel model(12, 20.0);
  AlignedBlock theta(model.block_size());
  std::copy(task.optimum().begin(), task.optimum().end(), theta.begin());
  std::vector<float> scratch;
  CHECK_THAT(task.loss_floor(), WithinAbs(0.5 * 0.25 * 12.0, 1e-15));
  // One example's loss is noise^2 / 2 sum c z^2, of variance noise^4 / 2 sum c^2; 5 sd of the mean.
  double squares = 0.0;
  for (const float c : model.curvature()) squares += double{c} * double{c};
  const double sd = kNoise * kNoise * std::sqrt(0.5 * squares / 4000.0);
  const double at_optimum = model.loss(theta, task.held_out(), scratch) / 4000.0;
  CHECK_THAT(at_optimum, WithinAbs(task.loss_floor(), 5.0 * sd));
  theta[0] += 1.0f;  // costs c_1 / 2, up to the mean noise in that coordinate
  const double away = model.loss(theta, task.held_out(), scratch) / 4000.0;
  const double c = double{model.curvature()[0]};
  CHECK_THAT(away - at_optimum, WithinAbs(0.5 * c, 5.0 * c * kNoise / std::sqrt(4000.0)));
}

TEST_CASE("quadratic task: without noise every example is the optimum", "[unit][optim]") {
  const QuadraticTask task({TaskKind::kQuadratic, 5, 0, 0, 0.0, 0.0, 1}, 3);
  CHECK(same_bits(one(task, 9, 9).inputs, task.optimum()));
  CHECK(task.loss_floor() == 0.0);
}

TEST_CASE("teacher task: noise is the share of labels that differ from the teacher's",
          "[unit][optim]") {
  const TeacherTask task({TaskKind::kTeacher, 9, 4, 0, 0.2, 0.0, 1}, 5);
  constexpr int kExamples = 4000;
  int flipped = 0;
  std::vector<int> classes(4, 0);
  for (std::uint32_t step = 0; step < kExamples; ++step) {
    const Batch batch = one(task, step, 0);
    const std::int32_t label = task.label(batch.inputs);
    flipped += batch.targets[0] != label ? 1 : 0;
    ++classes[static_cast<std::size_t>(label)];
  }
  // Binomial with p = 0.2: sd sqrt(0.2 * 0.8 / 4000) = 0.0063; 5 sd.
  CHECK_THAT(static_cast<double>(flipped) / kExamples, WithinAbs(0.2, 0.032));
  for (const int count : classes) CHECK(count > kExamples / 20);  // no class is all but absent
}

TEST_CASE("teacher task: the floor is the entropy of the flip", "[unit][optim]") {
  // q = 0.1, ten classes: -0.9 ln 0.9 - 0.1 ln(0.1 / 9) = 0.0948245 + 0.4499810
  CHECK_THAT(TeacherTask({TaskKind::kTeacher, 3, 10, 0, 0.1, 0.0, 1}, 1).loss_floor(),
             WithinAbs(0.5448055, 1e-7));
  CHECK(TeacherTask({TaskKind::kTeacher, 3, 10, 0, 0.0, 0.0, 1}, 1).loss_floor() == 0.0);
  CHECK_THAT(TeacherTask({TaskKind::kTeacher, 3, 10, 0, 1.0, 0.0, 1}, 1).loss_floor(),
             WithinAbs(std::log(9.0), 1e-15));
}

TEST_CASE("Markov task: the stationary distribution of two states by hand", "[unit][optim]") {
  // Leaving rates 0.1 and 0.3: shares 0.3 / 0.4 and 0.1 / 0.4.
  const auto pi = stationary_distribution({0.9, 0.1, 0.3, 0.7}, 2);
  CHECK_THAT(pi[0], WithinAbs(0.75, 1e-15));
  CHECK_THAT(pi[1], WithinAbs(0.25, 1e-15));
}

TEST_CASE("Markov task: the entropy rate agrees with brute force", "[unit][optim]") {
  for (const double sharpness : {0.0, 1.5, 3.0}) {
    CAPTURE(sharpness);
    const MarkovTask task({TaskKind::kMarkov, 7, 7, 1, 0.0, sharpness, 1}, 11);
    const std::vector<double>& p = task.transitions();
    // A second way: push a distribution through the chain 5000 times, then H(pair) - H(first).
    std::vector<double> now(7, 1.0 / 7.0);
    for (int step = 0; step < 5000; ++step) {
      std::vector<double> next(7, 0.0);
      for (std::size_t i = 0; i < 49; ++i) next[i % 7] += now[i / 7] * p[i];
      now = next;
    }
    double pair = 0.0, first = 0.0;
    for (std::size_t i = 0; i < 49; ++i) {
      const double joint = now[i / 7] * p[i];
      pair -= joint * std::log(joint);
    }
    for (std::size_t a = 0; a < 7; ++a) {
      first -= now[a] * std::log(now[a]);
      CHECK_THAT(task.stationary()[a], WithinAbs(now[a], 1e-11));  // 5000 roundings of 1e-16
    }
    CHECK_THAT(task.loss_floor(), WithinAbs(pair - first, 1e-10));
  }
  // Sharpness 0 makes all transitions alike: ln 7.
  CHECK_THAT(MarkovTask({TaskKind::kMarkov, 7, 7, 1, 0.0, 0.0, 1}, 11).loss_floor(),
             WithinAbs(std::log(7.0), 1e-14));
}

// With two symbols and a context of one, the set is four counts n_ab: the mean of -ln p_ab over them,
// counted here from the inputs. 4,000 examples lie within 5 sd (about 0.05) of the entropy rate.
TEST_CASE("Markov task: the floor of the held-out set is the true chain's loss on it",
          "[unit][optim]") {
  const MarkovTask task({TaskKind::kMarkov, 2, 2, 1, 0.0, 1.5, 4000}, 3);
  const Batch& set = task.held_out();
  std::vector<double> counts(4, 0.0);
  for (std::size_t i = 0; i < set.examples; ++i) {
    const std::size_t newest = set.inputs[2 * i] == 1.0f ? 0 : 1;
    counts[2 * newest + static_cast<std::size_t>(set.targets[i])] += 1.0;
  }
  double loss = 0.0;
  for (std::size_t i = 0; i < 4; ++i) loss -= counts[i] / 4000.0 * std::log(task.transitions()[i]);
  CHECK_THAT(task.held_out_floor(), WithinAbs(loss, 1e-12));
  CHECK_THAT(task.held_out_floor(), WithinAbs(task.loss_floor(), 0.05));
  CHECK(task.held_out_floor() != task.loss_floor());
}

TEST_CASE("Markov task: examples are one-hot, oldest first, and follow the transitions",
          "[unit][optim]") {
  const MarkovTask task(kMarkov, 2);
  constexpr std::uint32_t kExamples = 20000;
  std::vector<double> starts(5, 0.0), pairs(25, 0.0), last(5, 0.0);
  for (std::uint32_t step = 0; step < kExamples; ++step) {
    const Batch batch = one(task, step, 1);
    std::vector<std::size_t> symbols;
    for (std::size_t i = 0; i < 15; ++i) {
      if (batch.inputs[i] == 0.0f) continue;
      REQUIRE(batch.inputs[i] == 1.0f);
      REQUIRE(i / 5 == symbols.size());  // exactly one per position
      symbols.push_back(i % 5);
    }
    REQUIRE(symbols.size() == 3);
    starts[symbols[0]] += 1.0;
    last[symbols[2]] += 1.0;
    pairs[symbols[2] * 5 + static_cast<std::size_t>(batch.targets[0])] += 1.0;
  }
  for (std::size_t a = 0; a < 5; ++a) {
    CAPTURE(a);
    // Shares of 20000 draws: sd below 0.5 / sqrt(20000) = 0.0035; 5 sd.
    CHECK_THAT(starts[a] / kExamples, WithinAbs(task.stationary()[a], 0.018));
    CHECK_THAT(last[a] / kExamples, WithinAbs(task.stationary()[a], 0.018));
    for (std::size_t b = 0; b < 5; ++b) {
      const double sd = 0.5 / std::sqrt(last[a]);
      CHECK_THAT(pairs[a * 5 + b] / last[a], WithinAbs(task.transitions()[a * 5 + b], 5.0 * sd));
    }
  }
}

TEST_CASE("Markov task: as tokens it shows the same symbols, with a target at each position",
          "[unit][optim]") {
  TaskOptions as_tokens = kMarkov;
  as_tokens.form = ExampleForm::kTokens;
  const MarkovTask features(kMarkov, 2), tokens(as_tokens, 2);
  for (std::uint32_t step = 0; step < 50; ++step) {
    const Batch one_hot = one(features, step, 3), sequence = one(tokens, step, 3);
    REQUIRE(sequence.inputs.empty());
    REQUIRE(sequence.tokens.size() == 3);
    REQUIRE(sequence.targets.size() == 3);
    for (std::size_t p = 0; p < 3; ++p) {
      CHECK(one_hot.inputs[p * 5 + static_cast<std::size_t>(sequence.tokens[p])] == 1.0f);
    }
    CHECK(sequence.targets[0] == sequence.tokens[1]);
    CHECK(sequence.targets[1] == sequence.tokens[2]);
    CHECK(sequence.targets[2] == one_hot.targets[0]);
  }
  CHECK(tokens.held_out().tokens.size() == 400 * 3);
  CHECK(tokens.loss_floor() == features.loss_floor());
}

TEST_CASE("Markov task: the floor of held-out sequences counts every position", "[unit][optim]") {
  // The mean over 1200 pairs, counted from tokens and targets; within 5 sd of the entropy rate: a
  // pair's loss has an sd below 1.5 nats, 5 * 1.5 / sqrt(1200) = 0.22.
  TaskOptions options = kMarkov;
  options.form = ExampleForm::kTokens;
  const MarkovTask task(options, 2);
  const Batch& set = task.held_out();
  double loss = 0.0;
  for (std::size_t i = 0; i < set.tokens.size(); ++i) {
    const auto from = static_cast<std::size_t>(set.tokens[i]);
    loss -= std::log(task.transitions()[from * 5 + static_cast<std::size_t>(set.targets[i])]);
  }
  CHECK_THAT(task.held_out_floor(), WithinAbs(loss / 1200.0, 1e-12));
  CHECK_THAT(task.held_out_floor(), WithinAbs(task.loss_floor(), 0.22));
}

TEST_CASE("tasks: options outside their range are refused", "[unit][optim]") {
  CHECK_THROWS_WITH(make_task({TaskKind::kMarkov, 14, 5, 3, 0.0, 1.0, 1}, 1),
                    "inputs must be classes times context (15); got 14");
  CHECK_THROWS_WITH(make_task({TaskKind::kMarkov, 1, 1, 1, 0.0, 1.0, 1}, 1),
                    "classes must be at least 2; got 1");
  CHECK_THROWS_WITH(make_task({TaskKind::kMarkov, 5, 5, 0, 0.0, 1.0, 1}, 1),
                    "context must be at least 1; got 0");
  CHECK_THROWS_WITH(make_task({TaskKind::kTeacher, 5, 3, 0, 1.5, 0.0, 1}, 1),
                    "noise must be between 0 and 1; got 1.5");
  CHECK_THROWS_WITH(make_task({TaskKind::kMarkov, 5, 5, 1, 0.0, 51.0, 1}, 1),
                    "sharpness must be between 0 and 50; got 51");
  CHECK_THROWS_WITH(make_task({TaskKind::kQuadratic, 0, 0, 0, 0.0, 0.0, 1}, 1),
                    "inputs must be at least 1; got 0");
}

}  // namespace
}  // namespace optim
