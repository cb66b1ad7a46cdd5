// sim/readers/traffic_ledger.cpp: see traffic_ledger.h for what is counted where.
#include "sim/readers/traffic_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace sim::readers {

using tape::TrafficClass;

ByteTotals& ByteTotals::operator+=(const ByteTotals& other) {
  sent += other.sent;
  received += other.received;
  lost += other.lost;
  in_flight += other.in_flight;
  never_sent += other.never_sent;
  return *this;
}

TrafficBin& TrafficBin::operator+=(const TrafficBin& other) {
  for (std::size_t c = 0; c < wan_bytes.size(); ++c) wan_bytes[c] += other.wan_bytes[c];
  local_bytes += other.local_bytes;
  return *this;
}

TrafficLedger::TrafficLedger(const tape::RunShape& shape)
    : region_count_(shape.regions.size()),
      window_(shape.nominal_step),
      accounts_(region_count_ * region_count_ * tape::kTrafficClassCount),
      grid_(base::kSecond) {}

std::size_t TrafficLedger::account_of(std::uint16_t source_region, std::uint16_t target_region,
                                      TrafficClass traffic) const {
  if (source_region >= region_count_ || target_region >= region_count_) {
    throw std::logic_error(fmt::format("a transfer from region {} to region {}, but there are {}",
                                       source_region, target_region, region_count_));
  }
  return (source_region * region_count_ + target_region) * tape::kTrafficClassCount +
         static_cast<std::size_t>(traffic);
}

void TrafficLedger::on(const tape::Fact& fact) {
  if (fact.kind == tape::Kind::kTransferStarted) {
    on_started(fact.transfer_started, fact.at);
  } else if (fact.kind == tape::Kind::kTransferDone) {
    on_done(fact.transfer_done, fact.at);
  }
}

void TrafficLedger::on_started(const tape::TransferStarted& started, Nanoseconds now) {
  const std::size_t account =
      account_of(started.source_region, started.target_region, started.traffic);
  if (!open_.empty() && started.transfer <= open_.back().transfer) {
    throw std::logic_error(fmt::format("transfer {} starts after transfer {}", started.transfer,
                                       open_.back().transfer));
  }
  open_.push_back({started.transfer, account, started.bytes, now, false});
  accounts_[account].sent += started.bytes;
  accounts_[account].in_flight += started.bytes;
}

void TrafficLedger::on_done(const tape::TransferDone& done, Nanoseconds now) {
  close_transfer(done);
  ByteTotals& account = accounts_[account_of(done.source_region, done.target_region, done.traffic)];
  account.in_flight -= done.bytes;
  account.sent -= done.bytes - done.carried;
  account.never_sent += done.bytes - done.carried;
  (done.status == tape::TransferStatus::kOk ? account.received : account.lost) += done.carried;

  const bool wan = done.source_region != done.target_region;
  const auto cls = static_cast<std::size_t>(done.traffic);
  const auto bin_bytes = [&](TrafficBin& bin) -> double& {
    return wan ? bin.wan_bytes[cls] : bin.local_bytes;
  };
  if (done.start == now) {
    bin_bytes(grid_.at(now)) += static_cast<double>(done.carried);
  } else {
    const double rate = static_cast<double>(done.carried) / static_cast<double>(now - done.start);
    grid_.spread(done.start, now, [&](TrafficBin& bin, Nanoseconds from, Nanoseconds to) {
      bin_bytes(bin) += rate * static_cast<double>(to - from);
    });
  }
  if (wan && window_ > 0) spread_wan(done, now);
  finish_windows(now);
}

void TrafficLedger::close_transfer(const tape::TransferDone& done) {
  const auto found = std::ranges::lower_bound(open_, done.transfer, {}, &Open::transfer);
  if (found == open_.end() || found->transfer != done.transfer || found->done) {
    throw std::logic_error(fmt::format("transfer {} ends, but it is not under way", done.transfer));
  }
  if (found->bytes != done.bytes || found->start != done.start || done.carried < 0 ||
      done.carried > done.bytes ||
      (done.status == tape::TransferStatus::kOk && done.carried != done.bytes) ||
      found->account != account_of(done.source_region, done.target_region, done.traffic)) {
    throw std::logic_error(
        fmt::format("transfer {} ends otherwise than it started: {} of {} bytes since {} ns",
                    done.transfer, done.carried, done.bytes, done.start));
  }
  found->done = true;
  while (!open_.empty() && open_.front().done) open_.pop_front();
}

