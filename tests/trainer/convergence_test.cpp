// tests/trainer/convergence_test.cpp: the measures of a merge by hand, and the bounded record.
//
// Teeth:  seen failing with the spread unweighted, with the cosine's n left in, with zero deltas
//         counted as directions, and with the stride doubled without dropping rows.
#include "sim/trainer/convergence.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>
#include <vector>

namespace sim::trainer {
namespace {

using Catch::Matchers::WithinAbs;
using Floats = std::vector<float>;

TEST_CASE("convergence: two contributions match hand arithmetic", "[unit][trainer]") {
  // Anchor (1, 1); contributions (1, 0) and (-3, 1) have deltas (0, 1) and (4, 0): a right angle,
  // cosine 0. Weights 1 and 3: mean = (-2, 0.75); squared distances 9 + 0.5625 = 9.5625 and
  // 1 + 0.0625 = 1.0625; spread = sqrt(0.25 * 9.5625 + 0.75 * 1.0625) = sqrt(3.1875).
  // Outer gradient (3, 0.25): norm = sqrt(9.0625).
  const Floats anchor = {1, 1}, a = {1, 0}, b = {-3, 1};
  const std::vector<optim::Contribution> parts = {{1.0, a}, {3.0, b}};
  const std::vector<double> delta = {3.0, 0.25};
  ConvergenceRow row;
  measure_merge(anchor, parts, delta, row);
  CHECK_THAT(row.cosine_mean, WithinAbs(0.0, 1e-15));  // a few roundings of doubles near 1
  CHECK_THAT(row.replica_spread_rms, WithinAbs(std::sqrt(3.1875), 1e-14));
  CHECK_THAT(row.outer_gradient_norm, WithinAbs(std::sqrt(9.0625), 1e-14));
}

TEST_CASE("convergence: the mean cosine runs over pairs and skips zero deltas", "[unit][trainer]") {
  // Directions (1, 0), (0, 1) and (-1, 0): cosines 0, -1 and 0, mean -1/3. The fourth did not move.
  const Floats anchor = {0, 0}, a = {-2, 0}, b = {0, -1}, c = {5, 0}, still = {0, 0};
  std::vector<optim::Contribution> parts = {{1.0, a}, {1.0, b}, {1.0, c}, {1.0, still}};
  const std::vector<double> delta = {0.0, 0.0};
  ConvergenceRow row;
  measure_merge(anchor, parts, delta, row);
  CHECK_THAT(row.cosine_mean, WithinAbs(-1.0 / 3.0, 1e-15));
  parts = {{1.0, a}, {1.0, still}};
  measure_merge(anchor, parts, delta, row);
  CHECK(std::isnan(row.cosine_mean));
}

TEST_CASE("convergence: the record keeps multiples of a stride that doubles", "[unit][trainer]") {
  ConvergenceRecord record(4);
  for (std::uint64_t i = 0; i < 13; ++i) {
    ConvergenceRow row;
    row.merge_index = i;
    record.append(row);
  }
  // 0 1 2 3, full at 4: stride 2 keeps 0 2 and takes 4 6; full at 8: stride 4 keeps 0 4, takes 8 12.
  std::vector<std::uint64_t> kept;
  for (const ConvergenceRow& row : record.rows()) kept.push_back(row.merge_index);
  CHECK(kept == std::vector<std::uint64_t>{0, 4, 8, 12});
  CHECK(record.stride() == 4);
}

TEST_CASE("convergence: the table names its units and leaves an undefined cosine empty",
          "[unit][trainer]") {
  ConvergenceRecord record;
  ConvergenceRow row;
  row.at = 1'500'000'000;
  row.sync = 3;
  row.contributors = 1;
  row.outer_gradient_norm = 0.25;
  row.cosine_mean = std::nan("");
  record.append(row);
  std::ostringstream out;
  to_csv(record, out);
  CHECK(out.str() ==
        "time_s,merge,sync,step,fragment,epoch,version,contributors,outer_gradient_norm,"
        "cosine_mean,replica_spread_rms\n"
        "1.500000000,0,3,0,0,0,0,1,0.25,,0\n");
}

}  // namespace
}  // namespace sim::trainer
