// sim/scenario/cpu_forecast.cpp: see cpu_forecast.h.
#include "sim/scenario/cpu_forecast.h"

#include "optim/model.h"

namespace sim::scenario {

using optim::ModelKind;

namespace {

constexpr double kWorldCpuSecondsPerStep = 4e-6;  // assumed

}  // namespace

// Measured: whole runs of data parallel on one core, batch 256; 500 to 90,000 parameters differ by a factor
// of two about these.
CpuRate cpu_rate(ModelKind kind) {
  switch (kind) {
    case ModelKind::kNone: return {0, "no mathematics"};
    case ModelKind::kQuadratic: return {4e9, "assumed"};
    case ModelKind::kSoftmax: return {20e9, "measured"};
    case ModelKind::kMlp: return {25e9, "measured"};
    case ModelKind::kTransformer: return {50e9, "measured"};
  }
  return {0, "no mathematics"};
}

double cpu_seconds(const trainer::LearningOptions& learning, double global_steps, double learner_steps) {
  const double world = learner_steps * kWorldCpuSecondsPerStep;
  if (learning.model.kind == ModelKind::kNone) return world;
  const auto parameters = static_cast<double>(optim::make_model(learning.model)->parameter_count());
  // A sequence meets the parameters at each of its positions.
  const double positions = learning.task.form == optim::ExampleForm::kTokens
                               ? static_cast<double>(learning.task.context)
                               : 1.0;
  const double examples = positions * global_steps * static_cast<double>(learning.batch);
  const double held_out = positions * static_cast<double>(learning.evaluations) *
                          static_cast<double>(learning.task.held_out_examples);
  return world + parameters * (6 * examples + 2 * held_out) / cpu_rate(learning.model.kind).flop_per_s;
}

}  // namespace sim::scenario
