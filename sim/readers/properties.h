// sim/readers/properties.h: what must hold on every tape (law 6 and friends), checked while it grows.
//
// Always:
//   - time does not go back;
//   - a version of a fragment is merged once, and versions of one epoch only grow; epochs only grow;
//   - each contribution is an open take of that very merge, by a life that goes on;
//   - a merge has at least the quorum of contributors;
//   - a version is adopted only after it was merged, and never below the version that this life of
//     the learner holds;
//   - a fragment goes back to a version only if a shard keeps that very one;
//   - what closes was open (takes, transfers, states, faults), and nothing is opened twice;
//   - steps of a learner do not overlap in time, are not told before they end, and are numbered
//     upwards: within a life a step is done once;
//   - lives are counted upwards, and steps belong to the present one.
// A breach is kept as text with its date and fact number; it does not throw, so that a chaos run can
// report all of them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/tape/reader.h"
#include "sim/tape/run_shape.h"

namespace sim::readers {

using base::Nanoseconds;

// Things that a long run with faults should meet at least once; counted, never required here.
struct Sometimes {
  std::uint64_t new_lives = 0;
  std::uint64_t merges_by_new_lives = 0;   // first contribution after a recovery
  std::uint64_t merges_below_full = 0;     // with fewer contributors than learners
  std::uint64_t lost_takes = 0;
  std::uint64_t rollbacks = 0;
  std::uint64_t global_restores = 0;
  std::uint64_t broken_transfers = 0;
};

class Properties : public tape::Reader {
 public:
  // quorum: contributors that every merge needs (K).
  Properties(const tape::RunShape& shape, std::uint32_t quorum);

  void on(const tape::Fact& fact) override;

  // The first 100, in tape order: "fact 17 at 3.500000000 s: ...".
  const std::vector<std::string>& violations() const { return violations_; }
  std::uint64_t violation_count() const { return violation_count_; }
  const Sometimes& sometimes() const { return sometimes_; }

 private:
  struct Learner {
    Nanoseconds stepped_until = 0;
    std::uint32_t last_step = 0;
    std::uint32_t life = 1;
    bool recovered = false;  // has a new life and no contribution since
  };
  struct Held {  // by the present life of a learner, of one fragment
    std::uint32_t epoch = 0, version = 0;
  };
  struct Take {
    std::uint32_t sync;
    std::uint16_t learner, incarnation;
  };
  struct Fragment {
    std::uint32_t epoch = 0, version = 0;  // last merged; version 0: none in this epoch
    std::vector<Take> takes;
    std::map<std::uint16_t, std::uint32_t> kept;  // older versions of this epoch, by shard
  };

  void violation(std::string text);
  void on_steps(const tape::StepsDone& steps, Nanoseconds now);
  void on_taken(const tape::FragmentTaken& taken);
  void on_merged(const tape::FragmentMerged& merged);
  void check_contributor(const tape::FragmentMerged& merged, const tape::Contributor& contributor);
  void on_lost(const tape::FragmentLost& lost);
  void on_adopted(const tape::FragmentAdopted& adopted);
  void on_new_life(std::uint16_t learner, std::uint32_t incarnation, std::uint32_t step);
  void on_restored(const tape::GlobalRestored& restored);
  void on_kept(const tape::FragmentKept& kept);
  void on_dropped(const tape::FragmentDropped& dropped);
  void on_gone_back(const tape::FragmentRestored& restored);
  void open(std::set<std::uint32_t>& set, std::uint32_t id, const char* what);
  void close(std::set<std::uint32_t>& set, std::uint32_t id, const char* what);
  bool close_take(std::uint16_t fragment, std::uint32_t sync, std::uint16_t learner, Take& take);

  const tape::RunShape& shape_;
  std::uint32_t quorum_;
  std::vector<Learner> learners_;
  std::vector<Held> held_;  // (M, P)
  std::vector<Fragment> fragments_;
  std::set<std::uint32_t> transfers_, states_, faults_;  // open
  Nanoseconds now_ = 0;
  std::uint64_t fact_number_ = 0;
  std::vector<std::string> violations_;
  std::uint64_t violation_count_ = 0;
  Sometimes sometimes_;
};

}  // namespace sim::readers
