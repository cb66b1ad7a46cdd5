// optim/csv_task.cpp: see csv_task.h.
#include "optim/csv_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "optim/example_stream.h"

namespace optim {
namespace {

using Rows = std::vector<std::uint32_t>;

const Table& checked(const TaskOptions& options) {
  if (options.table == nullptr) throw std::invalid_argument("task csv needs a table");
  const Table& table = *options.table;
  if (table.columns == 0 || table.classes.size() < 2 || table.rows() < 2 ||
      table.columns != options.inputs || table.classes.size() != options.classes ||
      table.features.size() != table.rows() * table.columns) {
    throw std::invalid_argument(
        fmt::format("a table of {} rows, {} columns and {} classes does not make {} inputs and {} "
                    "classes",
                    table.rows(), table.columns, table.classes.size(), options.inputs,
                    options.classes));
  }
  if (options.shards.kind == ShardKind::kContiguous &&
      options.shards.count > table.rows() - held_out_rows(table.rows())) {
    throw std::invalid_argument(fmt::format("{} training rows do not make {} shards",
                                            table.rows() - held_out_rows(table.rows()),
                                            options.shards.count));
  }
  return table;
}

// Row numbers by their random words; ties, which do not happen, by number.
Rows shuffled_rows(std::size_t count, std::uint64_t seed) {
  const sim::base::Stream stream(seed, "task/csv/held-out");
  Rows rows(count);
  std::iota(rows.begin(), rows.end(), 0u);
  std::ranges::sort(rows, {}, [&](std::uint32_t row) {
    return std::pair(stream.word_at(row), row);
  });
  return rows;
}

Rows ascending(Rows rows) {
  std::ranges::sort(rows);
  return rows;
}

Rows training_of(std::size_t count, std::uint64_t seed) {
  const Rows rows = shuffled_rows(count, seed);
  return ascending({rows.begin() + static_cast<std::ptrdiff_t>(held_out_rows(count)), rows.end()});
}

Rows held_out_of(std::size_t count, std::uint64_t seed) {
  const Rows rows = shuffled_rows(count, seed);
  return ascending({rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(held_out_rows(count))});
}

// What makes a column standard: (x - mean) * factor.
struct Scaling {
  double mean = 0.0, factor = 0.0;
};

// A constant column is told by its values: its computed mean may be an ulp off.
Scaling scaling_of(const Table& table, std::size_t column, const Rows& training) {
  const auto at = [&](std::uint32_t row) { return table.features[row * table.columns + column]; };
  const bool constant =
      std::ranges::all_of(training, [&](std::uint32_t row) { return at(row) == at(training[0]); });
  if (constant) return {};
  const auto count = static_cast<double>(training.size());
  double sum = 0.0, squares = 0.0;
  for (const std::uint32_t row : training) sum += at(row);
  const double mean = sum / count;
  for (const std::uint32_t row : training) squares += (at(row) - mean) * (at(row) - mean);
  const double sd = std::sqrt(squares / count);  // 0 when the squares are below the least double
  return {mean, sd > 0.0 ? 1.0 / sd : 0.0};
}

std::vector<float> standardised(const Table& table, const Rows& training) {
  std::vector<float> features(table.features.size());
  for (std::size_t column = 0; column < table.columns; ++column) {
    const Scaling scaling = scaling_of(table, column, training);
    for (std::size_t i = column; i < features.size(); i += table.columns) {
      features[i] = scaling.factor == 0.0
                        ? 0.0f
                        : static_cast<float>((table.features[i] - scaling.mean) * scaling.factor);
    }
  }
  return features;
}

std::vector<Rows> rows_by_class(const Table& table, const Rows& training) {
  std::vector<Rows> groups(table.classes.size());
  for (const std::uint32_t row : training) {
    groups[static_cast<std::size_t>(table.labels[row])].push_back(row);
  }
  std::erase_if(groups, [](const Rows& group) { return group.empty(); });
  return groups;
}

}  // namespace

std::size_t held_out_rows(std::size_t rows) { return std::max<std::size_t>(1, rows / 5); }

CsvTask::CsvTask(const TaskOptions& options, std::uint64_t seed)
    : columns_(checked(options).columns),
      classes_(options.classes),
      labels_(options.table->labels),
      training_(training_of(options.table->rows(), seed)),
      groups_(rows_by_class(*options.table, training_)),
      shards_(options.shards, groups_.size(), seed),
      examples_(seed, "task/csv/examples") {
  features_ = standardised(*options.table, training_);
  for (const std::uint32_t row : held_out_of(labels_.size(), seed)) append_row(row, held_out_);
}

double CsvTask::loss_floor() const { return std::numeric_limits<double>::quiet_NaN(); }

void CsvTask::append_example(std::uint32_t step, std::uint32_t slot, Batch& batch) const {
  sim::base::Stream stream = example_stream(examples_, step, slot);
  append_row(draw_row(slot, stream), batch);
}

std::uint32_t CsvTask::draw_row(std::uint32_t slot, sim::base::Stream& stream) const {
  const std::size_t shard = shards_.shard_of(slot);
  if (shards_.kind() == ShardKind::kDirichlet) {
    const Rows& rows = groups_[shards_.draw_group(shard, stream)];
    return rows[stream.next_below(rows.size())];
  }
  const std::size_t parts = shards_.kind() == ShardKind::kIid ? 1 : shards_.count();
  const Range part = part_of(training_.size(), shard, parts);
  return training_[part.first + stream.next_below(part.end - part.first)];
}

void CsvTask::append_row(std::uint32_t row, Batch& batch) const {
  const auto first = features_.begin() + static_cast<std::ptrdiff_t>(row * columns_);
  batch.inputs.insert(batch.inputs.end(), first, first + static_cast<std::ptrdiff_t>(columns_));
  batch.targets.push_back(labels_[row]);
  ++batch.examples;
}

}  // namespace optim
