// tests/optim/transformer_test.cpp: the transformer's loss, gradient, causality and bits.
//
// Method: a plain transformer in double (plain_transformer.h), differentiated by central differences,
//         at shapes with and without remainders of sixteen.
// Teeth:  seen failing with a mask one position too wide (causality, too), with the mean left out of the
//         softmax's slope, with the last term of the layer norm's derivative left out, with bias
//         gradients or the gather of the tied table left out, with a stretch of depth that starts anew,
//         with sequences gathered into the tied table in another order (cut batch), and with residual
//         projections as wide as the others at initialisation.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "optim/aligned_block.h"
#include "optim/inner_optimizer.h"
#include "optim/model.h"
#include "sim/base/random.h"
#include "tests/optim/plain_transformer.h"
#include "tests/optim/same_bits.h"
#include "tests/optim/shifted_arena.h"

namespace optim {
namespace {

using Catch::Matchers::WithinAbs;
using Doubles = std::vector<double>;

ModelOptions transformer(std::size_t vocabulary, std::size_t context, std::size_t width,
                         std::size_t heads, std::size_t layers) {
  return {ModelKind::kTransformer, 0, vocabulary, 0, layers, 0.0, width, heads, context};
}

const ModelOptions kSmall = transformer(7, 5, 6, 2, 2);
const ModelOptions kRagged = transformer(37, 19, 21, 3, 1);    // a remainder everywhere
const ModelOptions kEven = transformer(64, 32, 48, 3, 2);      // none anywhere
const ModelOptions kLong = transformer(5, 150, 8, 1, 1);       // past one stretch of depth

Batch random_tokens(const ModelOptions& options, std::size_t examples, std::uint64_t seed) {
  sim::base::Stream stream(seed, "test/tokens");
  Batch batch;
  batch.examples = examples;
  for (std::size_t i = 0; i < examples * options.context; ++i) {
    batch.tokens.push_back(static_cast<std::int32_t>(stream.next_below(options.outputs)));
    batch.targets.push_back(static_cast<std::int32_t>(stream.next_below(options.outputs)));
  }
  return batch;
}

// Away from the initial values, where gains are 1, biases 0 and attention is all but uniform.
AlignedBlock moved_parameters(const Model& model, std::uint64_t seed) {
  AlignedBlock parameters(model.block_size());
  model.initialise(seed, parameters);
  sim::base::Stream stream(seed, "test/move");
  for (const Tensor& tensor : model.tensors()) {
    for (std::size_t i = 0; i < tensor.size(); ++i) {
      parameters[tensor.offset + i] += 0.3f * static_cast<float>(stream.next_normal());
    }
  }
  return parameters;
}

TEST_CASE("transformer: loss and gradients agree with a plain one in double", "[unit][optim]") {
  for (const ModelOptions& options : {kSmall, kRagged, kEven, kLong}) {
    CAPTURE(options.outputs, options.context, options.width);
    const auto model = make_model(options);
    const AlignedBlock parameters = moved_parameters(*model, 3);
    const Batch batch = random_tokens(options, options.width < 8 ? 3 : 1, 5);
    AlignedBlock gradient(model->block_size());
    std::vector<float> scratch;
    const double loss = model->loss_and_gradient(parameters, batch, gradient, scratch);
    PlainTransformer plain(model->tensors(), options.heads);
    Doubles point(parameters.begin(), parameters.end());
    // A few thousand float roundings of 6e-8 on numbers of order 1, not all in one direction.
    CHECK_THAT(loss, WithinAbs(plain.loss(point, batch), 1e-5));
    CHECK_THAT(model->loss(parameters, batch, scratch), WithinAbs(loss, 0.0));
    constexpr double h = 1e-5;  // difference error h^2 and rounding 1e-16 * 10 / h: below 1e-9
    for (const Tensor& tensor : model->tensors()) {
      // All of the small model; of the others a few of each tensor, first and last included.
      const std::size_t checked = options.width < 8 ? tensor.size() : 3;
      const std::size_t stride = std::max<std::size_t>(1, (tensor.size() - 1) / (checked - 1));
      for (std::size_t i = tensor.offset; i < tensor.offset + tensor.size(); i += stride) {
        const double here = point[i];
        point[i] = here + h;
        const double above = plain.loss(point, batch);
        point[i] = here - h;
        const double below = plain.loss(point, batch);
        point[i] = here;
        CAPTURE(tensor.name, i - tensor.offset);
        REQUIRE_THAT(gradient[i], WithinAbs((above - below) / (2.0 * h), 1e-5));
      }
    }
  }
}

TEST_CASE("transformer: a position does not see the tokens after it", "[unit][optim]") {
  // With the targets at all but one position p alike, the loss differs by what p's target changes; so
  // the logits at p are probed by swapping its target, before and after a later token changes.
  const auto model = make_model(kRagged);
  const AlignedBlock parameters = moved_parameters(*model, 4);
  std::vector<float> scratch;
  Batch batch = random_tokens(kRagged, 1, 6);
  const auto probe = [&](std::size_t position) {
    Batch first = batch, second = batch;
    first.targets[position] = 0;
    second.targets[position] = 1;
    return model->loss(parameters, first, scratch) - model->loss(parameters, second, scratch);
  };
  for (const std::size_t changed : {1u, 8u, 15u, 16u, 18u}) {
    std::vector<double> before;
    for (std::size_t p = 0; p < kRagged.context; ++p) before.push_back(probe(p));
    batch.tokens[changed] = (batch.tokens[changed] + 1) % 37;
    for (std::size_t p = 0; p < kRagged.context; ++p) {
      CAPTURE(changed, p);
      // Differences of sums of doubles below 100: 1e-14 each.
      if (p < changed) CHECK_THAT(probe(p), WithinAbs(before[p], 1e-12));
      if (p >= changed) CHECK(std::fabs(probe(p) - before[p]) > 1e-6);
    }
  }
}

TEST_CASE("transformer: a batch cut in two adds up to the same bits", "[unit][optim][property]") {
  for (const ModelOptions& options : {kSmall, kRagged, kEven}) {
    const auto model = make_model(options);
    const AlignedBlock parameters = moved_parameters(*model, 1);
    // More sequences than are handled at once: 512 rows.
    const std::size_t examples = 600 / options.context;
    const Batch whole = random_tokens(options, examples, 2);
    AlignedBlock expected(model->block_size());
    std::vector<float> scratch;
    model->loss_and_gradient(parameters, whole, expected, scratch);
    for (const std::size_t cut : {std::size_t{1}, examples / 3, examples - 1}) {
      const auto part = [&](std::size_t first, std::size_t count) {
        const auto of = [&](const std::vector<std::int32_t>& values) {
          const auto begin = values.begin() + static_cast<long>(first * options.context);
          return std::vector<std::int32_t>(begin, begin + static_cast<long>(count * options.context));
        };
        return Batch{count, {}, of(whole.targets), of(whole.tokens)};
      };
      AlignedBlock gradient(model->block_size());
      model->loss_and_gradient(parameters, part(0, cut), gradient, scratch);
      model->loss_and_gradient(parameters, part(cut, examples - cut), gradient, scratch);
      CAPTURE(options.width, cut);
      CHECK(same_bits(gradient, expected));
    }
  }
}

std::vector<float> trained_at(const ModelOptions& options, std::size_t shift) {
  return trained_at(options, shift, 3,
                    [&](std::uint64_t step) { return random_tokens(options, 4, step); });
}

TEST_CASE("transformer: shifting the whole arena by 0 to 15 floats moves no bit",
          "[unit][optim][property]") {
  for (const ModelOptions& options : {kSmall, kRagged, kEven}) {
    const std::vector<float> expected = trained_at(options, 0);
    for (std::size_t shift = 1; shift < 16; ++shift) {
      CAPTURE(options.width, shift);
      CHECK(same_bits(trained_at(options, shift), expected));
    }
  }
}

TEST_CASE("transformer: tensors, their flags, and padding that stays zero", "[unit][optim]") {
  const auto model = make_model(kEven);
  // Embedding 64 * 48, positions 32 * 48, per block 12 * 48^2 + 9 * 48 + 4 * 48, final 2 * 48.
  CHECK(model->parameter_count() == 3072 + 1536 + 2 * (27648 + 432 + 192) + 96);
  CHECK(model->tensors().size() == 2 + 2 * 12 + 2);
  std::vector<float> trained = trained_at(kRagged, 0);
  const auto ragged = make_model(kRagged);
  std::size_t end = 0;
  for (const Tensor& tensor : ragged->tensors()) {
    CAPTURE(tensor.name);
    CHECK(tensor.offset % 16 == 0);
    CHECK(tensor.offset >= end);
    end = tensor.offset + tensor.size();
    CHECK(tensor.decay == (tensor.rows > 1));
    CHECK(tensor.embedding == (tensor.name == "embedding" || tensor.name == "position"));
    std::fill_n(trained.begin() + static_cast<long>(tensor.offset), tensor.size(), 0.0f);
  }
  CHECK(same_bits(trained, std::vector<float>(ragged->block_size(), 0.0f)));
}

TEST_CASE("transformer: first values have the published spread", "[unit][optim]") {
  const auto model = make_model(kEven);
  AlignedBlock parameters(model->block_size()), again(model->block_size());
  model->initialise(7, parameters);
  model->initialise(7, again);
  CHECK(same_bits(parameters, again));
  for (const Tensor& tensor : model->tensors()) {
    CAPTURE(tensor.name);
    double squares = 0.0;
    for (std::size_t i = 0; i < tensor.size(); ++i) {
      squares += double{parameters[tensor.offset + i]} * double{parameters[tensor.offset + i]};
    }
    const auto count = static_cast<double>(tensor.size());
    const bool residual = tensor.name.ends_with("attention.weight") ||
                          tensor.name.ends_with("narrow.weight");
    const double sd = tensor.name.ends_with(".gain") ? 1.0
                      : !tensor.decay                ? 0.0
                      : residual                     ? 0.02 / std::sqrt(2.0 * 2.0)
                                                     : 0.02;
    // The root mean square of n normals has a spread of sd / sqrt(2 n); 5 of them.
    CHECK_THAT(std::sqrt(squares / count), WithinAbs(sd, 5.0 * sd / std::sqrt(2.0 * count)));
  }
  // All logits are all but alike: the first loss is ln V. Logits have sd 0.02 sqrt(48) = 0.14, which
  // raises it by half the variance, 0.01.
  std::vector<float> scratch;
  const double loss = model->loss(parameters, random_tokens(kEven, 8, 1), scratch) / 8.0;
  CHECK_THAT(loss, WithinAbs(std::log(64.0), 0.03));
}

TEST_CASE("transformer: what does not fit is refused", "[unit][optim]") {
  CHECK_THROWS_WITH(make_model(transformer(8, 4, 10, 3, 1)),
                    "heads must divide the width (10); got 3");
  CHECK_THROWS_WITH(make_model(transformer(0, 4, 8, 2, 1)), "outputs must be at least 1; got 0");
  CHECK_THROWS_WITH(make_model(transformer(8, 0, 8, 2, 1)), "context must be at least 1; got 0");
  CHECK_THROWS_WITH(make_model(transformer(8, 4, 0, 2, 1)), "width must be at least 1; got 0");
  CHECK_THROWS_WITH(make_model(transformer(8, 4, 8, 0, 1)), "heads must be at least 1; got 0");
  CHECK_THROWS_WITH(make_model(transformer(8, 4, 8, 2, 0)), "layers must be at least 1; got 0");
  CHECK_THROWS_WITH(make_model(transformer(8, 4, 8, 2, 65)), "layers must be 1 to 64; got 65");
  const auto model = make_model(kSmall);
  AlignedBlock parameters(model->block_size());
  std::vector<float> scratch;
  Batch batch = random_tokens(kSmall, 2, 1);
  batch.tokens[3] = 7;
  CHECK_THROWS_WITH(model->loss(parameters, batch, scratch),
                    "token must be a symbol in [0, 7); got 7");
  batch.tokens[3] = 0;
  batch.targets[3] = -1;
  CHECK_THROWS_WITH(model->loss(parameters, batch, scratch),
                    "target must be a class in [0, 7); got -1");
  batch.targets.pop_back();
  CHECK_THROWS_WITH(model->loss(parameters, batch, scratch), "targets has 9 positions, expected 10");
  batch.tokens.pop_back();
  CHECK_THROWS_WITH(model->loss(parameters, batch, scratch), "tokens has 9 positions, expected 10");
}

}  // namespace
}  // namespace optim
