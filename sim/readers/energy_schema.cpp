// sim/readers/energy_schema.cpp: the keys of [energy] and [cost].
#include "sim/readers/energy_schema.h"

namespace sim::readers {

using base::at_least;
using base::between;
using base::SchemaOf;

const SchemaOf<EnergyOptions>& energy_schema() {
  using E = EnergyOptions;
  static const auto schema =
      SchemaOf<E>()
          .real("stall", &E::stall, between(0, 1), 0.2,
                "power of a chip whose job waits, as a share of its power at work (assumed)")
          .real("stall_low", &E::stall_low, between(0, 1), 0.2,
                "the same for energy_kwh_stall_low (assumed; stalled GPUs are said to draw 0.1 to "
                "0.3)")
          .real("stall_high", &E::stall_high, between(0, 1), 1.0,
                "the same for energy_kwh_stall_high (assumed; a chip that spins in a collective "
                "draws nearly all)")
          .real("idle", &E::idle, between(0, 1), 0.1,
                "the same for a healthy chip without a job, unused ones included (assumed)")
          .real("off", &E::off, between(0, 1), 0.0, "the same for a failed chip and its host (assumed)")
          .quantity("host", &E::host_w, base::Dimension::kPower, at_least(0), "100 W",
                    "host, network card and switch, per chip, whatever it does (assumed)")
          .real("pue", &E::pue, between(1, 3), 1.1,
                "power usage effectiveness of the sites (assumed; data centres 1.1 to 1.2)")
          .real("wan_nj_per_bit", &E::wan_nj_per_bit, between(0, 1e6), 20.0,
                "transport between regions, nanojoules per bit (assumed; 5 to 50 are quoted)");
  return schema;
}

const SchemaOf<CostOptions>& cost_schema() {
  using C = CostOptions;
  static const auto schema =
      SchemaOf<C>()
          .quantity("price", &C::chip_dollars_per_h, base::Dimension::kMoneyPerTime, at_least(0),
                    "0 USD/h",
                    "of one chip, for islands without a price of their own; 0: none, and cost_usd is "
                    "null")
          .quantity("egress", &C::egress_dollars_per_gb, base::Dimension::kMoneyPerData, at_least(0),
                    "0 USD/GB", "what leaves a region, for links without a price of their own")
          .boolean("bill_failed", &C::bill_failed, true,
                   "failed slices are billed (assumed: reserved capacity)")
          .boolean("bill_unused", &C::bill_unused, false,
                   "slices that an arm does not use are billed");
  return schema;
}

}  // namespace sim::readers
