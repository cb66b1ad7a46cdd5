// sim/engine/closed_form_network.cpp: flows that share links equally, worked out by formula.
//
// Every flow takes one direct link, so max-min sharing is no more than this: the n flows of one
// direction of a link get 1/n of its rate each, whatever happens elsewhere. The answers are
// SimGrid's to the nanosecond (a test holds the two together), without its cost per event and its
// start-up.
//
// Per direction runs a clock of service: the bytes that a flow in flight since the beginning would
// have been given. A flow ends when the clock has advanced by its bytes since its start, so the order
// of ends never changes and one heap per direction is enough.
#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "sim/engine/flow_network.h"

namespace sim::engine {
namespace {

class ClosedFormNetwork : public FlowNetwork {
 public:
  explicit ClosedFormNetwork(const NetworkOptions& options);

  void run(const std::function<void()>& body) override { body(); }
  FlowId start(Nanoseconds now, std::uint16_t source_region, std::uint16_t target_region,
               std::int64_t bytes) override;
  double remaining(FlowId flow) override;
  void cancel(FlowId flow) override;
  void set_rate_factor(std::uint16_t region_a, std::uint16_t region_b, double factor) override;
  bool any_in_flight() const override { return in_flight_ > 0; }
  Nanoseconds wait_until(Nanoseconds date, std::vector<FlowId>& ended) override;

 private:
  struct Flow {
    double end;  // reading of the service clock at which it ends
    FlowId id;
    bool operator>(const Flow& other) const {
      return end != other.end ? end > other.end : id > other.id;
    }
  };
  struct Direction {
    std::uint16_t source, target;
    double bytes_per_s;
    double factor = 1.0;
    double service = 0.0;     // bytes; reading of the clock ...
    Nanoseconds date = 0;     // ... at this date ...
    double date_rest = 0.0;   // ... plus this part of a nanosecond, in [-0.5, 0.5]
    std::vector<Flow> flows = {};  // a heap, the next to end on top

    double rate() const {  // of each flow, bytes per nanosecond
      return bytes_per_s * factor * 1e-9 / static_cast<double>(flows.size());
    }
    // Nanoseconds from `date` + `date_rest` to the next end.
    double until_end() const { return (flows.front().end - service) / rate(); }
    void advance(Nanoseconds now);
    void restart_when_empty();
  };

  Direction& direction(std::uint16_t source, std::uint16_t target);
  static Nanoseconds next_end(const Direction& direction);
  void collect_ended(Direction& direction, Nanoseconds now, std::vector<FlowId>& ended);
  std::pair<Direction*, std::size_t> find(FlowId flow);

