// tests/optim/csv_task_test.cpp: rows of a table as examples: scaling, the held-out part, the shards.
//
// Teeth:  seen failing with a fourth held out or none of few rows, with a class of no rows left among the groups,
//         with rows in the shuffle's order, with every slot on the first shard, with classes drawn evenly, with
//         one row of a class alone, with scaling by all rows or by n - 1, and with too many shards let through.
#include "optim/csv_task.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <set>

#include "tests/optim/same_bits.h"

namespace optim {
namespace {

using Catch::Matchers::WithinAbs;

// Column 0 tells the row, column 1 is constant (and no sum of it is exact), column 2 is uneven.
std::shared_ptr<Table> numbered(std::size_t rows, std::size_t classes) {
  auto table = std::make_shared<Table>();
  table->columns = 3;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto number = static_cast<double>(row);
    table->features.insert(table->features.end(), {number, 0.1, number * number});
    table->labels.push_back(static_cast<std::int32_t>(row % classes));
  }
  for (std::size_t c = 0; c < classes; ++c) table->classes.push_back(std::string(1, static_cast<char>('a' + c)));
  return table;
}

TaskOptions options_for(std::shared_ptr<Table> table) {
  TaskOptions options{TaskKind::kCsv, table->columns, table->classes.size(), 0, 0.0, 0.0, 0};
  options.table = std::move(table);
  return options;
}

// The rows that `count` examples of a slot show, told by column 0.
std::set<std::uint32_t> rows_seen(const CsvTask& task, std::uint32_t slot, std::uint32_t count,
                                  const std::vector<std::pair<float, std::uint32_t>>& names) {
  std::set<std::uint32_t> seen;
  for (std::uint32_t step = 0; step < count; ++step) {
    Batch batch;
    task.append_example(step, slot, batch);
    const auto name = std::ranges::find(names, batch.inputs[0],
                                        &std::pair<float, std::uint32_t>::first);
    REQUIRE(name != names.end());
    seen.insert(name->second);
  }
  return seen;
}

// Standardised column 0 of each row, by straight-line code.
std::vector<std::pair<float, std::uint32_t>> names_of(const CsvTask& task, std::uint32_t rows) {
  double sum = 0.0, squares = 0.0;
  for (const std::uint32_t row : task.training_rows()) sum += row;
  const double count = static_cast<double>(task.training_rows().size()), mean = sum / count;
  for (const std::uint32_t row : task.training_rows()) squares += (row - mean) * (row - mean);
  std::vector<std::pair<float, std::uint32_t>> names;
  for (std::uint32_t row = 0; row < rows; ++row) {
    names.emplace_back(static_cast<float>((row - mean) * (1.0 / std::sqrt(squares / count))), row);
  }
  return names;
}

TEST_CASE("csv: a fifth of the rows is held out, by seed, and never trained on", "[unit][optim]") {
  CHECK(held_out_rows(2) == 1);
  CHECK(held_out_rows(29) == 5);
  const TaskOptions options = options_for(numbered(30, 3));
  const CsvTask task(options, 4), again(options, 4), other(options, 5);
  REQUIRE(task.training_rows().size() == 24);
  REQUIRE(task.held_out().examples == 6);
  CHECK(task.training_rows() == again.training_rows());
  CHECK(task.training_rows() != other.training_rows());
  const auto names = names_of(task, 30);
  const std::set<std::uint32_t> seen = rows_seen(task, 0, 1500, names);  // (23/24)^1500 = 2e-28
  CHECK(std::vector<std::uint32_t>(seen.begin(), seen.end()) == task.training_rows());
  // What is held out is the rest, in order, with its own labels.
  std::size_t next = 0;
  for (std::uint32_t row = 0; row < 30; ++row) {
    if (seen.count(row) > 0) continue;
    CHECK(task.held_out().inputs[3 * next] == names[row].first);
    CHECK(task.held_out().targets[next] == static_cast<std::int32_t>(row % 3));
    ++next;
  }
  CHECK(next == 6);
}

TEST_CASE("csv: training columns have mean 0 and sd 1, constant ones are 0", "[unit][optim]") {
  const CsvTask task(options_for(numbered(30, 3)), 4);
  const auto names = names_of(task, 30);
  std::set<std::uint32_t> done;
  std::vector<double> sums(3, 0.0), squares(3, 0.0);
  for (std::uint32_t step = 0; step < 1500; ++step) {  // a row left out: 24 (23/24)^1500 = 5e-27
    Batch batch;
    task.append_example(step, 0, batch);
    const auto row = std::ranges::find(names, batch.inputs[0], &std::pair<float, std::uint32_t>::first);
    REQUIRE(row != names.end());
    if (!done.insert(row->second).second) continue;
    for (std::size_t c = 0; c < 3; ++c) {
      sums[c] += double{batch.inputs[c]};
      squares[c] += double{batch.inputs[c]} * double{batch.inputs[c]};
    }
  }
  REQUIRE(done.size() == 24);
  for (const std::size_t c : {0u, 2u}) {  // 24 roundings to float of values below 4
    CHECK_THAT(sums[c], WithinAbs(0.0, 1e-5));
    CHECK_THAT(squares[c] / 24.0, WithinAbs(1.0, 1e-5));
  }
  CHECK(squares[1] == 0.0);
  for (std::size_t i = 0; i < 6; ++i) CHECK(task.held_out().inputs[3 * i + 1] == 0.0f);
}

TEST_CASE("csv: a column too small to be squared counts as constant", "[unit][optim]") {
  auto table = numbered(10, 2);
  for (std::size_t row = 0; row < 10; ++row) table->features[3 * row + 2] = 1e-200 * static_cast<double>(row);
  const CsvTask task(options_for(table), 1);
  for (const float value : task.held_out().inputs) CHECK(std::isfinite(value));
  CHECK(task.held_out().inputs[2] == 0.0f);
}

TEST_CASE("csv: contiguous shards are the training rows in file order", "[unit][optim]") {
  TaskOptions options = options_for(numbered(30, 3));
  options.shards = {ShardKind::kContiguous, 3, 1.0, 6};
  const CsvTask task(options, 4);
  const auto names = names_of(task, 30);
  std::vector<std::uint32_t> all;
  for (const std::uint32_t slot : {0u, 2u, 4u}) {
    const auto seen = rows_seen(task, slot, 500, names);  // 8 rows: (7/8)^500 = 1e-29
    CHECK(seen.size() == 8);
    all.insert(all.end(), seen.begin(), seen.end());
    CHECK(rows_seen(task, slot + 1, 500, names) == seen);
  }
  CHECK(all == task.training_rows());
}

TEST_CASE("csv: Dirichlet shards have their own class shares, all rows of a class alike",
          "[unit][optim]") {
  TaskOptions options = options_for(numbered(40, 4));
  options.shards = {ShardKind::kDirichlet, 2, 0.5, 4};
  const CsvTask task(options, 4);
  const Shards shards(options.shards, 4, 4);
  constexpr std::uint32_t kExamples = 4000;
  const auto names = names_of(task, 40);
  std::set<std::uint32_t> seen = rows_seen(task, 0, kExamples, names);
  seen.merge(rows_seen(task, 3, kExamples, names));
  CHECK(std::vector<std::uint32_t>(seen.begin(), seen.end()) == task.training_rows());
  for (const std::uint32_t slot : {0u, 3u}) {
    std::vector<double> counts(4, 0.0);
    for (std::uint32_t step = 0; step < kExamples; ++step) {
      Batch batch;
      task.append_example(step, slot, batch);
      counts[static_cast<std::size_t>(batch.targets[0])] += 1.0;
    }
    for (std::size_t c = 0; c < 4; ++c) {  // 5 standard errors of at most 0.5 / sqrt(4000)
      CHECK_THAT(counts[c] / kExamples, WithinAbs(shards.shares(slot / 2)[c], 0.04));
    }
  }
}

TEST_CASE("csv: a class that only held-out rows have is never drawn", "[unit][optim]") {
  // Row 0 alone is of class b; whichever rows are held out by seed, no draw may fail.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto table = numbered(10, 1);
    table->classes = {"a", "b"};
    table->labels[0] = 1;
    TaskOptions options = options_for(table);
    options.shards = {ShardKind::kDirichlet, 4, 0.5, 4};
    const CsvTask task(options, seed);
    Batch batch;
    for (std::uint32_t step = 0; step < 50; ++step) task.append_example(step, step % 4, batch);
    const bool trained = task.training_rows().front() == 0;
    if (!trained) CHECK(std::ranges::count(batch.targets, 1) == 0);
  }
}

TEST_CASE("csv: what makes no task is refused", "[unit][optim]") {
  TaskOptions options = options_for(numbered(10, 2));
  options.table = nullptr;
  CHECK_THROWS_WITH(make_task(options, 1), "task csv needs a table");
  CHECK_THROWS_WITH(make_task(options_for(numbered(10, 1)), 1),
                    "a table of 10 rows, 3 columns and 1 classes does not make 3 inputs and 1 classes");
  options = options_for(numbered(10, 2));
  options.shards = {ShardKind::kContiguous, 9, 1.0, 9};
  CHECK_THROWS_WITH(make_task(options, 1), "8 training rows do not make 9 shards");
}

}  // namespace
}  // namespace optim
