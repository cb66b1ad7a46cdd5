// tests/readers/traffic_ledger_test.cpp: bytes that close, and a peak that is really the largest.
//
// Goal:   law 4 per pair and class; the peak over aligned windows, whatever the order of ends.
// Method: hand arithmetic; for the peak a second method that keeps all windows.
// Teeth:  seen failing with broken transfers counted as received, and with windows finished at the
//         present date instead of at the oldest open start, and with the cut window counted as a whole one.
#include "sim/readers/traffic_ledger.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "tests/readers/hand_written_run.h"

namespace sim::readers {
namespace {

using namespace hand;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

TransferStarted started(std::uint32_t id, std::int64_t bytes, std::uint16_t to = 1) {
  return {bytes, id, id, 0, to, TrafficClass::kFragment};
}

TransferDone done(std::uint32_t id, std::int64_t bytes, std::int64_t carried, Nanoseconds start,
                  TransferStatus status = TransferStatus::kOk, std::uint16_t to = 1) {
  return {bytes, carried, start, id, 0, to, TrafficClass::kFragment, status};
}

TEST_CASE("traffic ledger: a broken transfer is split into carried and never sent", "[unit][readers]") {
  const RunShape shape = two_learners();
  TrafficLedger ledger(shape);
  play({{0_s, started(1, 1000)},
        {0_s, started(2, 500)},
        {1_s, started(3, 70, 0)},  // inside west
        {2_s, done(1, 1000, 1000, 0_s)},
        {3_s, done(2, 500, 200, 0_s, TransferStatus::kLinkDown)},
        {3_s, done(3, 70, 70, 1_s, TransferStatus::kOk, 0)},
        {4_s, started(4, 30)}},
       ledger);
  ledger.check_closed();
  const ByteTotals& pair = ledger.pair(0, 1, TrafficClass::kFragment);
  CHECK(pair.sent == 1000 + 200 + 30);
  CHECK(pair.received == 1000);
  CHECK(pair.lost == 200);
  CHECK(pair.in_flight == 30);
  CHECK(pair.never_sent == 300);
  CHECK(ledger.pair(1, 0, TrafficClass::kFragment).sent == 0);
  CHECK(ledger.pair(0, 1, TrafficClass::kGradient).sent == 0);
  CHECK(ledger.wan().received == 1000);  // without the 70 bytes inside west
  CHECK(ledger.wan_totals(10_s).bytes == 1200);
  // 1200 bytes in 10 s are 960 bit/s.
  CHECK_THAT(ledger.wan_totals(10_s).mean_gbps, WithinRel(960e-9, 1e-15));
}

TEST_CASE("traffic ledger: the peak is the largest mean over one nominal step", "[unit][readers]") {
  const RunShape shape = two_learners();  // a nominal step takes 10 s
  TrafficLedger ledger(shape);
  // 5 s to 25 s: 2000 bytes, so 500, 1000, 500 in three windows; 12 s to 14 s: 600 more in the second.
  play({{5_s, started(1, 2000)},
        {12_s, started(2, 600)},
        {14_s, done(2, 600, 600, 12_s)},
        {25_s, done(1, 2000, 2000, 5_s)}},
       ledger);
  // 1600 bytes in 10 s are 1280 bit/s.
  CHECK_THAT(ledger.wan_totals(25_s).peak_gbps, WithinRel(1280e-9, 1e-14));
  CHECK_THAT(ledger.wan_totals(25_s).peak_window_s, WithinAbs(10, 0));
}

// Windows of 10 s; 1000 bytes from 0 s to 12 s and no more. At 12 s the first window has 833 bytes, the
// second, 2 s long so far, 167: together 1000 in 12 s. Over ten seconds the first has as many a second.
TEST_CASE("traffic ledger: the window that the end cuts does not pull the peak below the mean",
          "[unit][readers]") {
  const RunShape shape = two_learners();
  TrafficLedger ledger(shape);
  play({{0_s, started(1, 1000)}, {12_s, done(1, 1000, 1000, 0_s)}}, ledger);
  CHECK_THAT(ledger.wan_totals(12_s).peak_gbps, WithinRel(8000.0 / 12e9, 1e-14));
  // All in the second window, and the end at 11 s: 500 bytes over the 11 s that the two windows had, but a
  // burst of one second is no window of its own.
  TrafficLedger late(shape);
  play({{10_s, started(1, 500)}, {11_s, done(1, 500, 500, 10_s)}}, late);
  CHECK_THAT(late.wan_totals(11_s).peak_gbps, WithinRel(4000.0 / 11e9, 1e-14));
  CHECK_THAT(late.wan_totals(20_s).peak_gbps, WithinRel(4000.0 / 10e9, 1e-14));
  // A run shorter than a window.
  TrafficLedger brief(shape);
  play({{0_s, started(1, 500)}, {4_s, done(1, 500, 500, 0_s)}}, brief);
  CHECK_THAT(brief.wan_totals(4_s).peak_gbps, WithinRel(4000.0 / 4e9, 1e-14));
}

TEST_CASE("traffic ledger: the peak agrees with all windows kept", "[unit][readers][property]") {
  const RunShape shape = two_learners();
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    struct Transfer {
      Nanoseconds start, end;
      std::int64_t bytes;
      std::uint32_t id;
    };
    std::vector<Transfer> transfers;
    for (std::uint32_t id = 0; id < 60; ++id) {
      const auto start = static_cast<Nanoseconds>(rng() % 3'000) * base::kSecond / 10;
      transfers.push_back({start, start + static_cast<Nanoseconds>(rng() % 600) * base::kSecond / 10,
                           static_cast<std::int64_t>(rng() % 10'000), id});
    }
    std::ranges::sort(transfers, {}, &Transfer::start);
    std::vector<Fact> facts;
    std::vector<double> windows(100, 0.0);
    for (std::uint32_t id = 0; id < transfers.size(); ++id) {
      Transfer& t = transfers[id];
      t.id = id;
      facts.emplace_back(t.start, started(id, t.bytes));
      if (t.start == t.end) windows[static_cast<std::size_t>(t.start / 10_s)] += double(t.bytes);
      for (std::size_t w = 0; w < windows.size() && t.start < t.end; ++w) {
        const auto at = static_cast<Nanoseconds>(w) * 10_s;
        const Nanoseconds overlap = std::min(t.end, at + 10_s) - std::max(t.start, at);
        if (overlap > 0) windows[w] += double(t.bytes) * double(overlap) / double(t.end - t.start);
      }
    }
    std::ranges::sort(transfers, {}, &Transfer::end);
    for (const Transfer& t : transfers) facts.emplace_back(t.end, done(t.id, t.bytes, t.bytes, t.start));
    std::ranges::stable_sort(facts, {}, &Fact::at);
    TrafficLedger ledger(shape);
    play(facts, ledger);
    ledger.check_closed();
    const double expected = *std::ranges::max_element(windows) * 8.0 / 10e9;
    // Sums of at most 60 terms in another order.
    REQUIRE_THAT(ledger.wan_totals(400_s).peak_gbps, WithinRel(expected, 1e-12));
    const WanTotals at_end = ledger.wan_totals(transfers.back().end + 1);
    REQUIRE(at_end.peak_gbps >= at_end.mean_gbps);
    double binned = 0, total = 0;
    for (const TrafficBin& bin : ledger.grid().bins()) binned += bin.wan_bytes[1];
    for (const Transfer& t : transfers) total += double(t.bytes);
    REQUIRE_THAT(binned, WithinRel(total, 1e-12));
  }
}

TEST_CASE("traffic ledger: a transfer that contradicts its start is our bug", "[unit][readers]") {
  const RunShape shape = two_learners();
  TrafficLedger ledger(shape);
  CHECK_THROWS_WITH(ledger.on({1_s, done(9, 5, 5, 0_s)}), "transfer 9 ends, but it is not under way");
  ledger.on({1_s, started(3, 100)});
  CHECK_THROWS_WITH(ledger.on({2_s, started(3, 100)}), "transfer 3 starts after transfer 3");
  CHECK_THROWS_AS(ledger.on({2_s, done(3, 100, 101, 1_s)}), std::logic_error);
  CHECK_THROWS_AS(ledger.on({2_s, done(3, 100, 99, 1_s)}), std::logic_error);  // ok, but not all
}

TEST_CASE("time grid: a full grid doubles its bins and keeps the sums", "[unit][readers]") {
  TimeGrid<int> grid(10, 4);
  for (int date = 0; date < 40; date += 10) grid.at(date) += date;  // bins 0, 10, 20, 30
  grid.at(75) += 5;                                                 // needs bins of 20
  CHECK(grid.width() == 20);
  CHECK(grid.bins() == std::vector<int>{0 + 10, 20 + 30, 0, 5});
  grid.at(80) += 1;  // and now of 40
  CHECK(grid.bins() == std::vector<int>{60, 5, 1});
}

}  // namespace
}  // namespace sim::readers
