// sim/readers/cost.h: the dollars of a run: chips while they are provisioned, and egress.
//
//   cost = sum over slices of chips * price * billed time + sum over pairs of regions of bytes * egress
//
// Prices are the user's: none is built in. A slice is provisioned from date 0 on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/readers/chip_time.h"
#include "sim/readers/traffic_ledger.h"
#include "sim/tape/reader.h"
#include "sim/tape/run_shape.h"

namespace sim::readers {

// Defaults are those of [cost].
struct CostOptions {
  bool bill_failed = true;   // a failed slice goes on being billed
  bool bill_unused = false;  // so do slices that the arm does not use
  // For islands and links without a price of their own; 0: none.
  double chip_dollars_per_h = 0;
  double egress_dollars_per_gb = 0;
};

// In US dollars.
struct Cost {
  double chips = 0;
  double egress = 0;
  double total = 0;
};

// Reads when slices are down. State: O(slices).
class CostLedger : public tape::Reader {
 public:
  // The shape outlives the ledger.
  CostLedger(const tape::RunShape& shape, CostOptions options);

  void on(const tape::Fact& fact) override;

  // At `now`, not before the last fact; egress of what `traffic` has carried by then (transfers
  // under way are billed when they end). None unless every billed slice has a price.
  std::optional<Cost> at(Nanoseconds now, const TrafficLedger& traffic) const;

  // The fleet never costs more, egress apart; dollars per second.
  double dollars_per_s_max() const;
  // What the bytes under way will cost once they have arrived.
  double in_flight(const TrafficLedger& traffic) const;
  // Of all links in both directions at their full rate; dollars per second.
  double egress_per_s_max() const;

 private:
  struct Slice {
    bool failed = false;
    Nanoseconds since = 0;
  };
  bool is_billed(std::size_t slice) const;
  std::int64_t price(std::size_t slice) const;  // of all its chips
  // Dollars for the bytes that `count` takes from the account of each pair of regions.
  template <class Count>
  double egress(const TrafficLedger& traffic, Count count) const;

  const tape::RunShape& shape_;
  CostOptions options_;
  bool priced_ = true;
  std::vector<Slice> slices_;
  std::int64_t fleet_price_ = 0;   // nanodollars per hour, of all that is billed
  ChipNanoseconds not_billed_ = 0; // nanodollars per hour times nanoseconds
  std::vector<double> egress_;     // dollars per GB, (regions, regions)
};

}  // namespace sim::readers
