// sim/trainer/membership.cpp: see membership.h.
#include "sim/trainer/membership.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sim::trainer {

std::uint32_t chunk_slots(std::uint32_t slot_count) {
  constexpr std::uint32_t slots_min = 8, chunks_max = 8;
  return std::max(slots_min, (slot_count + chunks_max - 1) / chunks_max);
}

SlotList make_slot_list(std::vector<std::uint32_t> ascending_slots, std::uint32_t slot_count) {
  SlotList list{std::move(ascending_slots), {}};
  const std::uint32_t width = chunk_slots(slot_count);
  for (std::uint32_t i = 0; i < list.slots.size(); ++i) {
    if (i == 0 || list.slots[i] / width != list.slots[i - 1] / width) list.chunks.push_back({i, 0});
    ++list.chunks.back().count;
  }
  return list;
}

Membership::Membership(const tape::RunShape& shape)
    : shape_(shape), joined_(shape.slices.size(), true), lists_(shape.learners.size()) {}

void Membership::on(const tape::SliceChanged& fact) {
  if (fact.slice >= joined_.size()) {
    throw std::logic_error(fmt::format("slice {} of {}", fact.slice, joined_.size()));
  }
  const bool joined = fact.state == tape::SliceState::kJoined;
  if (joined_[fact.slice] == joined) return;
  joined_[fact.slice] = joined;
  const std::uint16_t learner = shape_.slices[fact.slice].learner;
  if (learner != tape::kNoLearner) lists_[learner] = nullptr;
}

std::shared_ptr<const SlotList> Membership::slots(std::uint16_t learner) {
  std::shared_ptr<const SlotList>& list = lists_.at(learner);
  if (list) return list;
  std::vector<std::uint32_t> slots;
  for (const std::uint32_t slice : shape_.learners[learner].slices) {
    if (!joined_[slice]) continue;
    const tape::SliceShape& place = shape_.slices[slice];
    for (std::uint32_t i = 0; i < place.slot_count; ++i) slots.push_back(place.first_slot + i);
  }
  std::ranges::sort(slots);
  list = std::make_shared<const SlotList>(make_slot_list(std::move(slots), shape_.slots));
  return list;
}

}  // namespace sim::trainer
