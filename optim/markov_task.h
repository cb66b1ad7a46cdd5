// optim/markov_task.h: the next symbol of a stationary Markov chain, whose entropy rate is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "optim/shards.h"
#include "optim/task.h"
#include "sim/base/random.h"

namespace optim {

// Transitions: row a is the softmax of sharpness * z_ab, z standard normal.
// Example: `context` + 1 symbols from the stationary distribution on; the first `context` one-hot,
//          oldest first, so position p and symbol s are input p * classes + s; target the last one.
//          In the form of tokens: the first `context` symbols, and as targets the last `context`.
//          Both forms draw the same symbols.
// Floor:   the entropy rate sum_a pi_a H(row a) in nats, exact: the chain has order 1, so older
//          symbols say nothing more. It holds at every position, the first included, whose own symbol
//          is shown.
// Shards:  dirichlet: a shard has its own shares of the oldest symbol, in place of the stationary ones;
//          the chain itself is everybody's, so a long context forgets the shard. contiguous: undefined.
// Random:  streams "task/markov/transitions", "task/markov/held-out", and one lane of
//          "task/markov/examples" per example, one word per symbol.
class MarkovTask : public Task {
 public:
  // Requires: inputs = classes * context, shards not contiguous; else std::invalid_argument.
  MarkovTask(const TaskOptions& options, std::uint64_t seed);

  std::size_t inputs() const override { return classes_ * context_; }
  std::size_t outputs() const override { return classes_; }
  void append_example(std::uint32_t step, std::uint32_t slot, Batch& batch) const override;
  const Batch& held_out() const override { return held_out_; }
  double loss_floor() const override { return entropy_rate_nats_; }
  double held_out_floor() const override;

  const std::vector<double>& transitions() const { return transitions_; }  // (classes x classes)
  const std::vector<double>& stationary() const { return stationary_; }    // (classes)

 private:
  // The rest of an example whose oldest symbol is `symbol`.
  void append(std::size_t symbol, sim::base::Stream& stream, Batch& batch) const;
  std::size_t shown_symbol(std::size_t target) const;

  std::size_t classes_, context_;
  ExampleForm form_;
  std::vector<double> transitions_;
  std::vector<double> stationary_;
  std::vector<double> start_sums_;       // running sums of `stationary_`
  std::vector<double> transition_sums_;  // running sums of each row
  double entropy_rate_nats_;
  Shards shards_;
  sim::base::Stream examples_;
  Batch held_out_;
};

// The stationary distribution of an irreducible chain (n x n, rows sum to 1), by eliminating one
// state after another; no subtraction, so every entry is right to a few ulp.
//
// Source: Grassmann, Taksar & Heyman 1985, "Regenerative analysis and steady state distributions
//         for Markov chains".
std::vector<double> stationary_distribution(std::vector<double> transitions, std::size_t n);

}  // namespace optim
