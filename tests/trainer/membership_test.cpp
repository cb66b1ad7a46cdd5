// tests/trainer/membership_test.cpp: which slots are computed, and where chunks are cut.
//
// Method: lists written out by hand.
// Teeth:  seen failing with waiting slices counted as joined, with the list kept after a change, and
//         with chunks cut by position instead of by slot number.
#include "sim/trainer/membership.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/trainer/tape_fixture.h"

namespace sim::trainer {
namespace {

using Slots = std::vector<std::uint32_t>;

TEST_CASE("membership: slots come and go with their slices", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(2, 2, 3, 1);  // learner 1 has slots 6..8 and 9..11
  Membership membership(shape);
  CHECK(membership.slots(1)->slots == Slots{6, 7, 8, 9, 10, 11});
  membership.on(tape::SliceChanged{2, tape::SliceState::kFailed});
  CHECK(membership.slots(1)->slots == Slots{9, 10, 11});
  CHECK(membership.slots(0)->slots == Slots{0, 1, 2, 3, 4, 5});
  membership.on(tape::SliceChanged{2, tape::SliceState::kWaiting});
  CHECK(membership.slots(1)->slots == Slots{9, 10, 11});
  membership.on(tape::SliceChanged{3, tape::SliceState::kFailed});
  CHECK(membership.slots(1)->slots.empty());
  membership.on(tape::SliceChanged{2, tape::SliceState::kJoined});
  CHECK(membership.slots(1)->slots == Slots{6, 7, 8});
}

TEST_CASE("membership: a list is one object until it changes", "[unit][trainer]") {
  const tape::RunShape shape = make_shape(1, 2, 3, 1);
  Membership membership(shape);
  const auto before = membership.slots(0);
  membership.on(tape::SliceChanged{0, tape::SliceState::kJoined});  // was joined already
  CHECK(membership.slots(0) == before);
  CHECK_THROWS_WITH(membership.on(tape::SliceChanged{2, tape::SliceState::kJoined}), "slice 2 of 2");
}

TEST_CASE("membership: chunks are cut by slot number, not by who is there", "[unit][trainer]") {
  // 24 slots: chunks of 8, cut at 8 and 16. Without slot 5 the cuts stay.
  const SlotList list = make_slot_list({4, 6, 7, 8, 9, 20}, 24);
  REQUIRE(list.chunks.size() == 3);
  CHECK((list.chunks[0].first == 0 && list.chunks[0].count == 3));
  CHECK((list.chunks[1].first == 3 && list.chunks[1].count == 2));
  CHECK((list.chunks[2].first == 5 && list.chunks[2].count == 1));
  CHECK(chunk_slots(1) == 8);
  CHECK(chunk_slots(64) == 8);
  CHECK(chunk_slots(65) == 9);  // 8 chunks at most: ceil(65 / 8)
  CHECK(make_slot_list({}, 24).chunks.empty());
}

}  // namespace
}  // namespace sim::trainer
