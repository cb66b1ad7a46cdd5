// optim/text_task.cpp: see text_task.h.
#include "optim/text_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "optim/example_stream.h"

namespace optim {
namespace {

const TaskOptions& checked(const TaskOptions& options) {
  if (options.text == nullptr) throw std::invalid_argument("task text needs a text");
  const Text& text = *options.text;
  if (text.alphabet.size() < 2 || text.alphabet.size() != options.classes) {
    throw std::invalid_argument(fmt::format("a text of {} symbols does not make {} classes",
                                            text.alphabet.size(), options.classes));
  }
  const std::size_t longest = longest_window(text.symbols.size(), options.shards);
  if (options.context == 0 || options.context >= longest) {
    throw std::invalid_argument(fmt::format("context must be between 1 and {}; got {}", longest - 1,
                                            options.context));
  }
  return options;
}

// Equal parts of the training text: one, or one per shard.
std::size_t part_count(const ShardOptions& shards) {
  return shards.kind == ShardKind::kIid ? 1 : shards.count;
}

}  // namespace

Text encode_text(std::string_view bytes) {
  std::array<bool, 256> occurs{};
  for (const char c : bytes) occurs[static_cast<std::uint8_t>(c)] = true;
  Text text;
  std::array<std::uint8_t, 256> symbol{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (!occurs[byte]) continue;
    symbol[byte] = static_cast<std::uint8_t>(text.alphabet.size());
    text.alphabet.push_back(static_cast<std::uint8_t>(byte));
  }
  text.symbols.reserve(bytes.size());
  for (const char c : bytes) text.symbols.push_back(symbol[static_cast<std::uint8_t>(c)]);
  return text;
}

std::size_t training_symbols(std::size_t length) { return length - length / 10; }

std::size_t longest_window(std::size_t length, const ShardOptions& shards) {
  const std::size_t training = training_symbols(length);
  return std::min(length - training, training / std::max<std::size_t>(1, part_count(shards)));
}

TextTask::TextTask(const TaskOptions& options, std::uint64_t seed)
    : text_(checked(options).text),
      classes_(options.classes),
      context_(options.context),
      form_(options.form),
      shards_(options.shards, options.shards.count, seed),
      examples_(seed, "task/text/examples") {
  const std::size_t first = training_symbols(text_->symbols.size());
  const std::size_t places = text_->symbols.size() - first - context_;
  sim::base::Stream held_out(seed, "task/text/held-out");
  for (std::size_t i = 0; i < options.held_out_examples; ++i) {
    const Range stretch = part_of(places, i, options.held_out_examples);
    const std::size_t size = std::max<std::size_t>(1, stretch.end - stretch.first);
    append_window(first + stretch.first + held_out.next_below(size), held_out_);
  }
}

std::size_t TextTask::inputs() const {
  return form_ == ExampleForm::kTokens ? context_ : classes_ * context_;
}

double TextTask::loss_floor() const { return std::numeric_limits<double>::quiet_NaN(); }

void TextTask::append_example(std::uint32_t step, std::uint32_t slot, Batch& batch) const {
  sim::base::Stream stream = example_stream(examples_, step, slot);
  const std::size_t parts = shards_.kind() == ShardKind::kIid ? 1 : shards_.count();
  std::size_t part = shards_.shard_of(slot);
  if (shards_.kind() == ShardKind::kDirichlet) part = shards_.draw_group(part, stream);
  const std::size_t training = training_symbols(text_->symbols.size());
  append_window(draw_start(part_of(training, part, parts), stream), batch);
}

std::size_t TextTask::draw_start(Range part, sim::base::Stream& stream) const {
  return part.first + stream.next_below(part.end - part.first - context_);
}

void TextTask::append_window(std::size_t first, Batch& batch) const {
  const std::uint8_t* const window = text_->symbols.data() + first;
  ++batch.examples;
  if (form_ == ExampleForm::kTokens) {
    for (std::size_t p = 0; p < context_; ++p) {
      batch.tokens.push_back(window[p]);
      batch.targets.push_back(window[p + 1]);
    }
    return;
  }
  const std::size_t start = batch.inputs.size();
  batch.inputs.resize(start + classes_ * context_, 0.0f);
  for (std::size_t p = 0; p < context_; ++p) batch.inputs[start + p * classes_ + window[p]] = 1.0f;
  batch.targets.push_back(window[context_]);
}

}  // namespace optim
