// sim/readers/token_ledger.h: what became of every token, per fragment, in integers (law 5).
//
//   processed = merged + overwritten + discarded (by reason) + rolled back + in flight
//
// A step's tokens go into every fragment of the learner. There they are pending until
//   - FragmentTaken carries them off for a merge: FragmentMerged makes them merged; FragmentLost gives
//     them back (the learner still holds that work), or discards them if that life has ended;
//   - FragmentAdopted puts a global version over them: overwritten if the learner contributed to the
//     merge (these are the tokens between take and adoption); if it did not, its work on that fragment
//     is replaced without ever being merged, and is discarded. Of either, the share that mixing keeps
//     (rounded down) is still in the learner's parameters and stays pending. Takes for a later merge
//     that are under way at an adoption stay what they are: they were read before it;
//   - StateCopied puts a peer's parameters over the whole learner: discarded;
//   - RolledBack undoes the steps: rolled back, as far as they are still pending;
//   - GlobalRestored takes the learner's parameters as the global ones: merged. From a checkpoint: what
//     was merged or overwritten since it was saved is rolled back.
// Two numbers of a run follow, both weighted by fragment size:
//   merged_tokens     what reached the global model: the numerator of goodput.token. A fleet cannot win it
//                     by steps whose work is thrown away, nor by steps that nobody has merged yet.
//   consumed_tokens   processed, neither discarded nor rolled back = merged + overwritten + in flight: what
//                     papers count, and so what marks, evaluations and axes use. Work under way counts,
//                     as it does for data parallel; it leaves the count when it is lost.
// Where every step is merged as it is done (data parallel; M = 1 and tau = 0 at each merge) they agree.
//
// Counted at once (data parallel, whose global model is the learner itself, and runs that simulate no
// merges), a step is merged when it is done and a rollback takes that back.
//
// A step costs O(1), whatever the number of fragments: each learner has one running total, and each
// (learner, fragment) the value of it up to which tokens are settled or taken.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "sim/tape/reader.h"
#include "sim/tape/run_shape.h"

namespace sim::readers {

__extension__ using WeightedTokens = unsigned __int128;  // tokens times parameters

enum class DiscardReason : std::uint8_t { kLearnerDied, kNotInQuorum };
constexpr int kDiscardReasonCount = static_cast<int>(DiscardReason::kNotInQuorum) + 1;
std::string_view discard_reason_name(DiscardReason reason);

// Nominal tokens; of one fragment, or of the model (weighted by fragment size and rounded so that the
// sum still closes: `in_flight` takes the rounding).
struct TokenTotals {
  std::uint64_t processed = 0;
  std::uint64_t merged = 0;
  std::uint64_t overwritten = 0;
  std::array<std::uint64_t, kDiscardReasonCount> discarded{};
  std::uint64_t rolled_back = 0;
  std::uint64_t in_flight = 0;
};

enum class TokenCounting : std::uint8_t { kAtMerge, kAtOnce };

class TokenLedger : public tape::Reader {
 public:
  // The shape outlives the ledger. Counted at once when the shape's model is the learner.
  explicit TokenLedger(const tape::RunShape& shape);
  // Mixing: alpha, the weight of the local value at an adoption, in [0, 1].
  TokenLedger(const tape::RunShape& shape, TokenCounting counting, double mixing = 0);

  // Throws std::logic_error for a merge, loss or take that contradicts the takes before it.
  void on(const tape::Fact& fact) override;

  // Merged into the global model, and consumed by the run (see above); weighted by fragment size, rounded
  // to the nearest. O(1).
  std::uint64_t merged_tokens() const { return weighed(merged_); }
  std::uint64_t consumed_tokens() const { return weighed(consumed_); }
  // Tokens that the learner has computed, whatever became of them. O(1).
  std::uint64_t processed_by(std::uint16_t learner) const { return learners_.at(learner).processed; }

  TokenTotals fragment(std::uint16_t fragment) const;
  TokenTotals model() const;
  std::size_t fragment_count() const { return sizes_.size(); }

  // Throws std::logic_error unless law 5 holds for every fragment.
  void check_closed() const;

 private:
  struct Learner {
    std::uint64_t processed = 0;
    std::uint32_t lives = 0;  // begun since the start, the first not counted
  };
  // Of one learner's fragment.
  struct Held {
    std::uint64_t settled = 0;  // pending = processed of the learner - settled
    // The last two merges that this learner contributed to, newest first.
    std::uint32_t merge = kNone, merge_before = kNone;
  };
  struct Take {
    std::uint32_t sync;
    std::uint16_t learner;
    std::uint32_t life;
    std::uint64_t tokens;
  };
  struct KeptTokens {
    std::uint64_t merged, overwritten;
  };
  struct Fragment {
    std::uint64_t merged = 0, overwritten = 0, rolled_back = 0;
    std::uint64_t saved_merged = 0, saved_overwritten = 0;  // in the last global checkpoint
    std::array<std::uint64_t, kDiscardReasonCount> discarded{};
    std::vector<Take> takes;  // open
    std::map<std::uint16_t, KeptTokens> kept;  // of older versions, by the shard that keeps one
  };
  struct Stretch {  // of steps that a rollback would undo
    std::uint32_t first_step, count, tokens;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  Held& held(std::uint16_t learner, std::size_t fragment);
  std::uint64_t pending(const Held& held, std::uint16_t learner) const {
    return learners_[learner].processed - held.settled;
  }
  void on_steps(const tape::StepsDone& steps);
  void on_taken(const tape::FragmentTaken& taken);
  void on_merged(const tape::FragmentMerged& merged);
  void on_lost(const tape::FragmentLost& lost);
  void on_adopted(const tape::FragmentAdopted& adopted);
  void on_copied(const tape::StateCopied& copied);
  void on_checkpoint(const tape::CheckpointSaved& saved);
  void on_rollback(const tape::RolledBack& rollback);
  void on_restored(const tape::GlobalRestored& restored);
  void on_gone_back(const tape::FragmentRestored& restored);
  void save_global();
  void restore_saved();
  void go_back(std::size_t fragment, std::uint64_t merged, std::uint64_t overwritten);
  void keep(const tape::StepsDone& steps);
  std::uint64_t undo_kept(std::uint16_t learner, std::uint32_t to_step);
  // Removes the open take and returns it.
  Take close_take(std::uint16_t fragment, std::uint32_t sync, std::uint16_t learner);
  std::uint64_t weighed(WeightedTokens tokens) const;
  void merge(std::size_t fragment, std::uint64_t tokens);
  void discard(std::size_t fragment, DiscardReason reason, std::uint64_t tokens);
  void roll_back(std::size_t fragment, std::uint64_t tokens);

  bool may_roll_back_;
  bool at_once_;
  double mixing_;
  std::vector<std::uint64_t> sizes_;  // parameters per fragment, (P); one of size 1 if none is given
  std::uint64_t size_total_ = 0;
  std::vector<Learner> learners_;
  std::vector<Held> held_;  // (M, P)
  std::vector<Fragment> fragments_;
  std::vector<std::vector<Stretch>> kept_;  // per learner
  WeightedTokens merged_ = 0, consumed_ = 0;
};

}  // namespace sim::readers
