// sim/scenario/sweep_schema.h: the keys of [sweep] and [[sweep.axis]].
#pragma once

#include "sim/base/schema.h"
#include "sim/scenario/sweep_options.h"

namespace sim::scenario {

const base::SchemaOf<AxisOptions>& axis_schema();
const base::SchemaOf<SweepOptions>& sweep_schema();

}  // namespace sim::scenario
