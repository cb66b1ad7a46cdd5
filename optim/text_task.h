// optim/text_task.h: the next symbol of a text, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "optim/shards.h"
#include "optim/task.h"
#include "sim/base/random.h"

namespace optim {

// A text as symbols: the distinct bytes of the text, ascending, are the symbols 0, 1, ...
struct Text {
  std::vector<std::uint8_t> alphabet;  // (classes); byte of each symbol
  std::vector<std::uint8_t> symbols;   // (length)
};

Text encode_text(std::string_view bytes);

// How many symbols, from the first on, are trained on; the last tenth (rounded down) is held out
// (assumed share).
std::size_t training_symbols(std::size_t length);

// The most symbols that a window may have so that it fits into the held-out part and into each part
// of the training text: all of it (iid), or one of the shards' equal parts.
std::size_t longest_window(std::size_t length, const ShardOptions& shards);

// Example: a window of `context` + 1 symbols at a random place of the training part.
//   features: the first `context` symbols one-hot, oldest first, so position p and symbol s are input
//             p * classes + s; target the last symbol
//   tokens:   the first `context` symbols; targets the symbol after each
// Held out: windows in the last tenth, one at a random place of each of `held_out_examples` equal
//           stretches; they share no symbol with any training window.
// Floor:    unknown (NaN).
// Shards:   the training part is cut into as many equal parts as there are shards; windows lie within
//           a part. contiguous: each shard reads its own part, in file order. dirichlet: each shard
//           reads the parts with its own shares.
// Random:   streams "task/text/held-out" and one lane of "task/text/examples" per example: one word
//           for the place, and before it one for the part with kDirichlet.
class TextTask : public Task {
 public:
  // Requires: a text of at least two symbols in which a window fits (longest_window), options.classes
  //           equal to its alphabet; else std::invalid_argument.
  TextTask(const TaskOptions& options, std::uint64_t seed);

  std::size_t inputs() const override;
  std::size_t outputs() const override { return classes_; }
  void append_example(std::uint32_t step, std::uint32_t slot, Batch& batch) const override;
  const Batch& held_out() const override { return held_out_; }
  double loss_floor() const override;

 private:
  void append_window(std::size_t first, Batch& batch) const;
  std::size_t draw_start(Range part, sim::base::Stream& stream) const;

  std::shared_ptr<const Text> text_;
  std::size_t classes_, context_;
  ExampleForm form_;
  Shards shards_;
  sim::base::Stream examples_;
  Batch held_out_;
};

}  // namespace optim
