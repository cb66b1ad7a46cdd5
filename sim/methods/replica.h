// sim/methods/replica.h: one learner whose fragments are merged, as the world sees it: no tensors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "sim/methods/elastic_job.h"

namespace sim::methods {

// A merged fragment on its way to a learner.
struct Broadcast {
  std::uint32_t sync = 0, version = 0, step = 0;  // step: the syncer's
  std::uint16_t fragment = 0, epoch = 0;
  std::uint32_t snapshot = 0;  // the newest one begun before the merge; 0: none
};

struct Replica {
  Replica(World& world, std::uint16_t learner, std::size_t fragments)
      : job(world, learner), arrival(world.conductor), counters(fragments) {}

  // What the learner knows of one fragment.
  struct FragmentCounter {
    std::uint32_t held_version = 0;
    std::uint64_t steps_at_receipt = 0, tokens_at_receipt = 0;
    std::uint32_t taken_sync = UINT32_MAX;  // the last sync that took it ...
    std::uint32_t taken_step = 0;           // ... and the learner's step then
    // Has received a version of its own in this life; until then it takes part without a say where
    // learners meet at barriers.
    bool anchored = true;
    // Newest global step whose sync of this fragment is over for this learner: arrived or given up.
    std::uint32_t settled_step = 0;
  };

  ElasticJob job;
  engine::Signal arrival;          // a broadcast came, or a sync was given up
  std::vector<FragmentCounter> counters;  // (P)
  std::vector<Broadcast> inbox;    // arrived, not yet adopted
  bool has_state = true;           // false: must copy a peer before it can step
  bool listening = true;           // broadcasts reach it
  std::uint32_t checkpoints = 0;   // global checkpoints that it has helped to save
  std::uint32_t arrived_step = 0;  // newest step at whose barriers it was counted in
  std::uint32_t listening_number = 0;  // times it began to listen; what was meant for one is not for the next
  bool out = false;                // too few slices left to go on
  Nanoseconds out_since = 0;

  // Its newest report that the syncer has not consumed; `heard`: nor merged anything since.
  bool reported = false;
  bool reported_again = false;  // the next step's came before that was consumed
  bool heard = false;
  std::uint32_t reported_step = 0;
  Nanoseconds reported_at = 0;

  // The recovery under way, if any.
  bool copying = false;
  std::uint32_t transfer = 0;
  std::uint16_t donor = tape::kNoLearner;

  std::uint64_t counted_steps(std::size_t p) const {
    return job.total_steps() - counters[p].steps_at_receipt;
  }
  std::uint64_t counted_tokens(std::size_t p) const {
    return job.total_tokens() - counters[p].tokens_at_receipt;
  }
  void reset_counters(std::size_t p) {
    counters[p].steps_at_receipt = job.total_steps();
    counters[p].tokens_at_receipt = job.total_tokens();
  }
  // A sync may end after a later one was given up: the newest counts.
  void settle(std::size_t p, std::uint32_t step) {
    counters[p].settled_step = std::max(counters[p].settled_step, step);
    arrival.notify();
  }
  bool can_contribute() const { return has_state && !out; }
  // Says that the learner takes the version over, unless it holds that or a newer one.
  void adopt(World& world, const Broadcast& broadcast);
};

using Replicas = std::vector<std::unique_ptr<Replica>>;

Replicas make_replicas(World& world);
// The furthest step that any of them finished.
std::uint32_t newest_step(const Replicas& replicas);
// Of each learner that has some of `slices`: those slices.
std::map<std::uint16_t, std::vector<std::uint32_t>> by_learner(
    const tape::RunShape& shape, std::span<const std::uint32_t> slices);

}  // namespace sim::methods
