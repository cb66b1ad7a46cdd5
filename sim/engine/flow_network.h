// sim/engine/flow_network.h: what moves bulk bytes while simulated time passes.
//
// The seam in front of SimGrid. It knows directed links and flows, and nothing of failures: the
// Transport cancels what a failure breaks, so that no engine trap is ever reached.
//
// The network's own clock may lag behind the conductor's date while no flow is in flight; start()
// is told the date and catches up. So a run without flows never talks to the engine at all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sim/base/time.h"
#include "sim/engine/network_options.h"

namespace sim::engine {

using base::Nanoseconds;
using FlowId = std::uint64_t;

class FlowNetwork {
 public:
  virtual ~FlowNetwork() = default;

  // Runs `body` to its end in the context that may call the other functions. Flows that are still
  // in flight then are dropped. Once per process (a second engine would keep the first one's
  // clock); else std::logic_error. What leaves `body` leaves run() too.
  virtual void run(const std::function<void()>& body) = 0;

  // Starts a flow of `bytes` > 0 at the date `now`, over the direct link source -> target (distinct
  // regions that share a link, else std::logic_error). Zero propagation delay: that is the
  // Transport's. Ids ascend.
  virtual FlowId start(Nanoseconds now, std::uint16_t source_region, std::uint16_t target_region,
                       std::int64_t bytes) = 0;

  // Bytes that the flow still has to carry, at the current date; 0 once it has ended.
  virtual double remaining(FlowId flow) = 0;
  // Requires: the flow is in flight; else std::logic_error.
  virtual void cancel(FlowId flow) = 0;

  // Sets the share of the nominal rate that the link (both directions) has from now on; running
  // flows see it, up and down. See usable_rate_factor() for its range.
  virtual void set_rate_factor(std::uint16_t region_a, std::uint16_t region_b, double factor) = 0;

  virtual bool any_in_flight() const = 0;

  // Lets time pass until `date` or until the first flow ends, whichever is sooner. Returns the
  // date reached and fills `ended` (cleared first) with all flows that ended at it, by ascending
  // id; a flow whose end rounds to `date` is among them. Requires: any_in_flight().
  virtual Nanoseconds wait_until(Nanoseconds date, std::vector<FlowId>& ended) = 0;
};

// NetworkModel::kNone: no flow can be started; time jumps.
std::unique_ptr<FlowNetwork> make_no_network();
// SimGrid, set up as design section 7 says. The only definition that includes SimGrid.
std::unique_ptr<FlowNetwork> make_simgrid_network(const NetworkOptions& options);
// The same sharing by formula; any number of them, and of runs, in one process.
std::unique_ptr<FlowNetwork> make_closed_form_network(const NetworkOptions& options);
std::unique_ptr<FlowNetwork> make_network(const NetworkOptions& options);

}  // namespace sim::engine
