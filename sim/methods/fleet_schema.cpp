// sim/methods/fleet_schema.cpp: the keys of [model], [[island]] and [spread].
#include "sim/methods/fleet_schema.h"

namespace sim::methods {

using base::above;
using base::above_to;
using base::at_least;
using base::between;
using base::kRequired;
using base::SchemaOf;

const SchemaOf<NominalModelOptions>& nominal_model_schema() {
  using M = NominalModelOptions;
  static const auto schema =
      SchemaOf<M>()
          .integer("parameters", &M::parameters, base::Range{.low = 1, .high = 1e15}, kRequired,
                   "nominal parameters; time and links are charged for these")
          .integer("layers", &M::layers, between(0, 1e6), 0,
                   "with width and vocabulary: the tensor list that fragments are packed from; 0: "
                   "equal fragments")
          .integer("width", &M::width, between(0, 1e9), 0, "width of the nominal transformer")
          .integer("vocabulary", &M::vocabulary, between(0, 1e9), 0,
                   "tokens known to the nominal transformer")
          .integer("batch_tokens", &M::batch_tokens, base::Range{.low = 1, .high = 4294967295.0},
                   kRequired, "global batch: tokens per step of all learners together")
          .real("utilization", &M::utilization, above_to(0, 1), 0.4,
                "model FLOP/s over peak, compute only (assumed; published runs 0.35 to 0.55)")
          .real("gradient_bytes", &M::gradient_bytes, above(0), 2.0,
                "bytes per parameter of a gradient on the wire (bf16)")
          .real("state_bytes", &M::state_bytes, above(0), 14.0,
                "bytes per parameter that recovery and checkpoints move: parameters and inner "
                "state (bf16 + fp32 master and two moments)")
          .real("syncer_state_bytes", &M::syncer_state_bytes, above(0), 8.0,
                "bytes per parameter at the syncer: fp32 value and outer momentum");
  return schema;
}

const SchemaOf<IslandOptions>& island_schema() {
  using I = IslandOptions;
  static const auto schema =
      SchemaOf<I>()
          .text("name", &I::name, kRequired, "random streams and targets hang on it")
          .integer("count", &I::count, between(1, 65534), 1,
                   "islands alike, named NAME/1 .. NAME/count when above 1")
          .text("region", &I::region, kRequired, "name of a [[region]]")
          .text("chip", &I::chip, "", "name in the catalogue (atoll catalogue), or give peak")
          .integer("chips", &I::chips, between(1, 1e9), kRequired, "chips per island")
          .integer("slices", &I::slices, between(1, 1e7), 1,
                   "per island; a failing chip takes its whole slice; must divide chips")
          .quantity("peak", &I::peak_flops, base::Dimension::kCompute, at_least(0), "0 FLOP/s",
                    "dense peak of one chip; 0: the catalogue's")
          .real("speed", &I::speed, above(0), 1.0, "factor on the step rate of this island")
          .quantity("chip_memory", &I::chip_memory, base::Dimension::kData, at_least(0), "0 B",
                    "of one chip; 0: the catalogue's, and of a chip that is not in it not checked")
          .quantity("power", &I::power_w, base::Dimension::kPower, at_least(0), "0 W",
                    "of one chip at full work; 0: the catalogue's")
          .boolean("power_assumed", &I::power_assumed, false,
                   "results say that the power is assumed; set by itself where the catalogue's is")
          .quantity("price", &I::dollars_per_h, base::Dimension::kMoneyPerTime, at_least(0),
                    "0 USD/h", "of one chip; 0: that of [cost]");
  return schema;
}

const SchemaOf<SpeedSpreadOptions>& speed_spread_schema() {
  using S = SpeedSpreadOptions;
  static const auto schema =
      SchemaOf<S>()
          .real("island_sd", &S::island_sd, between(0, 2), 0.0,
                "standard deviation of the natural log of an island's speed, drawn once")
          .real("step_sd", &S::step_sd, between(0, 2), 0.0,
                "the same, drawn for each step of each island; a step takes as long as its slowest");
  return schema;
}

}  // namespace sim::methods
