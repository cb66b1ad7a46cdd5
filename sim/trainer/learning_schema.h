// sim/trainer/learning_schema.h: the keys of [learning]: the proxy that is really trained.
#pragma once

#include "sim/base/schema.h"
#include "sim/trainer/learning_options.h"

namespace sim::trainer {

const base::SchemaOf<LearningOptions>& learning_schema();

// Fills what follows from other keys: the sizes of the model from those of the task.
void complete(LearningOptions& learning);

}  // namespace sim::trainer
