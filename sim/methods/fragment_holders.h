// sim/methods/fragment_holders.h: which shard of a syncer holds which version of which fragment.
//
// A version stands where it was made or where bytes carried it, and nowhere else. So what a shard may
// serve, merge or pass on is asked here, fragment by fragment; and when the last holder of the newest
// version is gone, an older one that some shard still keeps becomes the global one (a new epoch of that
// fragment), or nothing is left and the method goes back to what learners or the store hold.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/methods/world.h"

namespace sim::methods {

class FragmentHolders {
 public:
  using May = std::function<bool(std::size_t shard)>;

  // At first every shard holds the initial value of every fragment: version 0 of epoch 1.
  FragmentHolders(World& world, std::size_t shards, std::size_t fragments);

  std::uint32_t version(std::size_t fragment) const { return newest_[fragment].version; }
  std::uint16_t epoch(std::size_t fragment) const { return newest_[fragment].epoch; }
  std::size_t fragment_count() const { return newest_.size(); }

  // In memory; whether the shard is up is not asked.
  bool holds(std::size_t shard, std::size_t fragment) const {
    return held_[shard * newest_.size() + fragment] == newest_[fragment];
  }
  // How many fragments the shard does not hold in their newest version.
  std::size_t lacking(std::size_t shard) const { return lacking_[shard]; }

  // A merge among the shards for which `is_member` holds makes the next version. Says FragmentKept for
  // each shard that held the newest and is left out, before the caller says FragmentMerged.
  void merge(std::size_t fragment, const May& is_member);
  // Bytes brought the newest version to the shard.
  void receive(std::size_t shard, std::size_t fragment);
  // The shard's memory is gone.
  void forget(std::size_t shard);

  // The shard that keeps the newest of the older versions, of those that `may`; none keeps one.
  std::optional<std::size_t> keeper(std::size_t fragment, const May& may) const;
  // That shard's older version becomes the global one. Requires: it keeps one.
  void go_back(std::size_t fragment, std::size_t shard);
  // All fragments begin a new epoch, which only this shard holds. Returns it: above all before.
  std::uint16_t begin_anew(std::size_t shard);

 private:
  struct Stamp {
    std::uint16_t epoch = 1;      // 0: nothing
    std::uint32_t version = 0;
    bool operator==(const Stamp&) const = default;
  };
  Stamp& at(std::size_t shard, std::size_t fragment) {
    return held_[shard * newest_.size() + fragment];
  }
  const Stamp& at(std::size_t shard, std::size_t fragment) const {
    return held_[shard * newest_.size() + fragment];
  }
  bool keeps_older(std::size_t shard, std::size_t fragment) const;
  void drop(std::size_t shard, std::size_t fragment);
  void count_lacking();

  World& world_;
  std::vector<Stamp> newest_;          // (P)
  std::vector<Stamp> held_;            // (shards, P)
  std::vector<std::size_t> lacking_;   // (shards)
};

}  // namespace sim::methods
