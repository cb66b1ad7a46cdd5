// tests/methods/recorded_tape_test.cpp: bugs planted into the tape of a real run are caught.
//
// Goal:   the checkers that watch every run see a double merge, a skipped rollback, a lost byte and a
//         contribution of a dead life, also among thousands of good facts.
// Method: a recorded run with faults is folded as it is, then with one fact doubled, dropped or changed.
// Teeth:  the unchanged tapes are not accused, so each verdict below comes from the planted fact.
#include <catch2/catch.hpp>

#include "tests/methods/forked_world.h"

namespace sim::methods {
namespace {

using tape::Fact;
using tape::Kind;
using tape::TargetKind;

Setup decoupled() {
  Setup setup;
  setup.add_island("a", "here");
  setup.add_island("b", "here");
  setup.kill(TargetKind::kIsland, "b", 10'500 * kMillisecond, 5 * kSecond);
  return setup;
}

Setup synchronous() {
  Setup setup;
  setup.training.method = MethodKind::kDataParallel;
  setup.training.learners = LearnerSplit::kOne;
  setup.training.elasticity.elastic = false;
  setup.training.elasticity.recovery = Recovery::kCheckpoint;
  setup.training.checkpoint = {.every = 10 * kSecond, .save = kSecond, .load = 0, .redo = true};
  setup.add_island("a", "here");
  setup.kill(TargetKind::kChip, "a/slice-1", 25'500 * kMillisecond, 6 * kSecond);
  return setup;
}

// The run's facts, each merge with its contributors.
std::vector<Fact> recorded(const Lived& lived) {
  std::vector<Fact> facts = lived.facts();
  std::size_t merge = 0;
  for (Fact& fact : facts) {
    if (fact.kind != Kind::kFragmentMerged) continue;
    fact.fragment_merged.contributors = lived.recorder.contributors[merge++].data();
  }
  return facts;
}

std::vector<std::string> violations(const Lived& lived, const std::vector<Fact>& facts,
                                    std::uint32_t quorum) {
  readers::Properties properties(lived.fleet->shape, quorum);
  for (const Fact& fact : facts) properties.on(fact);
  return properties.violations();
}

std::size_t find_last(const std::vector<Fact>& facts, Kind kind) {
  std::size_t found = facts.size();
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].kind == kind) found = i;
  }
  REQUIRE(found < facts.size());
  return found;
}

TEST_CASE("recorded tape: a version merged twice is caught", "[methods]") {
  const Lived lived = live(decoupled());
  std::vector<Fact> facts = recorded(lived);
  CHECK(violations(lived, facts, 1).empty());
  const auto place = facts.begin() + static_cast<std::ptrdiff_t>(find_last(facts, Kind::kFragmentMerged));
  facts.insert(place, *place);
  const auto found = violations(lived, facts, 1);
  REQUIRE(!found.empty());
  CHECK(found[0].find("is merged twice") != std::string::npos);
  CHECK_THROWS_AS(fold(decoupled(), lived.fleet->shape, facts), std::logic_error);  // the tokens, too
}

TEST_CASE("recorded tape: a contribution of the life before is caught", "[methods]") {
  const Lived lived = live(decoupled());
  std::vector<Fact> facts = recorded(lived);
  std::vector<tape::Contributor> stale;
  for (Fact& fact : facts) {
    if (fact.kind != Kind::kFragmentMerged) continue;
    auto& merged = fact.fragment_merged;
    stale.assign(merged.contributors, merged.contributors + merged.contributor_count);
    if (stale.back().incarnation != 2) continue;
    stale.back().incarnation = 1;
    merged.contributors = stale.data();
    break;
  }
  const auto found = violations(lived, facts, 1);
  REQUIRE(found.size() == 1);
  CHECK(found[0].find("merges life 1 of learner 1") != std::string::npos);
}

TEST_CASE("recorded tape: a rollback that was skipped is caught", "[methods]") {
  const Lived lived = live(synchronous());
  std::vector<Fact> facts = recorded(lived);
  CHECK(violations(lived, facts, 0).empty());
  facts.erase(facts.begin() + static_cast<std::ptrdiff_t>(find_last(facts, Kind::kRolledBack)));
  bool again = false;
  for (const std::string& text : violations(lived, facts, 0)) {
    again = again || text.find("again without a rollback") != std::string::npos;
  }
  CHECK(again);
}

TEST_CASE("recorded tape: a byte that is lost on the way is caught", "[methods]") {
  Setup setup = decoupled();
  const Lived lived = live(setup);
  std::vector<Fact> facts = recorded(lived);
  --facts[find_last(facts, Kind::kTransferDone)].transfer_done.carried;
  CHECK_THROWS_AS(fold(setup, lived.fleet->shape, facts), std::logic_error);
}

}  // namespace
}  // namespace sim::methods
