// sim/methods/fleet_schema.h: the keys of [model], [[island]] and [spread].
#pragma once

#include "sim/base/schema.h"
#include "sim/methods/fleet_options.h"

namespace sim::methods {

const base::SchemaOf<NominalModelOptions>& nominal_model_schema();
const base::SchemaOf<IslandOptions>& island_schema();
const base::SchemaOf<SpeedSpreadOptions>& speed_spread_schema();

}  // namespace sim::methods
