// sim/readers/traffic_ledger.h: who sent how many bytes where, and how fast the WAN had to be (law 4).
//
//   sent = received + lost + in flight      per directed pair of regions and per class
//
// `sent` counts what a broken transfer carried before it broke, and all of a transfer that arrived or
// is still under way. What a broken transfer never sent is counted apart.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/readers/time_grid.h"
#include "sim/tape/reader.h"
#include "sim/tape/run_shape.h"

namespace sim::readers {

struct ByteTotals {
  std::int64_t sent = 0;
  std::int64_t received = 0;
  std::int64_t lost = 0;        // left the source, and the transfer broke
  std::int64_t in_flight = 0;   // asked for by transfers under way
  std::int64_t never_sent = 0;  // asked for, not in `sent`
  ByteTotals& operator+=(const ByteTotals& other);
};

// Bytes that left a source in one bin of time.
struct TrafficBin {
  std::array<double, tape::kTrafficClassCount> wan_bytes{};
  double local_bytes = 0;  // inside regions, all classes
  TrafficBin& operator+=(const TrafficBin& other);
};

// The WAN (pairs of distinct regions) at one date.
struct WanTotals {
  std::int64_t bytes = 0;  // carried by transfers that ended: received + lost
  double mean_gbps = 0;    // bytes over the duration
  double peak_gbps = 0;    // largest mean over aligned windows of one nominal step; at least mean_gbps
  double peak_window_s = 0;
};

class TrafficLedger : public tape::Reader {
 public:
  explicit TrafficLedger(const tape::RunShape& shape);

  // Throws std::logic_error unless transfers are started in ascending order of their ids and each
  // ends once, with the bytes it was started with.
  void on(const tape::Fact& fact) override;

  const ByteTotals& pair(std::uint16_t source_region, std::uint16_t target_region,
                         tape::TrafficClass traffic) const;
  ByteTotals between(std::uint16_t source_region, std::uint16_t target_region) const;  // all classes
  ByteTotals wan() const;           // all classes
  ByteTotals wan(tape::TrafficClass traffic) const;

  // A transfer's carried bytes are spread evenly from its start to its end; those of transfers still
  // under way are in no window. A window that `now` cuts is looked at together with the one before it,
  // over the time that both had: so the windows cover the run, and no peak is below its mean. A shape
  // without a nominal step has no peak.
  WanTotals wan_totals(Nanoseconds now) const;

  // Carried bytes over time on at most 1,000 bins of at least one second, doubled when full.
  const TimeGrid<TrafficBin>& grid() const { return grid_; }

  // Throws std::logic_error unless law 4 holds, with what is in flight summed over the open transfers.
  void check_closed() const;

 private:
  struct Open {
    std::uint32_t transfer;
    std::size_t account;
    std::int64_t bytes;
    Nanoseconds start;
    bool done;
  };
  std::size_t account_of(std::uint16_t source_region, std::uint16_t target_region,
                         tape::TrafficClass traffic) const;
  void on_started(const tape::TransferStarted& started, Nanoseconds now);
  void on_done(const tape::TransferDone& done, Nanoseconds now);
  void close_transfer(const tape::TransferDone& done);
  void spread_wan(const tape::TransferDone& done, Nanoseconds end);
  double bytes_in_window(Nanoseconds index) const;
  void finish_windows(Nanoseconds now);

  std::size_t region_count_;
  Nanoseconds window_;
  std::vector<ByteTotals> accounts_;  // (regions, regions, classes)
  std::deque<Open> open_;             // ascending by transfer and by start; the first one is not done
  std::deque<double> windows_;        // bytes in windows that may still grow
  Nanoseconds first_window_ = 0;      // index of the front
  double peak_bytes_ = 0;             // of finished windows
  Nanoseconds finished_window_ = -1;  // index of the last finished one that carried bytes
  double finished_bytes_ = 0;         // in that one
  TimeGrid<TrafficBin> grid_;
};

}  // namespace sim::readers
