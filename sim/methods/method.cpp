// sim/methods/method.cpp: from the name of a method to the method.
#include "sim/methods/method.h"

#include "sim/methods/data_parallel.h"
#include "sim/methods/decoupled_diloco.h"
#include "sim/methods/streaming_diloco.h"

namespace sim::methods {

std::unique_ptr<Method> make_method(World& world) {
  if (world.training.method == MethodKind::kDataParallel) {
    return std::make_unique<DataParallel>(world);
  }
  if (meets_at_barriers(world.training.method)) return std::make_unique<StreamingDiloco>(world);
  return std::make_unique<DecoupledDiloco>(world);
}

}  // namespace sim::methods
