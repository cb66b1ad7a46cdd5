// tests/engine/transport_fixture.h: a small world with a transport, whose bytes are counted.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "sim/engine/conductor.h"
#include "sim/engine/transport.h"
#include "sim/tape/tape.h"

namespace sim::engine {

// Folds transfers into the sum of law 4. Any breach of the tape's own rules counts as a fault.
class ByteLedger : public tape::Reader {
 public:
  void on(const tape::Fact& fact) override {
    if (fact.kind == tape::Kind::kTransferStarted) {
      const tape::TransferStarted& started = fact.transfer_started;
      if (started.transfer != started_count++) ++fault_count;  // ids in order of start
      open_[started.transfer] = {started.bytes, fact.at};
      asked += started.bytes;
    } else if (fact.kind == tape::Kind::kTransferDone) {
      done(fact.transfer_done);
    }
  }

  std::int64_t in_flight() const {
    std::int64_t sum = 0;
    for (const auto& [transfer, start] : open_) sum += start.bytes;
    return sum;
  }
  bool closes() const {
    return fault_count == 0 && asked == received + lost + never_sent + in_flight();
  }

  std::int64_t asked = 0, received = 0, lost = 0, never_sent = 0;
  std::uint32_t started_count = 0;
  int fault_count = 0;
  std::array<int, 5> count_of = {};  // by status

 private:
  struct Start {
    std::int64_t bytes;
    Nanoseconds at;
  };

  void done(const tape::TransferDone& transfer) {
    const auto start = open_.find(transfer.transfer);
    if (start == open_.end() || start->second.bytes != transfer.bytes ||
        start->second.at != transfer.start || transfer.carried < 0 ||
        transfer.carried > transfer.bytes) {
      ++fault_count;
      return;
    }
    open_.erase(start);
    ++count_of[static_cast<std::size_t>(transfer.status)];
    if (transfer.status == TransferStatus::kOk) {
      if (transfer.carried != transfer.bytes) ++fault_count;
      received += transfer.carried;
    } else {
      lost += transfer.carried;
      never_sent += transfer.bytes - transfer.carried;
    }
  }

  std::map<std::uint32_t, Start> open_;
};

constexpr double kFiveGbps = 6.25e8;                           // bytes/s
constexpr Nanoseconds kThirtyMs = 30 * base::kMillisecond;     // one way, of a round trip of 60 ms

inline std::string region_name(std::size_t index) { return fmt::format("r{}", index); }

// `count` regions, each linked to each at 5 Gbit/s and 60 ms; fabric 50 GB/s and 1 us.
inline NetworkOptions full_mesh(std::size_t count) {
  NetworkOptions options{.model = NetworkModel::kSimgrid, .regions = {},
                         .links = {}};
  for (std::size_t i = 0; i < count; ++i) {
    options.regions.push_back({region_name(i), 5e10, base::kMicrosecond});
    for (std::size_t j = 0; j < i; ++j) {
      options.links.push_back({region_name(j), region_name(i), kFiveGbps, 2 * kThirtyMs});
    }
  }
  return options;
}

struct World {
  explicit World(const NetworkOptions& network_options)
      : options(network_options), network(make_network(options)), conductor(*network),
        transport(conductor, *network, options, tape) {
    tape.add(ledger);
  }

  NetworkOptions options;
  std::unique_ptr<FlowNetwork> network;
  Conductor conductor;
  tape::Tape tape;
  ByteLedger ledger;
  Transport transport;
};

// What a sender saw.
struct Ending {
  Nanoseconds at = -1;
  TransferStatus status = TransferStatus::kOk;
};

inline Process send_at(World& world, Nanoseconds date, std::vector<Hop> hops, TrafficClass traffic,
                       Ending& ending, Nanoseconds deadline = base::kNever, Turn turn = {}) {
  co_await world.conductor.sleep_until(date, turn);
  ending.status = co_await world.transport.exchange(std::move(hops), traffic, turn, deadline);
  ending.at = world.conductor.now();
}

}  // namespace sim::engine
