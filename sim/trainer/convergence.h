// sim/trainer/convergence.h: how far apart the learners are at each merge, and where it leads.
//
// Large outer gradients whose directions disagree mean that learners drift apart; that shows here
// long before it shows in the loss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <utility>
#include <vector>

#include "optim/merge.h"
#include "sim/base/time.h"

namespace sim::trainer {

// One merge of one fragment with F parameters. With delta_i = anchor - contribution_i and
// w_i normalised weights:
struct ConvergenceRow {
  base::Nanoseconds at = 0;
  std::uint64_t merge_index = 0;  // counts all merges of the run
  std::uint32_t sync = 0;
  std::uint32_t step = 0;         // the syncer's
  std::uint32_t version = 0;
  std::uint16_t fragment = 0;
  std::uint16_t epoch = 0;
  std::uint32_t contributors = 0;
  double outer_gradient_norm = 0;  // ||merged delta||, Euclidean over the fragment
  double cosine_mean = 0;          // over pairs of delta_i; NaN when there is no pair
  double replica_spread_rms = 0;   // sqrt(sum w_i ||contribution_i - weighted mean||^2)
};

// Fills the three measures from a merge; O(contributors x F).
//
//   u_i    = delta_i / ||delta_i||            (a delta of 0 has no direction: left out)
//   cosine = (||sum u_i||^2 - n) / (n (n - 1)) (the mean of u_i . u_j over pairs)
//
// Shapes: anchor, contributions and outer_gradient (F).
void measure_merge(std::span<const float> anchor,
                   std::span<const optim::Contribution> contributions,
                   std::span<const double> outer_gradient, ConvergenceRow& row);

// At most 10,000 rows: keeps the merges whose index is a multiple of the stride; the stride starts
// at 1 and doubles each time the record is full.
class ConvergenceRecord {
 public:
  explicit ConvergenceRecord(std::size_t rows_max = 10'000) : rows_max_(rows_max) {}
  // One that goes on from another's rows and stride.
  ConvergenceRecord(std::vector<ConvergenceRow> rows, std::uint64_t stride)
      : stride_(stride), rows_(std::move(rows)) {}

  // Whether the row of this merge can still matter; append() decides again.
  bool wants(std::uint64_t merge_index) const { return merge_index % stride_ == 0; }
  // In order of merge_index.
  void append(const ConvergenceRow& row);

  const std::vector<ConvergenceRow>& rows() const { return rows_; }
  std::uint64_t stride() const { return stride_; }

 private:
  std::size_t rows_max_ = 10'000;
  std::uint64_t stride_ = 1;
  std::vector<ConvergenceRow> rows_;
};

// The header line and one line per row; columns carry their units, fields without one are counts or
// in the parameters' own unit. An undefined cosine is an empty field.
void to_csv(const ConvergenceRecord& record, std::ostream& out);

}  // namespace sim::trainer
