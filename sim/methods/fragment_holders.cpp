// sim/methods/fragment_holders.cpp: see fragment_holders.h.
#include "sim/methods/fragment_holders.h"

#include <algorithm>

namespace sim::methods {

namespace {

tape::FragmentDropped dropped(std::size_t fragment, std::size_t shard) {
  return {static_cast<std::uint16_t>(fragment), static_cast<std::uint16_t>(shard)};
}

}  // namespace

FragmentHolders::FragmentHolders(World& world, std::size_t shards, std::size_t fragments)
    : world_(world),
      newest_(fragments),
      held_(shards * fragments),
      lacking_(shards, 0) {}

// Versions of an epoch that has ended are of no use to anybody.
bool FragmentHolders::keeps_older(std::size_t shard, std::size_t fragment) const {
  const Stamp& held = at(shard, fragment);
  return held.epoch == newest_[fragment].epoch && held.version < newest_[fragment].version;
}

void FragmentHolders::merge(std::size_t fragment, const May& is_member) {
  Stamp next = newest_[fragment];
  ++next.version;
  for (std::size_t shard = 0; shard < lacking_.size(); ++shard) {
    if (!holds(shard, fragment)) continue;
    if (is_member(shard)) {
      at(shard, fragment) = next;
    } else {
      ++lacking_[shard];
      world_.say(tape::FragmentKept{newest_[fragment].version, static_cast<std::uint16_t>(fragment),
                                    newest_[fragment].epoch, static_cast<std::uint16_t>(shard)});
    }
  }
  newest_[fragment] = next;
}

void FragmentHolders::receive(std::size_t shard, std::size_t fragment) {
  if (holds(shard, fragment)) return;
  drop(shard, fragment);
  at(shard, fragment) = newest_[fragment];
  --lacking_[shard];
}

void FragmentHolders::forget(std::size_t shard) {
  for (std::size_t p = 0; p < newest_.size(); ++p) {
    drop(shard, p);
    lacking_[shard] += holds(shard, p);
    at(shard, p) = {0, 0};
  }
}

void FragmentHolders::drop(std::size_t shard, std::size_t fragment) {
  if (keeps_older(shard, fragment)) world_.say(dropped(fragment, shard));
}

std::optional<std::size_t> FragmentHolders::keeper(std::size_t fragment, const May& may) const {
  std::optional<std::size_t> best;
  for (std::size_t shard = 0; shard < lacking_.size(); ++shard) {
    if (!keeps_older(shard, fragment) || !may(shard)) continue;
    if (!best || at(*best, fragment).version < at(shard, fragment).version) best = shard;
  }
  return best;
}

// Who keeps the same version holds the new epoch's first; what others keep is void.
void FragmentHolders::go_back(std::size_t fragment, std::size_t keeper) {
  const Stamp kept = at(keeper, fragment);
  const Stamp anew{static_cast<std::uint16_t>(newest_[fragment].epoch + 1), 0};
  world_.say(tape::FragmentRestored{kept.version, static_cast<std::uint16_t>(fragment), anew.epoch,
                                    static_cast<std::uint16_t>(keeper)});
  for (std::size_t shard = 0; shard < lacking_.size(); ++shard) {
    drop(shard, fragment);
    at(shard, fragment) = at(shard, fragment) == kept ? anew : Stamp{0, 0};
  }
  newest_[fragment] = anew;
  count_lacking();
}

std::uint16_t FragmentHolders::begin_anew(std::size_t first) {
  std::uint16_t epoch = 0;
  for (const Stamp& newest : newest_) epoch = std::max(epoch, newest.epoch);
  ++epoch;
  for (std::size_t shard = 0; shard < lacking_.size(); ++shard) {
    for (std::size_t p = 0; p < newest_.size(); ++p) {
      drop(shard, p);
      at(shard, p) = shard == first ? Stamp{epoch, 0} : Stamp{0, 0};
    }
  }
  std::ranges::fill(newest_, Stamp{epoch, 0});
  count_lacking();
  return epoch;
}

void FragmentHolders::count_lacking() {
  for (std::size_t shard = 0; shard < lacking_.size(); ++shard) {
    lacking_[shard] = 0;
    for (std::size_t p = 0; p < newest_.size(); ++p) lacking_[shard] += !holds(shard, p);
  }
}

}  // namespace sim::methods
