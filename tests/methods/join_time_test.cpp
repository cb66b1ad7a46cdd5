// tests/methods/join_time_test.cpp: a join shares its link with the fragments, and takes about 4 c steps.
//
// With one copy of the model taking c steps of link time, H = P = 24 and a state of three copies, the
// link carries one copy of fragments per 24 steps: a state is there after 3 c / (1 - c / 24) steps, which
// is the 4 c of the paper's figure at c = 6 (facts 1.9), and training goes on meanwhile.
#include <catch2/catch.hpp>

#include "tests/methods/forked_world.h"

namespace sim::methods {
namespace {

using tape::Kind;
using tape::TargetKind;

// Seconds from the donor's state leaving to its being there.
double join_s(double copy_steps) {
  Setup setup;
  setup.use_network(2, 2e6 / copy_steps);
  setup.add_island("a", "r0");
  setup.add_island("b", "r1");
  setup.model.state_bytes = 6;
  auto& t = setup.training;
  t.fragments = 24;
  t.sync_every = 24;
  t.overlap_steps = 4;
  t.resume_within = 0;
  t.metadata_bytes = 0;
  // Its slices only: hosts and shard stay, so that nothing but the state is fetched.
  for (const char* slice : {"b/slice-1", "b/slice-2"}) {
    setup.kill(TargetKind::kSlice, slice, 30'500 * kMillisecond, 4 * kSecond);
  }
  setup.duration = 200 * kSecond;
  const Lived lived = live_forked(setup);
  const auto sent = lived.recorder.of(Kind::kStateSent);
  const auto copied = lived.recorder.of(Kind::kStateCopied);
  REQUIRE(sent.size() == 1);
  REQUIRE(copied.size() == 1);
  std::size_t merges = 0;
  for (const auto& fact : lived.recorder.of(Kind::kFragmentMerged)) {
    merges += fact.at > sent[0].at && fact.at < copied[0].at;
  }
  CHECK(merges >= static_cast<std::size_t>(2 * copy_steps));  // training went on
  return base::to_seconds(copied[0].at - sent[0].at);
}

TEST_CASE("join: the state shares the link with the fragments", "[methods]") {
  // One fragment more or less falls into the window: c / 24 s of link time.
  CHECK_THAT(join_s(3), Catch::Matchers::WithinAbs(3 * 3 / (1 - 3.0 / 24), 0.3));
  // The donor has received a fragment of 1/6 MB that it has not adopted: 0.5 s of link time more.
  CHECK_THAT(join_s(6), Catch::Matchers::WithinAbs(4 * 6 + 0.5, 0.5));
}

}  // namespace
}  // namespace sim::methods
