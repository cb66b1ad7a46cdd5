// optim/task.cpp: makes the task that the options name.
#include "optim/task.h"

#include <fmt/format.h>

#include <stdexcept>

#include "optim/csv_task.h"
#include "optim/markov_task.h"
#include "optim/quadratic_task.h"
#include "optim/teacher_task.h"
#include "optim/text_task.h"

namespace optim {
namespace {

void check_at_least(const char* what, std::size_t value, std::size_t least) {
  if (value >= least) return;
  throw std::invalid_argument(fmt::format("{} must be at least {}; got {}", what, least, value));
}

void check_between(const char* what, double value, double least, double most) {
  if (value >= least && value <= most) return;  // refuses NaN too
  throw std::invalid_argument(
      fmt::format("{} must be between {} and {}; got {}", what, least, most, value));
}

}  // namespace

std::unique_ptr<Task> make_task(const TaskOptions& options, std::uint64_t seed) {
  check_at_least("inputs", options.inputs, 1);
  switch (options.kind) {
    case TaskKind::kQuadratic:
      check_between("noise", options.noise, 0.0, 1e6);
      return std::make_unique<QuadraticTask>(options, seed);
    case TaskKind::kTeacher:
      check_at_least("classes", options.classes, 2);
      check_between("noise", options.noise, 0.0, 1.0);
      return std::make_unique<TeacherTask>(options, seed);
    case TaskKind::kMarkov:
      check_at_least("classes", options.classes, 2);
      check_at_least("context", options.context, 1);
      check_between("sharpness", options.sharpness, 0.0, 50.0);
      return std::make_unique<MarkovTask>(options, seed);
    case TaskKind::kText:
      return std::make_unique<TextTask>(options, seed);
    case TaskKind::kCsv:
      return std::make_unique<CsvTask>(options, seed);
  }
  throw std::invalid_argument(fmt::format("unknown task {}", static_cast<int>(options.kind)));
}

}  // namespace optim
