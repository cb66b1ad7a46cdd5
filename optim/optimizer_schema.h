// optim/optimizer_schema.h: the keys of inner, outer, merge and schedule.
#pragma once

#include "optim/inner_optimizer.h"
#include "optim/merge.h"
#include "optim/outer_optimizer.h"
#include "sim/base/schema.h"

namespace optim {

const sim::base::SchemaOf<InnerOptions>& inner_schema();
const sim::base::SchemaOf<OuterOptions>& outer_schema();            // rate 0.7
const sim::base::SchemaOf<OuterOptions>& streaming_outer_schema();  // rate 0.4
const sim::base::SchemaOf<MergeOptions>& merge_schema();
const sim::base::SchemaOf<ScheduleOptions>& schedule_schema();

}  // namespace optim