  std::vector<Direction> directions_;  // in the order of the links, both ways
  Nanoseconds now_ = 0;
  std::size_t in_flight_ = 0;
  FlowId next_flow_ = 1;
};

ClosedFormNetwork::ClosedFormNetwork(const NetworkOptions& options) {
  for (const LinkOptions& link : options.links) {
    const std::uint16_t a = region_index(options, link.region_a);
    const std::uint16_t b = region_index(options, link.region_b);
    directions_.push_back({.source = a, .target = b, .bytes_per_s = link.bytes_per_s});
    directions_.push_back({.source = b, .target = a, .bytes_per_s = link.bytes_per_s});
  }
}

// The clock reads what `now` has; the part of a nanosecond is spent with it.
void ClosedFormNetwork::Direction::advance(Nanoseconds now) {
  if (!flows.empty()) {
    service += (static_cast<double>(now - date) - date_rest) * rate();
    service = std::min(service, flows.front().end);
  }
  date = now;
  date_rest = 0.0;
}

// Small readings keep every bit of the bytes to come.
void ClosedFormNetwork::Direction::restart_when_empty() {
  if (flows.empty()) service = 0.0;
}

FlowId ClosedFormNetwork::start(Nanoseconds now, std::uint16_t source_region,
                                std::uint16_t target_region, std::int64_t bytes) {
  if (bytes <= 0) throw std::logic_error("closed-form network: a flow needs bytes");
  Direction& way = direction(source_region, target_region);
  now_ = now;
  way.advance(now);
  way.flows.push_back({way.service + static_cast<double>(bytes), next_flow_});
  std::ranges::push_heap(way.flows, std::greater<>());
  ++in_flight_;
  return next_flow_++;
}

double ClosedFormNetwork::remaining(FlowId flow) {
  const auto [way, at] = find(flow);
  way->advance(now_);
  return std::max(0.0, way->flows[at].end - way->service);
}

void ClosedFormNetwork::cancel(FlowId flow) {
  const auto [way, at] = find(flow);
  way->advance(now_);
  way->flows.erase(way->flows.begin() + static_cast<std::ptrdiff_t>(at));
  std::ranges::make_heap(way->flows, std::greater<>());
  way->restart_when_empty();
  --in_flight_;
}

void ClosedFormNetwork::set_rate_factor(std::uint16_t region_a, std::uint16_t region_b,
                                        double factor) {
  for (Direction* way : {&direction(region_a, region_b), &direction(region_b, region_a)}) {
    way->advance(std::max(now_, way->date));
    way->factor = usable_rate_factor(factor);
  }
}

Nanoseconds ClosedFormNetwork::next_end(const Direction& direction) {
  const double rest = direction.until_end() + direction.date_rest;
  // A stalled flow may not end within any date that there is.
  constexpr double kFar = 9e18;
  if (rest >= kFar - static_cast<double>(direction.date)) return base::kNever;
  return direction.date + std::max<Nanoseconds>(0, std::llround(rest));
}

Nanoseconds ClosedFormNetwork::wait_until(Nanoseconds date, std::vector<FlowId>& ended) {
  ended.clear();
  if (in_flight_ == 0) throw std::logic_error("closed-form network: nothing to wait for");
  for (const Direction& way : directions_) {
    if (!way.flows.empty()) date = std::min(date, next_end(way));
  }
  for (Direction& way : directions_) {
    if (!way.flows.empty() && next_end(way) <= date) collect_ended(way, date, ended);
  }
  now_ = date;
  std::ranges::sort(ended);
  return date;
}

// Ends happen between nanoseconds: what the others were given meanwhile counts from there.
void ClosedFormNetwork::collect_ended(Direction& direction, Nanoseconds now,
                                      std::vector<FlowId>& ended) {
  while (!direction.flows.empty() && next_end(direction) <= now) {
    const double exact = direction.until_end() + direction.date_rest;
    direction.date_rest =
        std::clamp(exact - static_cast<double>(now - direction.date), -0.5, 0.5);
    direction.date = now;
    direction.service = direction.flows.front().end;
    ended.push_back(direction.flows.front().id);
    std::ranges::pop_heap(direction.flows, std::greater<>());
    direction.flows.pop_back();
    --in_flight_;
  }
  direction.restart_when_empty();
}

ClosedFormNetwork::Direction& ClosedFormNetwork::direction(std::uint16_t source,
                                                           std::uint16_t target) {
  for (Direction& way : directions_) {
    if (way.source == source && way.target == target) return way;
  }
  throw std::logic_error("closed-form network: these regions share no link");
}

std::pair<ClosedFormNetwork::Direction*, std::size_t> ClosedFormNetwork::find(FlowId flow) {
  for (Direction& way : directions_) {
    for (std::size_t i = 0; i < way.flows.size(); ++i) {
      if (way.flows[i].id == flow) return {&way, i};
    }
  }
  throw std::logic_error("closed-form network: the flow is not in flight");
}

}  // namespace

std::unique_ptr<FlowNetwork> make_closed_form_network(const NetworkOptions& options) {
  return std::make_unique<ClosedFormNetwork>(options);
}

}  // namespace sim::engine
