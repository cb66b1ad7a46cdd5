// tests/optim/text_task_test.cpp: windows of a text: where they lie, what they show, who sees which.
//
// Teeth: seen failing with an alphabet in order of first occurrence, with windows that run into the
//        held-out tail or into the next part, with the last place of a part never drawn, with targets
//        that are the token itself, and with a part chosen by the slot with kDirichlet.
#include "optim/text_task.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <string>

#include "tests/optim/same_bits.h"

namespace optim {
namespace {

using Catch::Matchers::WithinAbs;

// 100 different bytes in order: symbol i stands at place i, so that a window shows its place.
std::string ramp() {
  std::string bytes(100, '\0');
  std::iota(bytes.begin(), bytes.end(), static_cast<char>(20));
  return bytes;
}

TaskOptions options_for(const std::string& bytes, std::size_t context, ExampleForm form) {
  TaskOptions options{TaskKind::kText, 1, 0, context, 0.0, 0.0, 7, form};
  options.text = std::make_shared<Text>(encode_text(bytes));
  options.classes = options.text->alphabet.size();
  options.inputs = options.classes * context;
  return options;
}

// First symbol of each of `count` examples of a slot: the place of its window.
std::set<int> places(const Task& task, std::uint32_t slot, std::uint32_t count) {
  std::set<int> found;
  for (std::uint32_t step = 0; step < count; ++step) {
    Batch batch;
    task.append_example(step, slot, batch);
    found.insert(batch.tokens[0]);
  }
  return found;
}

std::set<int> from_to(int first, int last) {
  std::set<int> all;
  for (int i = first; i <= last; ++i) all.insert(i);
  return all;
}

TEST_CASE("text: the alphabet is the distinct bytes, ascending, high ones last", "[unit][optim]") {
  const Text text = encode_text("cab\xff" "a\n");
  CHECK(text.alphabet == std::vector<std::uint8_t>{'\n', 'a', 'b', 'c', 0xff});
  CHECK(text.symbols == std::vector<std::uint8_t>{3, 1, 2, 4, 1, 0});
  CHECK(encode_text("").alphabet.empty());
}

TEST_CASE("text: the longest window by hand", "[unit][optim]") {
  // 105 symbols: 10 held out, 95 trained on; cut in 12 parts, the smallest has 7.
  CHECK(training_symbols(105) == 95);
  CHECK(longest_window(105, {}) == 10);
  CHECK(longest_window(105, {ShardKind::kContiguous, 12, 1.0, 12}) == 7);
  CHECK(longest_window(9, {}) == 0);
}

TEST_CASE("text: windows cover the training part exactly, held-out windows only the tail",
          "[unit][optim]") {
  // Training places 0 .. 89, a window of 4: starts 0 .. 86. The tail 90 .. 99: starts 90 .. 96.
  const auto task = make_task(options_for(ramp(), 3, ExampleForm::kTokens), 5);
  CHECK(places(*task, 0, 3000) == from_to(0, 86));  // (1 - 1/87)^3000 = 1e-15 to miss one
  const Batch& set = task->held_out();
  REQUIRE(set.examples == 7);
  for (std::size_t i = 0; i < 7; ++i) {  // seven places, seven windows: one each
    CHECK(set.tokens[3 * i] == 90 + static_cast<int>(i));
    CHECK(set.targets[3 * i + 2] == 93 + static_cast<int>(i));
  }
  CHECK(std::isnan(task->loss_floor()));
}

TEST_CASE("text: both forms show the same windows", "[unit][optim]") {
  const std::string bytes = "the quick brown fox jumps over the lazy dog; " + ramp();
  const auto features = make_task(options_for(bytes, 4, ExampleForm::kFeatures), 5);
  const auto tokens = make_task(options_for(bytes, 4, ExampleForm::kTokens), 5);
  CHECK(features->inputs() == 4 * features->outputs());
  CHECK(tokens->inputs() == 4);
  Batch a, b;
  for (std::uint32_t step = 0; step < 50; ++step) {
    features->append_example(step, step % 7, a);
    tokens->append_example(step, step % 7, b);
  }
  REQUIRE(a.examples == 50);
  REQUIRE(a.inputs.size() == 50 * features->inputs());
  REQUIRE(b.tokens.size() == 200);
  REQUIRE(b.targets.size() == 200);
  for (std::size_t i = 0; i < 50; ++i) {
    for (std::size_t p = 0; p < 4; ++p) {
      const auto row = a.inputs.begin() + static_cast<long>((4 * i + p) * features->outputs());
      CHECK(std::count(row, row + static_cast<long>(features->outputs()), 1.0f) == 1);
      CHECK(row[b.tokens[4 * i + p]] == 1.0f);
      if (p < 3) CHECK(b.targets[4 * i + p] == b.tokens[4 * i + p + 1]);
    }
    CHECK(a.targets[i] == b.targets[4 * i + 3]);
  }
}

TEST_CASE("text: examples are functions of seed, step and slot", "[unit][optim]") {
  const TaskOptions options = options_for(ramp(), 3, ExampleForm::kFeatures);
  const auto one = make_task(options, 5), again = make_task(options, 5), other = make_task(options, 6);
  Batch a, b, c;
  for (std::uint32_t step = 0; step < 20; ++step) {
    one->append_example(step, 3, a);
    again->append_example(step, 3, b);
    other->append_example(step, 3, c);
  }
  CHECK(same_bits(a.inputs, b.inputs));
  CHECK(same_bits(one->held_out().inputs, again->held_out().inputs));
  CHECK_FALSE(same_bits(a.inputs, c.inputs));
}

TEST_CASE("text: contiguous shards read their own part, and all of it", "[unit][optim]") {
  TaskOptions options = options_for(ramp(), 3, ExampleForm::kTokens);
  options.shards = {ShardKind::kContiguous, 3, 1.0, 6};  // parts of 30 symbols, 27 places each
  const auto task = make_task(options, 5);
  for (const std::uint32_t slot : {0u, 1u, 2u, 5u}) {
    const int first = 30 * static_cast<int>(slot / 2);
    CHECK(places(*task, slot, 1500) == from_to(first, first + 26));
  }
}

TEST_CASE("text: Dirichlet shards read the parts by their shares", "[unit][optim]") {
  TaskOptions options = options_for(ramp(), 3, ExampleForm::kTokens);
  options.shards = {ShardKind::kDirichlet, 3, 0.7, 6};
  const auto task = make_task(options, 5);
  const Shards shards(options.shards, 3, 5);
  constexpr std::uint32_t kExamples = 4000;
  for (const std::uint32_t slot : {0u, 3u, 5u}) {
    std::vector<double> counts(3, 0.0);
    for (std::uint32_t step = 0; step < kExamples; ++step) {
      Batch batch;
      task->append_example(step, slot, batch);
      CHECK(batch.tokens[0] / 30 == batch.targets[2] / 30);  // a window lies in one part
      counts[static_cast<std::size_t>(batch.tokens[0] / 30)] += 1.0;
    }
    for (std::size_t g = 0; g < 3; ++g) {  // 5 standard errors of at most 0.5 / sqrt(4000)
      CHECK_THAT(counts[g] / kExamples, WithinAbs(shards.shares(slot / 2)[g], 0.04));
    }
  }
}

TEST_CASE("text: what makes no task is refused", "[unit][optim]") {
  TaskOptions options = options_for(ramp(), 3, ExampleForm::kTokens);
  options.text = nullptr;
  CHECK_THROWS_WITH(make_task(options, 1), "task text needs a text");
  CHECK_THROWS_WITH(make_task(options_for(std::string(100, 'a'), 3, ExampleForm::kTokens), 1),
                    "a text of 1 symbols does not make 1 classes");
  CHECK_THROWS_WITH(make_task(options_for(ramp(), 10, ExampleForm::kTokens), 1),
                    "context must be between 1 and 9; got 10");
}

}  // namespace
}  // namespace optim
