// sim/methods/training_schema.h: the keys of [training], which each arm can override.
//
// `method` is the selector: each method has keys of its own, and a key of the other method is a
// mistake that names the method to which it belongs.
#pragma once

#include "sim/base/schema.h"
#include "sim/methods/training_options.h"

namespace sim::methods {

const base::SchemaOf<TrainingOptions>& training_schema();

// "data-parallel" and so on.
std::string method_name(MethodKind method);

}  // namespace sim::methods
