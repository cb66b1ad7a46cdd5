// optim/task.h: where examples come from: a pure function of (seed, step, slot).
//
// So without faults every arm sees the same examples at the same step, and a slot that is missing is
// missing, not replaced (design section 4, data order).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "optim/batch.h"
#include "optim/model.h"
#include "optim/shards.h"

namespace optim {

class Task {
 public:
  virtual ~Task() = default;
  virtual std::size_t inputs() const = 0;
  virtual std::size_t outputs() const = 0;
  // Appends the example of (step, slot) to `batch`.
  virtual void append_example(std::uint32_t step, std::uint32_t slot, Batch& batch) const = 0;
  // The fixed held-out set; never met in training (its own random stream).
  virtual const Batch& held_out() const = 0;
  // The lowest loss that any model can reach on fresh data, and whether it is exact: the entropy
  // rate of a Markov chain, the noise floor of the quadratic; NaN where it is unknown.
  virtual double loss_floor() const = 0;
  // The loss of the true source on the held-out set itself, where it is known: what a reported loss
  // is to be compared with, since a finite sample lies beside the floor of fresh data.
  virtual double held_out_floor() const { return loss_floor(); }
};

// What an example shows: a vector of features and one target, or a sequence of `context` symbols with
// a target at each position (for the transformer; an example's loss is the mean over its positions).
enum class ExampleForm : std::uint8_t { kFeatures, kTokens };

enum class TaskKind : std::uint8_t { kQuadratic, kTeacher, kMarkov, kText, kCsv };

struct Text;   // text_task.h
struct Table;  // csv_task.h

struct TaskOptions {
  TaskKind kind;
  std::size_t inputs;       // teacher, csv: features; quadratic: dimension; markov, text: symbols x context
  std::size_t classes;      // teacher, csv: classes; markov, text: symbols
  std::size_t context;      // markov, text: how many one-hot symbols an example shows (order of the chain is 1)
  double noise;             // quadratic: sd of the optimum's per-example shift; teacher: label flip probability
  double sharpness;         // markov: larger makes transitions more predictable
  std::size_t held_out_examples;
  ExampleForm form = ExampleForm::kFeatures;  // markov, text: follows from the model
  ShardOptions shards = {};                   // what a slot sees
  std::shared_ptr<const Text> text = {};      // of kText
  std::shared_ptr<const Table> table = {};    // of kCsv
};

// Errors: std::invalid_argument for sizes of 0, fewer than two classes, noise or sharpness out of
// range (teacher: [0, 1]; quadratic: [0, 1e6]; sharpness: [0, 50]), or inputs that are not
// classes x context for a Markov chain; for shards that the task has no sense for; for a text or
// table that is missing or too small.
std::unique_ptr<Task> make_task(const TaskOptions& options, std::uint64_t seed);

}  // namespace optim
