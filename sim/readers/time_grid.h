// sim/readers/time_grid.h: a table over time whose bins double in width when it is full.
//
// The grid starts with bins of one width at date 0. A date beyond the last allowed bin merges
// neighbours two by two until it fits, so a table never has more rows than allowed, whatever the
// length of the run, and memory is bounded while the run goes on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "sim/base/time.h"

namespace sim::readers {

using base::Nanoseconds;

// Cell: default value is empty, `a += b` joins two.
template <class Cell>
class TimeGrid {
 public:
  // Requires: width > 0, bin_count_max even and positive.
  explicit TimeGrid(Nanoseconds width, std::size_t bin_count_max = 1000)
      : width_(width), bin_count_max_(bin_count_max) {
    if (width <= 0 || bin_count_max == 0 || bin_count_max % 2 != 0) {
      throw std::invalid_argument("a time grid needs a positive width and an even bin limit");
    }
  }

  // The bin that holds `date` (bins are closed at their start and open at their end).
  Cell& at(Nanoseconds date) {
    while (static_cast<std::size_t>(date / width_) >= bin_count_max_) halve();
    const auto index = static_cast<std::size_t>(date / width_);
    if (index >= bins_.size()) bins_.resize(index + 1);
    return bins_[index];
  }

  // Calls part(cell, from, to) for every bin that [from, to) meets, with its share of the interval.
  template <class Part>
  void spread(Nanoseconds from, Nanoseconds to, Part part) {
    if (from >= to) return;
    at(to - 1);
    while (from < to) {
      const Nanoseconds end = std::min(to, (from / width_ + 1) * width_);
      part(at(from), from, end);
      from = end;
    }
  }

  Nanoseconds width() const { return width_; }
  const std::vector<Cell>& bins() const { return bins_; }

 private:
  void halve() {
    const std::size_t half = (bins_.size() + 1) / 2;
    for (std::size_t i = 0; i < half; ++i) {
      Cell joined = bins_[2 * i];
      if (2 * i + 1 < bins_.size()) joined += bins_[2 * i + 1];
      bins_[i] = joined;
    }
    bins_.resize(half);
    width_ *= 2;
  }

  Nanoseconds width_;
  std::size_t bin_count_max_;
  std::vector<Cell> bins_;
};

}  // namespace sim::readers
