// optim/shards.h: which part of the data a slot sees.
//
// A slot of the global batch belongs to a slice for good, and so to a place; its shard is a function
// of the slot alone. So every arm, however it cuts slices into learners, sees the same example at
// (step, slot).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/random.h"

namespace optim {

enum class ShardKind : std::uint8_t { kIid, kDirichlet, kContiguous };

struct ShardOptions {
  ShardKind kind = ShardKind::kIid;
  std::size_t count = 1;       // shards; unused by kIid
  double concentration = 1.0;  // kDirichlet, > 0: small is far from iid
  std::size_t slots = 1;       // of the global batch, at least `count`
};

// [first, end) of `size` things, part `index` of `parts`, in order, sizes differing by one at most.
struct Range {
  std::size_t first, end;
};
Range part_of(std::size_t size, std::size_t index, std::size_t parts);

// Groups are what a task's examples fall into: classes, first symbols, blocks of a text. With
// kDirichlet each shard has its own shares of the groups, drawn from Dirichlet(concentration).
//
// Random: stream "task/shards", one lane per shard: a further shard re-draws no other.
// Source: Hsu, Qi & Brown 2019, arXiv:1909.06335 (label shares from a Dirichlet distribution).
class Shards {
 public:
  // `groups` is used by kDirichlet only. Errors: std::invalid_argument for 0 shards, more shards than
  // slots, no groups, or a concentration that is not above 0, where they are used.
  Shards(const ShardOptions& options, std::size_t groups, std::uint64_t seed);

  ShardKind kind() const { return options_.kind; }
  std::size_t count() const { return options_.count; }
  // floor(slot * count / slots); slots beyond the batch count as the last one.
  std::size_t shard_of(std::uint32_t slot) const;
  // A group by the shares of a shard. Requires: kDirichlet. Random: one word.
  std::size_t draw_group(std::size_t shard, sim::base::Stream& stream) const;
  // (groups). Requires: kDirichlet.
  std::span<const double> shares(std::size_t shard) const;

 private:
  ShardOptions options_;
  std::size_t groups_;
  std::vector<double> shares_;  // (count x groups), or empty
  std::vector<double> sums_;    // running sums of each row
};

}  // namespace optim
