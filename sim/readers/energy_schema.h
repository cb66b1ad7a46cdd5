// sim/readers/energy_schema.h: the keys of [energy] and [cost].
#pragma once

#include "sim/base/schema.h"
#include "sim/readers/cost.h"
#include "sim/readers/energy.h"

namespace sim::readers {

const base::SchemaOf<EnergyOptions>& energy_schema();
const base::SchemaOf<CostOptions>& cost_schema();

}  // namespace sim::readers
