// tests/methods/one_learner_test.cpp: one learner of any method is data parallel.
//
// Goal:   with M = 1 the same faults stop the same steps and undo the same steps, whichever method runs the
//         job: by each step's own dates.
// Method: DiLoCo and Decoupled DiLoCo beside data parallel, over chips, slices and islands that fail.
// Teeth:  seen failing with data parallel going back to its checkpoint where the others kept their hosts'
//         copy.
#include <array>
#include <catch2/catch.hpp>
#include <functional>

#include "tests/methods/world_fixture.h"

namespace sim::methods {
namespace {

using tape::Kind;
using tape::TargetKind;

// Begin, period and number of each step, and the dates of what was undone.
std::vector<std::array<std::int64_t, 3>> course(const Lived& lived) {
  std::vector<std::array<std::int64_t, 3>> steps;
  for (const tape::Fact& fact : lived.facts()) {
    if (fact.kind != Kind::kStepsDone) continue;
    const tape::StepsDone& done = fact.steps_done;
    for (std::uint32_t i = 0; i < done.count; ++i) {
      steps.push_back({done.start + i * done.period, done.period, done.first_step + i});
    }
  }
  return steps;
}

Setup with_method(MethodKind method, bool elastic) {
  Setup setup;
  setup.add_island("a", "here");
  setup.add_island("b", "here", 0.5);
  setup.training.method = method;
  setup.training.learners = LearnerSplit::kOne;
  setup.training.elasticity.elastic = elastic;
  setup.training.checkpoint = {.every = 0, .save = 0, .load = 4 * kSecond, .redo = true};
  setup.with_merges = method != MethodKind::kDecoupledDiloco;
  if (method == MethodKind::kDiloco) {
    setup.training.fragments = setup.training.sync_every = 1;
    setup.training.overlap_steps = 0;
    setup.training.late = LatePolicy::kBlock;
  }
  return setup;
}

using Faults = std::function<void(Setup&)>;

void check_alike(MethodKind method, const Faults& faults) {
  for (const bool elastic : {true, false}) {
    CAPTURE(elastic);
    Setup one = with_method(MethodKind::kDataParallel, elastic);
    Setup other = with_method(method, elastic);
    faults(one);
    faults(other);
    CHECK(course(live(one)) == course(live(other)));
  }
}

void chip(Setup& setup) {
  setup.kill(TargetKind::kChip, "a/slice-1", 10'500 * kMillisecond, 6'250 * kMillisecond);
}
void all_slices(Setup& setup) {
  for (const char* slice : {"a/slice-1", "a/slice-2", "b/slice-1", "b/slice-2"}) {
    setup.kill(TargetKind::kSlice, slice, 10'500 * kMillisecond, 6'250 * kMillisecond);
  }
}
void hits_in_a_row(Setup& setup) {
  chip(setup);
  setup.kill(TargetKind::kSlice, "b/slice-1", 12 * kSecond, 9'250 * kMillisecond);
  setup.kill(TargetKind::kChip, "a/slice-2", 30'250 * kMillisecond, 3'125 * kMillisecond);
}
void one_island(Setup& setup) {
  setup.kill(TargetKind::kIsland, "b", 10'500 * kMillisecond, 6'250 * kMillisecond);
}
void both_islands(Setup& setup) {
  setup.kill(TargetKind::kIsland, "a", 10'500 * kMillisecond, 6'250 * kMillisecond);
  setup.kill(TargetKind::kIsland, "b", 10'500 * kMillisecond, 9'250 * kMillisecond);
}

TEST_CASE("one learner: DiLoCo steps like data parallel through every fault", "[methods]") {
  for (const Faults& faults : {Faults(chip), Faults(all_slices), Faults(hits_in_a_row),
                               Faults(one_island), Faults(both_islands)}) {
    check_alike(MethodKind::kDiloco, faults);
  }
}

// Without merges: what a learner holds is simulated where fragments are.
TEST_CASE("one learner: Decoupled DiLoCo steps like data parallel", "[methods]") {
  for (const Faults& faults :
       {Faults(chip), Faults(all_slices), Faults(hits_in_a_row), Faults(one_island)}) {
    check_alike(MethodKind::kDecoupledDiloco, faults);
  }
}

}  // namespace
}  // namespace sim::methods