void TrafficLedger::spread_wan(const tape::TransferDone& done, Nanoseconds end) {
  const Nanoseconds first = done.start / window_;
  const Nanoseconds last = end > done.start ? (end - 1) / window_ : first;
  if (windows_.empty()) {
    // An older transfer still under way may yet add to an earlier window.
    first_window_ = open_.empty() ? first : std::min(first, open_.front().start / window_);
  }
  if (first < first_window_) throw std::logic_error("bytes for a traffic window that is finished");
  const auto needed = static_cast<std::size_t>(last - first_window_ + 1);
  if (windows_.size() < needed) windows_.resize(needed, 0.0);
  const auto bytes = static_cast<double>(done.carried);
  if (first == last) {
    windows_[static_cast<std::size_t>(first - first_window_)] += bytes;
    return;
  }
  const double rate = bytes / static_cast<double>(end - done.start);
  for (Nanoseconds w = first; w <= last; ++w) {
    const Nanoseconds from = std::max(done.start, w * window_);
    const Nanoseconds to = std::min(end, (w + 1) * window_);
    windows_[static_cast<std::size_t>(w - first_window_)] += rate * static_cast<double>(to - from);
  }
}

// A window is finished once no transfer under way, and none to come, began before its end.
void TrafficLedger::finish_windows(Nanoseconds now) {
  const Nanoseconds safe = open_.empty() ? now : open_.front().start;
  while (!windows_.empty() && (first_window_ + 1) * window_ <= safe) {
    peak_bytes_ = std::max(peak_bytes_, windows_.front());
    finished_window_ = first_window_;
    finished_bytes_ = windows_.front();
    windows_.pop_front();
    ++first_window_;
  }
}

// Of a window not before the last finished one.
double TrafficLedger::bytes_in_window(Nanoseconds index) const {
  if (index == finished_window_) return finished_bytes_;
  const auto place = static_cast<std::size_t>(index - first_window_);
  return index >= first_window_ && place < windows_.size() ? windows_[place] : 0.0;
}

const ByteTotals& TrafficLedger::pair(std::uint16_t source_region, std::uint16_t target_region,
                                      TrafficClass traffic) const {
  return accounts_[account_of(source_region, target_region, traffic)];
}

ByteTotals TrafficLedger::between(std::uint16_t source_region, std::uint16_t target_region) const {
  ByteTotals total;
  for (int c = 0; c < tape::kTrafficClassCount; ++c) {
    total += pair(source_region, target_region, static_cast<TrafficClass>(c));
  }
  return total;
}

ByteTotals TrafficLedger::wan(TrafficClass traffic) const {
  ByteTotals total;
  for (std::size_t a = 0; a < region_count_; ++a) {
    for (std::size_t b = 0; b < region_count_; ++b) {
      if (a == b) continue;
      total += pair(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b), traffic);
    }
  }
  return total;
}

ByteTotals TrafficLedger::wan() const {
  ByteTotals total;
  for (int c = 0; c < tape::kTrafficClassCount; ++c) total += wan(static_cast<TrafficClass>(c));
  return total;
}

WanTotals TrafficLedger::wan_totals(Nanoseconds now) const {
  const auto gbps = [](double bytes, Nanoseconds duration) {
    return bytes * 8.0 / static_cast<double>(duration);  // bits per nanosecond are Gbit/s
  };
  WanTotals totals;
  const ByteTotals bytes = wan();
  totals.bytes = bytes.received + bytes.lost;
  if (now > 0) totals.mean_gbps = gbps(static_cast<double>(totals.bytes), now);
  if (window_ > 0 && now > 0) {
    const Nanoseconds cut = now / window_;  // whole windows so far
    double peak_bytes = peak_bytes_;
    for (Nanoseconds w = first_window_; w < cut && w - first_window_ < std::ssize(windows_); ++w) {
      peak_bytes = std::max(peak_bytes, bytes_in_window(w));
    }
    const Nanoseconds last_two = std::max<Nanoseconds>(cut - 1, 0);
    double last_bytes = bytes_in_window(cut);
    if (last_two < cut) last_bytes += bytes_in_window(last_two);
    totals.peak_gbps = std::max(gbps(peak_bytes, window_), gbps(last_bytes, now - last_two * window_));
    // The mean is these windows' own, weighted by their lengths: only rounding puts it above.
    totals.peak_gbps = std::max(totals.peak_gbps, totals.mean_gbps);
    totals.peak_window_s = base::to_seconds(window_);
  }
  return totals;
}

void TrafficLedger::check_closed() const {
  std::vector<std::int64_t> open_bytes(accounts_.size(), 0);
  for (const Open& open : open_) {
    if (!open.done) open_bytes[open.account] += open.bytes;
  }
  for (std::size_t i = 0; i < accounts_.size(); ++i) {
    const ByteTotals& account = accounts_[i];
    if (account.in_flight != open_bytes[i] ||
        account.sent != account.received + account.lost + open_bytes[i]) {
      throw std::logic_error(fmt::format(
          "bytes do not close: sent {}, received {}, lost {}, in flight {} (open transfers: {})",
          account.sent, account.received, account.lost, account.in_flight, open_bytes[i]));
    }
  }
}

}  // namespace sim::readers
