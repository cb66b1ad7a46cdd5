// tests/readers/hand_written_run.h: small shapes and tapes that a person can add up.
#pragma once

#include <random>
#include <vector>

#include "sim/tape/reader.h"
#include "sim/tape/run_shape.h"

namespace sim::readers::hand {

using namespace sim::tape;

constexpr Nanoseconds operator""_s(unsigned long long seconds) {
  return static_cast<Nanoseconds>(seconds) * base::kSecond;
}

// Learner 0 has slices 0 and 1 (2 chips each) in west, learner 1 slice 2 (4 chips) in east; slice 3
// (2 chips) is unused. Two fragments of 100 and 300 parameters.
inline RunShape two_learners() {
  RunShape shape;
  shape.regions = {"west", "east"};
  shape.islands = {"a", "b"};
  shape.links = {{0, 1, 1e9, 10 * base::kMillisecond}};
  shape.slices = {{"a/slice-0", 0, 0, 0, 2, 0, 2, 50},
                  {"a/slice-1", 0, 0, 0, 2, 2, 2, 50},
                  {"b/slice-0", 1, 1, 1, 4, 4, 4, 100},
                  {"b/slice-1", 1, 1, kNoLearner, 2, 0, 0, 0}};
  shape.learners = {{"a", 0, {0, 1}, 4}, {"b", 1, {2}, 4}};
  shape.fragment_parameters = {100, 300};
  shape.chips = 10;
  shape.slots = 8;
  shape.batch_tokens = 200;
  shape.native_tokens_per_s = 30;  // learner 0 at 100 tokens in 10 s, learner 1 in 5 s
  shape.nominal_step = 10_s;
  return shape;
}

// One learner on one slice of 4 chips; its own parameters are the global model.
inline RunShape data_parallel() {
  RunShape shape;
  shape.regions = {"west"};
  shape.islands = {"a"};
  shape.slices = {{"a/slice-0", 0, 0, 0, 4, 0, 4, 100}};
  shape.learners = {{"a", 0, {0}, 4}};
  shape.fragment_parameters = {400};
  shape.chips = 4;
  shape.slots = 4;
  shape.batch_tokens = 100;
  shape.native_tokens_per_s = 100;
  shape.nominal_step = 1_s;
  shape.model_is_learner = true;
  shape.may_roll_back = true;
  return shape;
}

// Steps of one learner in its first life: computation takes 8 of 10 parts of the period.
inline StepsDone steps(std::uint16_t learner, std::uint32_t first, std::uint32_t count,
                       Nanoseconds start, Nanoseconds period, std::uint32_t tokens = 100,
                       std::uint16_t incarnation = 1) {
  return {start, period, period / 10 * 8, first, count, tokens, first, learner, incarnation};
}

inline FragmentTaken taken(std::uint32_t sync, std::uint16_t learner, std::uint16_t fragment,
                           std::uint16_t incarnation = 1) {
  return {0, 0, sync, 0, 0, learner, incarnation, fragment};
}

inline FragmentMerged merged(std::uint32_t sync, std::uint16_t fragment, std::uint32_t version,
                             const std::vector<Contributor>& from, std::uint16_t epoch = 0) {
  return {from.data(), 0, static_cast<std::uint32_t>(from.size()), sync, version, version, fragment,
          epoch};
}

inline FragmentAdopted adopted(std::uint32_t sync, std::uint32_t version, std::uint16_t learner,
                               std::uint16_t fragment, std::uint32_t lag_steps = 0,
                               std::uint16_t incarnation = 1) {
  return {sync, version, 0, lag_steps, learner, incarnation, fragment, 0};
}

inline void play(const std::vector<Fact>& facts, Reader& reader) {
  for (const Fact& fact : facts) reader.on(fact);
}

// The same tape with every stretch of steps cut at random places.
inline std::vector<Fact> cut_at_random(const std::vector<Fact>& facts, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<Fact> result;
  for (const Fact& fact : facts) {
    if (fact.kind != Kind::kStepsDone) {
      result.push_back(fact);
      continue;
    }
    StepsDone rest = fact.steps_done;
    while (rest.count > 0) {
      StepsDone piece = rest;
      piece.count = 1 + static_cast<std::uint32_t>(rng() % rest.count);
      result.emplace_back(fact.at, piece);
      rest.start += piece.period * piece.count;
      rest.first_step += piece.count;
      rest.schedule_step += piece.count;
      rest.count -= piece.count;
    }
  }
  return result;
}

// Learner 0 loses slice 1 at 25 s in its third step, goes on without it and takes it back at 45 s;
// learner 1 steps all the time; the run ends at 50 s.
inline std::vector<Fact> lost_and_found() {
  return {
      {0_s, ActivityChanged{0, Activity::kStepping}},
      {0_s, ActivityChanged{1, Activity::kStepping}},
      {25_s, steps(0, 1, 2, 0_s, 10_s)},
      {25_s, SliceChanged{1, SliceState::kFailed}},
      {25_s, ActivityChanged{0, Activity::kDetecting}},
      {30_s, ActivityChanged{0, Activity::kDownscaling}},
      {32_s, ActivityChanged{0, Activity::kStepping}},
      {40_s, SliceChanged{1, SliceState::kWaiting}},
      {42_s, steps(0, 3, 1, 32_s, 10_s, 50)},
      {42_s, ActivityChanged{0, Activity::kUpscaling}},
      {45_s, SliceChanged{1, SliceState::kJoined}},
      {45_s, ActivityChanged{0, Activity::kStepping}},
      {50_s, steps(1, 1, 10, 0_s, 5_s)},
      {50_s, RunEnded{0}},
  };
}

// Data parallel: steps 1-4, a checkpoint of step 4, steps 5-7, and at 10 s back to step 4; then 5-6.
inline std::vector<Fact> rolled_back_run() {
  return {
      {0_s, ActivityChanged{0, Activity::kStepping}},
      {4_s, steps(0, 1, 4, 0_s, 1_s)},
      {4_s, ActivityChanged{0, Activity::kSavingCheckpoint}},
      {5_s, CheckpointSaved{4, 0}},
      {5_s, ActivityChanged{0, Activity::kStepping}},
      {8_s, steps(0, 5, 3, 5_s, 1_s)},
      {8_s, ActivityChanged{0, Activity::kLoadingCheckpoint}},
      {10_s, RolledBack{4, 0, 2}},
      {10_s, ActivityChanged{0, Activity::kStepping}},
      {12_s, steps(0, 5, 2, 10_s, 1_s, 100, 2)},
      {12_s, RunEnded{0}},
  };
}

}  // namespace sim::readers::hand
