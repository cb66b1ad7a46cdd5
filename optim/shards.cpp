// optim/shards.cpp: see shards.h.
#include "optim/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "optim/dirichlet.h"
#include "optim/running_sums.h"

namespace optim {
namespace {

const ShardOptions& checked(const ShardOptions& options) {
  if (options.kind == ShardKind::kIid) return options;
  if (options.count == 0) throw std::invalid_argument("shards must be at least 1; got 0");
  if (options.count > options.slots) {
    throw std::invalid_argument(fmt::format("shards must not exceed the slots ({}); got {}",
                                            options.slots, options.count));
  }
  if (options.kind == ShardKind::kDirichlet && !(options.concentration > 0.0)) {
    throw std::invalid_argument(
        fmt::format("concentration must be above 0; got {}", options.concentration));
  }
  return options;
}

}  // namespace

Range part_of(std::size_t size, std::size_t index, std::size_t parts) {
  return {size * index / parts, size * (index + 1) / parts};
}

Shards::Shards(const ShardOptions& options, std::size_t groups, std::uint64_t seed)
    : options_(checked(options)), groups_(groups) {
  if (options.kind != ShardKind::kDirichlet) return;
  if (groups == 0) throw std::invalid_argument("a shard needs at least 1 group; got 0");
  const sim::base::Stream stream(seed, "task/shards");
  shares_.resize(options.count * groups);
  for (std::size_t shard = 0; shard < options.count; ++shard) {
    const std::span<double> row = std::span(shares_).subspan(shard * groups, groups);
    sim::base::Stream lane = stream.at(shard, 0);
    draw_dirichlet(options.concentration, row, lane);
    append_running_sums(row, sums_);
  }
}

std::size_t Shards::shard_of(std::uint32_t slot) const {
  if (options_.kind == ShardKind::kIid) return 0;
  const std::size_t within = std::min<std::size_t>(slot, options_.slots - 1);
  return within * options_.count / options_.slots;
}

std::size_t Shards::draw_group(std::size_t shard, sim::base::Stream& stream) const {
  return choose(std::span(sums_).subspan(shard * groups_, groups_), stream.next_uniform());
}

std::span<const double> Shards::shares(std::size_t shard) const {
  return std::span(shares_).subspan(shard * groups_, groups_);
}

}  // namespace optim
