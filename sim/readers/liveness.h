// sim/readers/liveness.h: once all faults have healed, everybody is in merges again within a bound.
//
// Eventually: from the last fault that began or healed on, and as long as none that will heal is open,
// every learner that is up and can talk to the others has a part in a merge (where nothing is merged: does
// a step) at least once in every `bound`, and so does every fragment. Faults for good stay open: whoever
// they keep away is not asked for. What exceeds the bound is told, with who waits, since when, for what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/tape/reader.h"
#include "sim/tape/run_shape.h"

namespace sim::readers {

using base::Nanoseconds;

struct LivenessOptions {
  Nanoseconds bound = base::kNever;         // kNever: nothing is asked
  bool merges = false;                      // learners are asked for merges; else for steps
  std::uint32_t quorum = 1;                 // K
  bool elastic = true;                      // goes on with some of its slices
  std::optional<std::uint16_t> center;      // region of the one syncer
};

struct Stall {
  std::string who;         // "learner west/2", "fragment 3"
  Nanoseconds since;       // its last merge, or when the faults had healed
  Nanoseconds until;       // its next merge; kNever: none came
  std::string waits_for;   // what the learner did when the bound was over
};

class Liveness : public tape::Reader {
 public:
  // The shape outlives the reader.
  Liveness(const tape::RunShape& shape, const LivenessOptions& options);

  void on(const tape::Fact& fact) override;

  // In the order in which the bound was over.
  const std::vector<Stall>& stalls() const { return stalls_; }
  Nanoseconds bound() const { return options_.bound; }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Watched {
    Nanoseconds last = 0;        // merge or step
    std::size_t stall = kNone;   // open, in stalls_
  };
  struct Fault {
    std::uint32_t fault;
    tape::FaultStarted what;
  };

  void on_fault(const tape::FaultStarted& fault);
  void on_fault_end(std::uint32_t fault);
  void on_merge(const tape::FragmentMerged& merged);
  void alive(Watched& watched);
  void judge();
  void judge(Watched& watched, const std::string& who, const std::string& waits_for,
             Nanoseconds bound);
  std::vector<bool> asked_learners() const;
  std::vector<std::size_t> components() const;
  bool is_up(std::size_t learner) const;
  Nanoseconds stretched_bound() const;

  const tape::RunShape& shape_;
  LivenessOptions options_;
  std::vector<Watched> learners_, fragments_;
  std::vector<tape::Activity> activities_;  // (learners)
  std::vector<bool> slice_failed_;
  std::vector<Fault> open_;                 // faults
  Nanoseconds quiet_since_ = 0, next_look_ = 0, now_ = 0;
  std::vector<Stall> stalls_;
};

// "wait for a merge" and so on, for people.
std::string_view activity_in_words(tape::Activity activity);

}  // namespace sim::readers
