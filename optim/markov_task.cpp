// optim/markov_task.cpp: see markov_task.h.
#include "optim/markov_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>

#include "optim/example_stream.h"
#include "optim/running_sums.h"
#include "sim/base/elementary.h"

namespace optim {
namespace {

// Rows of softmax(sharpness * normal); returns the transition matrix (n x n).
std::vector<double> draw_transitions(std::size_t n, double sharpness, std::uint64_t seed) {
  sim::base::Stream stream(seed, "task/markov/transitions");
  std::vector<double> transitions(n * n);
  for (std::size_t a = 0; a < n; ++a) {
    const std::span<double> row(transitions.data() + a * n, n);
    for (double& z : row) z = sharpness * stream.next_normal();
    const double highest = *std::ranges::max_element(row);
    double sum = 0.0;
    for (double& z : row) sum += z = sim::base::exponential(z - highest);
    for (double& z : row) z /= sum;
  }
  return transitions;
}

double entropy_rate(std::span<const double> transitions, std::span<const double> stationary) {
  const std::size_t n = stationary.size();
  double rate = 0.0;
  for (std::size_t a = 0; a < n; ++a) {
    double entropy = 0.0;
    for (const double p : transitions.subspan(a * n, n)) {
      if (p > 0.0) entropy -= p * sim::base::natural_log(p);
    }
    rate += stationary[a] * entropy;
  }
  return rate;
}

}  // namespace

MarkovTask::MarkovTask(const TaskOptions& options, std::uint64_t seed)
    : classes_(options.classes),
      context_(options.context),
      form_(options.form),
      transitions_(draw_transitions(options.classes, options.sharpness, seed)),
      stationary_(stationary_distribution(transitions_, options.classes)),
      entropy_rate_nats_(entropy_rate(transitions_, stationary_)),
      shards_(options.shards, options.classes, seed),
      examples_(seed, "task/markov/examples") {
  if (shards_.kind() == ShardKind::kContiguous) {
    throw std::invalid_argument("a Markov chain has no order to cut shards from");
  }
  if (options.inputs != classes_ * context_) {
    throw std::invalid_argument(fmt::format("inputs must be classes times context ({}); got {}",
                                            classes_ * context_, options.inputs));
  }
  append_running_sums(stationary_, start_sums_);
  for (std::size_t a = 0; a < classes_; ++a) {
    append_running_sums(std::span<const double>(transitions_).subspan(a * classes_, classes_),
                        transition_sums_);
  }
  const sim::base::Stream held_out(seed, "task/markov/held-out");
  for (std::uint32_t i = 0; i < options.held_out_examples; ++i) {
    sim::base::Stream stream = example_stream(held_out, i, 0);
    const std::size_t start = choose(start_sums_, stream.next_uniform());
    append(start, stream, held_out_);
  }
}

// Mean of -log P(target | symbol before it) under the chain's own transitions.
double MarkovTask::held_out_floor() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < held_out_.targets.size(); ++i) {
    const auto target = static_cast<std::size_t>(held_out_.targets[i]);
    sum -= sim::base::natural_log(transitions_[shown_symbol(i) * classes_ + target]);
  }
  return sum / static_cast<double>(held_out_.targets.size());
}

// The symbol before target number `target` of the held-out set.
std::size_t MarkovTask::shown_symbol(std::size_t target) const {
  if (form_ == ExampleForm::kTokens) return static_cast<std::size_t>(held_out_.tokens[target]);
  const float* newest = held_out_.inputs.data() + target * inputs() + (context_ - 1) * classes_;
  return static_cast<std::size_t>(std::find(newest, newest + classes_, 1.0f) - newest);
}

void MarkovTask::append_example(std::uint32_t step, std::uint32_t slot, Batch& batch) const {
  sim::base::Stream stream = example_stream(examples_, step, slot);
  const std::size_t start = shards_.kind() == ShardKind::kDirichlet
                                ? shards_.draw_group(shards_.shard_of(slot), stream)
                                : choose(start_sums_, stream.next_uniform());
  append(start, stream, batch);
}

void MarkovTask::append(std::size_t symbol, sim::base::Stream& stream, Batch& batch) const {
  const bool tokens = form_ == ExampleForm::kTokens;
  const std::size_t first = batch.inputs.size();
  if (!tokens) batch.inputs.resize(first + inputs(), 0.0f);
  const std::span<const double> rows(transition_sums_);
  for (std::size_t position = 0; position < context_; ++position) {
    if (tokens) {
      batch.tokens.push_back(static_cast<std::int32_t>(symbol));
    } else {
      batch.inputs[first + position * classes_ + symbol] = 1.0f;
    }
    symbol = choose(rows.subspan(symbol * classes_, classes_), stream.next_uniform());
    if (tokens || position + 1 == context_) {
      batch.targets.push_back(static_cast<std::int32_t>(symbol));
    }
  }
  ++batch.examples;
}

std::vector<double> stationary_distribution(std::vector<double> transitions, std::size_t n) {
  const auto at = [&](std::size_t a, std::size_t b) -> double& { return transitions[a * n + b]; };
  for (std::size_t gone = n - 1; gone > 0; --gone) {
    double leaving = 0.0;
    for (std::size_t b = 0; b < gone; ++b) leaving += at(gone, b);
    for (std::size_t a = 0; a < gone; ++a) {
      at(a, gone) /= leaving;
      for (std::size_t b = 0; b < gone; ++b) at(a, b) += at(a, gone) * at(gone, b);
    }
  }
  std::vector<double> visits(n, 0.0);  // relative to state 0
  visits[0] = 1.0;
  double sum = 1.0;
  for (std::size_t b = 1; b < n; ++b) {
    for (std::size_t a = 0; a < b; ++a) visits[b] += visits[a] * at(a, b);
    sum += visits[b];
  }
  for (double& share : visits) share /= sum;
  return visits;
}

}  // namespace optim
