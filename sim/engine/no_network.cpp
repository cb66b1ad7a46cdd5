// sim/engine/no_network.cpp: the network of runs in which transfers take no time.
//
// Nothing is ever in flight, so the conductor's agenda alone moves time and no engine is started:
// a goodput question then costs microseconds of start-up.
#include <stdexcept>

#include "sim/engine/flow_network.h"

namespace sim::engine {
namespace {

class NoNetwork : public FlowNetwork {
 public:
  void run(const std::function<void()>& body) override { body(); }
  FlowId start(Nanoseconds, std::uint16_t, std::uint16_t, std::int64_t) override { refuse(); }
  double remaining(FlowId) override { refuse(); }
  void cancel(FlowId) override { refuse(); }
  void set_rate_factor(std::uint16_t, std::uint16_t, double) override {}
  bool any_in_flight() const override { return false; }
  Nanoseconds wait_until(Nanoseconds, std::vector<FlowId>&) override { refuse(); }

 private:
  [[noreturn]] static void refuse() { throw std::logic_error("no network: there are no flows"); }
};

}  // namespace

std::unique_ptr<FlowNetwork> make_no_network() { return std::make_unique<NoNetwork>(); }

std::unique_ptr<FlowNetwork> make_network(const NetworkOptions& options) {
  switch (options.model) {
    case NetworkModel::kNone:
      return make_no_network();
    case NetworkModel::kClosedForm:
      return make_closed_form_network(options);
    case NetworkModel::kSimgrid:
      break;
  }
  return make_simgrid_network(options);
}

}  // namespace sim::engine
