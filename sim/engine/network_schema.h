// sim/engine/network_schema.h: the keys of [network], [[region]] and [[link]].
#pragma once

#include "sim/base/schema.h"
#include "sim/engine/network_options.h"

namespace sim::engine {

const base::SchemaOf<NetworkOptions>& network_schema();
const base::SchemaOf<RegionOptions>& region_schema();
const base::SchemaOf<LinkOptions>& link_schema();

}  // namespace sim::engine
