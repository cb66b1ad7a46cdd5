// tests/trainer/tape_fixture.h: hand-written tapes, small shapes and options for the trainer's tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "optim/aligned_block.h"
#include "sim/tape/fact.h"
#include "sim/tape/run_shape.h"
#include "sim/trainer/trainer.h"

namespace sim::trainer {

// M learners of `slices` slices each, `slots` slots per slice in order, P fragments.
inline tape::RunShape make_shape(std::uint16_t learners, std::uint32_t slices, std::uint32_t slots,
                                 std::size_t fragments) {
  tape::RunShape shape;
  shape.regions = {"here"};
  for (std::uint16_t m = 0; m < learners; ++m) {
    shape.learners.push_back({"learner-" + std::to_string(m), 0, {}, 4});
    for (std::uint32_t s = 0; s < slices; ++s) {
      const auto slice = static_cast<std::uint32_t>(shape.slices.size());
      shape.learners.back().slices.push_back(slice);
      shape.slices.push_back({"slice-" + std::to_string(slice), m, 0, m, 1, slice * slots, slots,
                              std::uint64_t{1000} * slots});
    }
  }
  shape.slots = learners * slices * slots;
  shape.batch_tokens = std::uint64_t{1000} * shape.slots;
  shape.fragment_parameters.assign(fragments, 1000);
  return shape;
}

// A multilayer perceptron on a teacher's labels: 8 x 16, 16 x 4 and two biases, AdamW inside,
// Nesterov outside, plain average, adoption without mixing, one thread.
inline TrainerOptions make_options(const tape::RunShape& shape) {
  TrainerOptions options{};
  options.learning.model = {optim::ModelKind::kMlp, 8, 4, 16, 1, 1.0};
  options.learning.task = {optim::TaskKind::kTeacher, 8, 4, 1, 0.1, 1.0, 64};
  options.learning.batch = static_cast<std::int64_t>(shape.slots);
  options.learning.schedule = {optim::ScheduleKind::kConstant, 5000.0, 1e9, 0.1, 0.2};
  options.inner = {optim::InnerKind::kAdamW, 0.02, 0.9, 0.99, 1e-8, 0.01, 1.0};
  options.outer = {optim::OuterKind::kNesterov, 0.7, 0.9};
  options.merge = {optim::MergeKind::kAverage, optim::RdaGranularity::kTensor};
  options.mixing = 0;
  options.seed = 7;
  options.threads = 1;
  return options;
}

inline TrainerOptions with_threads(TrainerOptions options, std::size_t threads) {
  options.threads = threads;
  return options;
}

// 0 .. count - 1, for loops over learners or fragments.
inline std::vector<std::uint16_t> indices(std::uint16_t count) {
  std::vector<std::uint16_t> list;
  for (std::uint16_t i = 0; i < count; ++i) list.push_back(i);
  return list;
}

// Facts in the order written, one nanosecond apart. Steps are numbered from 0 and a learner's
// schedule goes with its steps.
class HandTape {
 public:
  void steps(std::uint16_t learner, std::uint32_t first_step, std::uint32_t count = 1) {
    tape::StepsDone fact{};
    fact.period = 1;
    fact.first_step = first_step;
    fact.schedule_step = first_step;
    fact.count = count;
    fact.learner = learner;
    add(fact);
  }
  void slice(std::uint32_t index, tape::SliceState state) { add(tape::SliceChanged{index, state}); }
  void take(std::uint32_t sync, std::uint16_t fragment, std::uint16_t learner) {
    tape::FragmentTaken fact{};
    fact.sync = sync;
    fact.learner = learner;
    fact.fragment = fragment;
    add(fact);
  }
  // Equal weights.
  void merge(std::uint32_t sync, std::uint16_t fragment,
             std::initializer_list<std::uint16_t> learners) {
    std::vector<tape::Contributor>& list = contributors_.emplace_back();
    for (const std::uint16_t learner : learners) list.push_back({1.0, learner, 0});
    merge_weighted(sync, fragment, list);
  }
  void merge(std::uint32_t sync, std::uint16_t fragment, std::vector<tape::Contributor> weighted) {
    merge_weighted(sync, fragment, contributors_.emplace_back(std::move(weighted)));
  }
  void lose(std::uint32_t sync, std::uint16_t fragment, std::uint16_t learner) {
    add(tape::FragmentLost{sync, learner, fragment, tape::LossReason::kLearnerDied});
  }
  void adopt(std::uint32_t sync, std::uint16_t fragment, std::uint16_t learner) {
    tape::FragmentAdopted fact{};
    fact.sync = sync;
    fact.learner = learner;
    fact.fragment = fragment;
    add(fact);
  }
  void send(std::uint32_t transfer, std::uint16_t donor, std::uint16_t receiver) {
    add(tape::StateSent{transfer, donor, receiver});
  }
  void copy(std::uint32_t transfer, std::uint16_t donor, std::uint16_t receiver) {
    add(tape::StateCopied{transfer, 0, donor, receiver, 1});
  }
  void save(std::uint16_t learner, std::uint32_t step) { add(tape::CheckpointSaved{step, learner}); }
  void roll_back(std::uint16_t learner, std::uint32_t to_step) {
    add(tape::RolledBack{to_step, learner, 1});
  }
  void restore(std::uint16_t learner) { add(tape::GlobalRestored{learner, 1}); }
  void evaluate(std::uint64_t tokens) { add(tape::EvaluationDue{tokens, 0}); }
  void mark(std::uint64_t tokens) { add(tape::MarkReached{tokens, tape::MarkKind::kTokens}); }
  void end(std::uint64_t tokens) { add(tape::RunEnded{tokens}); }
  template <typename F>
  void add(const F& fact) {
    facts.emplace_back(static_cast<base::Nanoseconds>(facts.size()), fact);
  }

  std::vector<tape::Fact> facts;

 private:
  void merge_weighted(std::uint32_t sync, std::uint16_t fragment,
                      const std::vector<tape::Contributor>& list) {
    tape::FragmentMerged fact{};
    fact.contributors = list.data();
    fact.contributor_count = static_cast<std::uint32_t>(list.size());
    fact.sync = sync;
    fact.version = sync;
    fact.fragment = fragment;
    add(fact);
  }
  std::deque<std::vector<tape::Contributor>> contributors_;  // facts point into it
};

inline void play(const HandTape& tape, Trainer& trainer) {
  for (const tape::Fact& fact : tape.facts) trainer.on(fact);
}

inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

inline bool same_bits(const LearnerState& a, const LearnerState& b) {
  return same_bits(a.parameters.span(), b.parameters.span()) &&
         same_bits(a.inner.first.span(), b.inner.first.span()) &&
         same_bits(a.inner.second.span(), b.inner.second.span()) &&
         a.inner.updates == b.inner.updates;
}

// Global parameters first, then every learner's.
inline std::vector<LearnerState> everything(Trainer& trainer, std::uint16_t learners) {
  std::vector<LearnerState> all(1);
  all[0].parameters = trainer.global_parameters();
  for (std::uint16_t m = 0; m < learners; ++m) all.push_back(trainer.learner(m));
  return all;
}

inline bool same_bits(const std::vector<LearnerState>& a, const std::vector<LearnerState>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same_bits(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace sim::trainer
