// sim/readers/vector_clocks.h: what every worker knows of every other worker's progress.
//
// Workers are the M learners and the syncer. Each holds its own step and the last known step of every
// other; every message carries the sender's clock and the receiver takes the larger of each entry:
//   FragmentTaken -> FragmentMerged      learner to syncer
//   FragmentMerged -> FragmentAdopted    syncer, as of that merge, to learner
//   StateSent -> StateCopied             donor (or syncer) to receiver
//   GlobalRestored                       learner to syncer
// The per-step reports are not on the tape, so a worker really knows a little more than this.
// Source: arXiv:2604.21428, section 4. The paper's channels are FIFO. Ours are for one fragment only:
// messages of one channel share links as flows, and a small fragment may arrive before a larger one
// that was sent earlier; that is counted, and within a fragment it is a violation.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "sim/tape/reader.h"
#include "sim/tape/run_shape.h"

namespace sim::readers {

using base::Nanoseconds;

struct Watermark {
  std::uint32_t step = 0;          // no live worker knows of a live worker that is before it
  std::uint32_t live_workers = 0;  // of which all is counted; the syncer is one
};

// Checked on every tape, O(M) for each message:
//   - a worker's own entry never decreases within an incarnation, the syncer's within an epoch;
//   - a message is received only after it was sent;
//   - versions of one fragment reach a learner in the order of their merges.
class VectorClocks : public tape::Reader {
 public:
  // With more than 256 learners, or where the global model is a learner's own, nothing is kept: M
  // clocks of M entries would cost more than the run.
  explicit VectorClocks(const tape::RunShape& shape);

  void on(const tape::Fact& fact) override;

  // Worker M is the syncer. Requires: workers below worker_count(); else std::out_of_range.
  std::uint32_t known(std::size_t worker, std::size_t of) const { return clocks_.at(worker).at(of); }
  std::size_t worker_count() const { return clocks_.size(); }

  // The oldest step that all live workers know of each other: what every one of them has seen the
  // others pass. Older log entries and versions can be collected.
  Watermark watermark() const;

  // Broadcasts and takes that a later one on the same channel overtook.
  std::uint64_t overtaken_broadcasts() const { return overtaken_broadcasts_; }
  std::uint64_t overtaken_takes() const { return overtaken_takes_; }

  // The first 20, in tape order, each with its date.
  const std::vector<std::string>& violations() const { return violations_; }
  std::uint64_t violation_count() const { return violation_count_; }

 private:
  using Clock = std::vector<std::uint32_t>;  // (M + 1)
  struct Version {
    std::uint32_t sync;
    std::uint64_t merge;  // counts the merges of the run, from 1
    Clock clock;          // the syncer's
  };
  struct Take {
    std::uint32_t sync;
    std::uint16_t learner;
    std::uint64_t number;  // counts the takes of the run, from 1
    Clock clock;           // the learner's
  };
  struct Fragment {
    std::vector<Take> takes;             // open
    std::deque<Version> versions;        // ascending by merge; the oldest may be forgotten
    std::vector<std::uint64_t> adopted;  // (M); newest merge that this life of a learner adopted
    bool forgot = false;
  };

  std::size_t syncer() const { return clocks_.size() - 1; }
  void on_steps(const tape::StepsDone& steps);
  void on_taken(const tape::FragmentTaken& taken);
  void on_merged(const tape::FragmentMerged& merged);
  void on_lost(const tape::FragmentLost& lost);
  void on_adopted(const tape::FragmentAdopted& adopted);
  void on_copied(const tape::StateCopied& copied);
  void on_new_life(std::uint16_t learner, std::uint32_t step);
  void receive(std::size_t worker, const Clock& carried);
  void violation(const std::string& text);
  void forget_old(Fragment& fragment);
  Clock copy_of(std::size_t worker);

  std::vector<Clock> clocks_;  // (M + 1); empty: nothing is kept
  std::vector<Clock> spare_;   // no longer in use, so that messages need no new memory
  std::vector<bool> live_;     // (M)
  std::vector<Fragment> fragments_;
  std::map<std::uint32_t, Clock> states_;  // sent, by transfer
  std::vector<std::uint64_t> newest_take_, newest_adopted_;  // (M), received
  std::uint64_t take_count_ = 0, merge_count_ = 0;
  std::uint64_t overtaken_broadcasts_ = 0, overtaken_takes_ = 0;
  Nanoseconds now_ = 0;
  std::vector<std::string> violations_;
  std::uint64_t violation_count_ = 0;
};

}  // namespace sim::readers
