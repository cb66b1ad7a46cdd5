// optim/csv_task.h: the class of a row of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "optim/shards.h"
#include "optim/task.h"
#include "sim/base/random.h"

namespace optim {

// Numbers and a class per row; all finite.
struct Table {
  std::size_t columns = 0;
  std::vector<double> features;      // (rows x columns), row-major, in file order
  std::vector<std::int32_t> labels;  // (rows); index into `classes`
  std::vector<std::string> classes;  // ascending, each in use
  std::size_t rows() const { return labels.size(); }
};

// How many rows are held out: a fifth, rounded down, at least one (assumed share).
std::size_t held_out_rows(std::size_t rows);

// Example: a row's features, each column less its mean and over its standard deviation (of the
//          population), both of the training rows; a column that is constant there becomes 0.
//          Target: the row's class.
// Held out: the held_out_rows() rows with the smallest random words of stream "task/csv/held-out",
//          word i for row i, all of them. options.held_out_examples is not used.
// Floor:   unknown (NaN).
// Shards:  iid: any training row, all alike. dirichlet: a class by the shard's own shares over the
//          classes that the training rows have, then any training row of it. contiguous: the
//          training rows in file order, cut into equal parts; a shard draws from its own.
// Random:  also one lane of "task/csv/examples" per example: a word for the row, and before it one
//          for the class with kDirichlet. Rows are drawn with replacement: there are no epochs.
class CsvTask : public Task {
 public:
  // Requires: a table of at least two rows, two classes and one column, whose sizes are those of the
  //           options; with kContiguous no more shards than training rows; else
  //           std::invalid_argument.
  CsvTask(const TaskOptions& options, std::uint64_t seed);

  std::size_t inputs() const override { return columns_; }
  std::size_t outputs() const override { return classes_; }
  void append_example(std::uint32_t step, std::uint32_t slot, Batch& batch) const override;
  const Batch& held_out() const override { return held_out_; }
  double loss_floor() const override;

  // Row numbers from 0, ascending.
  const std::vector<std::uint32_t>& training_rows() const { return training_; }

 private:
  void append_row(std::uint32_t row, Batch& batch) const;
  std::uint32_t draw_row(std::uint32_t slot, sim::base::Stream& stream) const;

  std::size_t columns_, classes_;
  std::vector<float> features_;                    // (rows x columns), standardised
  std::vector<std::int32_t> labels_;               // (rows)
  std::vector<std::uint32_t> training_;
  std::vector<std::vector<std::uint32_t>> groups_; // training rows of each class that has any
  Shards shards_;
  sim::base::Stream examples_;
  Batch held_out_;
};

}  // namespace optim
