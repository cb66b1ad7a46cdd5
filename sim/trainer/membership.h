// sim/trainer/membership.h: which slots of the global batch a learner computes now.
//
// Slots belong to slices for good; a slice that is down or waiting drops its slots, and nobody
// else takes them over (design section 4, data order).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/tape/fact.h"
#include "sim/tape/run_shape.h"

namespace sim::trainer {

// The slots of one step, ascending, cut into chunks whose gradients are computed apart and added in
// chunk order. Where the cuts lie depends on slot numbers only, so that neither the number of
// threads nor which slices are missing moves them.
struct SlotList {
  struct Chunk {
    std::uint32_t first, count;  // range of `slots`
  };
  std::vector<std::uint32_t> slots;
  std::vector<Chunk> chunks;  // none is empty
};

// Slots in one chunk for a global batch of `slot_count`: at least 8 (fewer would starve the matrix
// products), and so many that a batch has at most 8 chunks (each needs a gradient block).
std::uint32_t chunk_slots(std::uint32_t slot_count);

SlotList make_slot_list(std::vector<std::uint32_t> ascending_slots, std::uint32_t slot_count);

class Membership {
 public:
  // All slices of the shape are joined at first. Keeps a reference to the shape.
  explicit Membership(const tape::RunShape& shape);

  // Requires: a slice of the shape; else std::logic_error.
  void on(const tape::SliceChanged& fact);

  // The joined slots of a learner; the same object until its membership changes.
  std::shared_ptr<const SlotList> slots(std::uint16_t learner);

 private:
  const tape::RunShape& shape_;
  std::vector<bool> joined_;                            // (slices)
  std::vector<std::shared_ptr<const SlotList>> lists_;  // (learners); null: to be made again
};

}  // namespace sim::trainer
