// optim/running_sums.h: draws from a list of shares by their running sums.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace optim {

inline void append_running_sums(std::span<const double> shares, std::vector<double>& sums) {
  double sum = 0.0;
  for (const double share : shares) sums.push_back(sum += share);
}

// The first index whose running sum exceeds u; rounding may leave the last sum just below 1.
inline std::size_t choose(std::span<const double> sums, double u) {
  const auto found = std::ranges::upper_bound(sums, u);
  return std::min(static_cast<std::size_t>(found - sums.begin()), sums.size() - 1);
}

}  // namespace optim
