// sim/report/loss_csv.cpp: see loss_csv.h for the columns.
#include "sim/report/loss_csv.h"

#include <fmt/format.h>

#include <cmath>
#include <ostream>
#include <string>

namespace sim::report {
namespace {

constexpr std::size_t kRowsMax = 10'000;

// A loss that diverged is no number, and has an empty cell.
std::string number_or_empty(double loss) {
  return std::isfinite(loss) ? fmt::format("{}", loss) : std::string();
}

}  // namespace

void write_loss_csv(std::span<const LossPoint> points, std::ostream& out) {
  std::size_t stride = 1;
  while (points.size() / stride >= kRowsMax) stride *= 2;
  out << "time_s,tokens,loss\n";
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i % stride != 0 && i + 1 != points.size()) continue;
    out << base::format_seconds(points[i].at)
        << fmt::format(",{},{}\n", points[i].tokens, number_or_empty(points[i].loss));
  }
}

}  // namespace sim::report
