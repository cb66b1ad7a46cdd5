// sim/trainer/learning_schema.h: the keys of [learning]: the proxy that is really trained.
#pragma once

#include "sim/base/schema.h"
#include "sim/trainer/learning_options.h"

namespace sim::trainer {

const base::SchemaOf<LearningOptions>& learning_schema();

// Fills what follows from other keys: the sizes of the task from its data, where it has any, and
// those of the model from the task.
void complete(LearningOptions& learning);

}  // namespace sim::trainer
