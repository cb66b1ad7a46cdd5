// sim/trainer/convergence.cpp: see convergence.h.
#include "sim/trainer/convergence.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <ostream>

namespace sim::trainer {
namespace {

double norm(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

double mean_pairwise_cosine(std::span<const float> anchor,
                            std::span<const optim::Contribution> contributions) {
  std::vector<double> direction_sum(anchor.size(), 0.0), delta(anchor.size());
  double count = 0;
  for (const optim::Contribution& contribution : contributions) {
    for (std::size_t i = 0; i < anchor.size(); ++i) {
      delta[i] = double{anchor[i]} - double{contribution.values[i]};
    }
    const double length = norm(delta);
    if (length == 0) continue;
    ++count;
    for (std::size_t i = 0; i < anchor.size(); ++i) direction_sum[i] += delta[i] / length;
  }
  if (count < 2) return std::numeric_limits<double>::quiet_NaN();
  const double length = norm(direction_sum);
  return (length * length - count) / (count * (count - 1));
}

double spread(std::size_t size, std::span<const optim::Contribution> contributions) {
  double weight_sum = 0;
  for (const optim::Contribution& contribution : contributions) weight_sum += contribution.weight;
  double total = 0;
  for (std::size_t i = 0; i < size; ++i) {
    double mean = 0;
    for (const optim::Contribution& c : contributions) {
      mean += c.weight / weight_sum * double{c.values[i]};
    }
    for (const optim::Contribution& c : contributions) {
      const double distance = double{c.values[i]} - mean;
      total += c.weight / weight_sum * distance * distance;
    }
  }
  return std::sqrt(total);
}

}  // namespace

void measure_merge(std::span<const float> anchor,
                   std::span<const optim::Contribution> contributions,
                   std::span<const double> outer_gradient, ConvergenceRow& row) {
  row.outer_gradient_norm = norm(outer_gradient);
  row.cosine_mean = mean_pairwise_cosine(anchor, contributions);
  row.replica_spread_rms = spread(anchor.size(), contributions);
}

void ConvergenceRecord::append(const ConvergenceRow& row) {
  if (!wants(row.merge_index)) return;
  if (rows_.size() == rows_max_) {
    stride_ *= 2;
    std::erase_if(rows_, [&](const ConvergenceRow& old) { return !wants(old.merge_index); });
    if (!wants(row.merge_index)) return;
  }
  rows_.push_back(row);
}

void to_csv(const ConvergenceRecord& record, std::ostream& out) {
  out << "time_s,merge,sync,step,fragment,epoch,version,contributors,outer_gradient_norm,"
         "cosine_mean,replica_spread_rms\n";
  // Empty where there is none (a cosine of one contributor) or where the model diverged.
  const auto cell = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.6g}", value) : std::string();
  };
  for (const ConvergenceRow& row : record.rows()) {
    out << fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", base::format_seconds(row.at),
                       row.merge_index, row.sync, row.step, row.fragment, row.epoch, row.version,
                       row.contributors, cell(row.outer_gradient_norm), cell(row.cosine_mean),
                       cell(row.replica_spread_rms));
  }
}

}  // namespace sim::trainer
