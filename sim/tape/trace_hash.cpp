// sim/tape/trace_hash.cpp: see trace_hash.h for what two equal hashes mean.
#include "sim/tape/trace_hash.h"

#include <bit>
#include <stdexcept>

namespace sim::tape {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kPrime = (1ull << 61) - 1;
constexpr std::uint64_t kBase = 0x1b3c6ef372fe94f8ull % kPrime;  // x of the polynomial

// One coefficient per field of a step: the first words of a splitmix64 sequence, below the prime.
constexpr std::uint64_t kCoefficients[] = {
    0x0220a8397b1dcdafull, 0x0e789e6aa1b965f4ull, 0x06c45d188009454full, 0x1b81e3ea92d2ea83ull,
    0x0ba4b2f2b5e9d6c1ull, 0x154a1a6fbb93e7b1ull, 0x03c9d5e7f1a2b4d9ull};

std::uint64_t reduce(Wide x) {
  const auto low = static_cast<std::uint64_t>(x & kPrime);
  const auto high = static_cast<std::uint64_t>((x >> 61) % kPrime);
  const std::uint64_t sum = low + high;
  return sum >= kPrime ? sum - kPrime : sum;
}

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) { return reduce(Wide{a} * b); }

std::uint64_t add(std::uint64_t a, std::uint64_t b) { return reduce(Wide{a} + b); }

std::uint64_t field(std::size_t index, std::uint64_t value) {
  return multiply(kCoefficients[index], value % kPrime);
}

// What n steps do to a hash: hash -> hash * power + sum, and to the index of the next step.
//
//   sum(n) = sum over i < n of x^(n - 1 - i) * (first + i * growth)
//
// With ones(n) = sum of x^(n - 1 - i) and ramp(n) = sum of i * x^(n - 1 - i) this is
// first * ones + growth * ramp, and joining a block of a and a block of b steps gives
//   power = power_a * power_b, ones = ones_a * power_b + ones_b,
//   ramp = ramp_a * power_b + ramp_b + a * ones_b.
struct Block {
  std::uint64_t steps, power, ones, ramp;
};

Block join(const Block& a, const Block& b) {
  return {a.steps + b.steps, multiply(a.power, b.power),
          add(multiply(a.ones, b.power), b.ones),
          add(add(multiply(a.ramp, b.power), b.ramp), multiply(a.steps, b.ones))};
}

Block block_of(std::uint32_t count) {
  Block result{0, 1, 0, 0};
  Block square{1, kBase, 1, 0};
  for (std::uint32_t rest = count; rest != 0; rest >>= 1) {
    if ((rest & 1u) != 0) result = join(result, square);
    square = join(square, square);
  }
  return result;
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

std::uint64_t unsigned_of(std::int64_t value) { return static_cast<std::uint64_t>(value); }

std::uint64_t pair(std::uint64_t high, std::uint64_t low) { return (high << 32) | low; }

std::uint64_t halves(std::uint16_t high, std::uint16_t low) {
  return std::uint64_t{high} << 16 | low;
}

}  // namespace

void TraceHash::fold(std::uint64_t word) {
  const Wide product = Wide{main_ ^ word ^ 0xa0761d6478bd642full} * (word ^ 0xe7037ed1a0b428dbull);
  const std::uint64_t mixed =
      static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  main_ = std::rotl(main_, 23) * 0x9e3779b97f4a7c15ull + mixed;
}

void TraceHash::fold_steps(const StepsDone& steps) {
  if (steps.learner >= steps_.size()) steps_.resize(steps.learner + std::size_t{1});
  LearnerSteps& mine = steps_[steps.learner];
  const std::uint64_t first =
      add(add(add(field(0, unsigned_of(steps.start + steps.period)),
                  field(1, unsigned_of(steps.period))),
              add(field(2, unsigned_of(steps.compute)), field(3, steps.first_step))),
          add(add(field(4, steps.schedule_step), field(5, steps.tokens)),
              field(6, steps.incarnation)));
  if (steps.count == 1) {
    mine.hash = add(multiply(mine.hash, kBase), first);
  } else {
    const std::uint64_t growth =
        add(field(0, unsigned_of(steps.period)), add(field(3, 1), field(4, 1)));
    const Block block = block_of(steps.count);
    mine.hash = add(multiply(mine.hash, block.power),
                    add(multiply(first, block.ones), multiply(growth, block.ramp)));
  }
  mine.count += steps.count;
}

void TraceHash::fold_merge(const FragmentMerged& merge) {
  fold(pair(merge.sync, merge.version));
  fold(pair(merge.step, halves(merge.fragment, merge.epoch)));
  fold(unsigned_of(merge.overrun));
  fold(merge.contributor_count);
  for (std::uint32_t i = 0; i < merge.contributor_count; ++i) {
    const Contributor& contributor = merge.contributors[i];
    fold(bits(contributor.weight));
    fold(pair(contributor.learner, contributor.incarnation));
  }
}

void TraceHash::fold_transfer(const TransferDone& transfer) {
  fold(unsigned_of(transfer.bytes));
  fold(unsigned_of(transfer.carried));
  fold(unsigned_of(transfer.start));
  fold(pair(transfer.source_region, transfer.target_region));
  fold(pair(transfer.transfer,
            std::uint64_t{static_cast<std::uint8_t>(transfer.traffic)} << 8 |
                static_cast<std::uint8_t>(transfer.status)));
}

void TraceHash::on(const Fact& fact) {
  if (fact.kind == Kind::kStepsDone) return fold_steps(fact.steps_done);
  fold(unsigned_of(fact.at));
  fold(static_cast<std::uint64_t>(fact.kind));
  switch (fact.kind) {
    case Kind::kStepsDone: return;
    case Kind::kActivityChanged: {
      const ActivityChanged& f = fact.activity_changed;
      return fold(pair(f.learner, static_cast<std::uint64_t>(f.activity)));
    }
    case Kind::kSliceChanged: {
      const SliceChanged& f = fact.slice_changed;
      return fold(pair(f.slice, static_cast<std::uint64_t>(f.state)));
    }
    case Kind::kFragmentTaken: {
      const FragmentTaken& f = fact.fragment_taken;
      fold(f.counted_tokens);
      fold(pair(f.counted_steps, f.sync));
      fold(pair(f.step, f.held_version));
      return fold(pair(halves(f.learner, f.incarnation), f.fragment));
    }
    case Kind::kFragmentMerged: return fold_merge(fact.fragment_merged);
    case Kind::kFragmentLost: {
      const FragmentLost& f = fact.fragment_lost;
      fold(pair(f.sync, static_cast<std::uint64_t>(f.reason)));
      return fold(pair(f.learner, f.fragment));
    }
    case Kind::kFragmentSkipped: {
      const FragmentSkipped& f = fact.fragment_skipped;
      fold(f.step);
      return fold(pair(f.fragment, static_cast<std::uint64_t>(f.reason)));
    }
    case Kind::kFragmentAdopted: {
      const FragmentAdopted& f = fact.fragment_adopted;
      fold(pair(f.sync, f.version));
      fold(pair(f.step, f.lag_steps));
      return fold(pair(halves(f.learner, f.incarnation),
                       halves(f.fragment, f.epoch)));
    }
    case Kind::kStateSent: {
      const StateSent& f = fact.state_sent;
      fold(f.transfer);
      return fold(pair(f.donor, f.receiver));
    }
    case Kind::kStateCopied: {
      const StateCopied& f = fact.state_copied;
      fold(pair(f.transfer, f.step));
      return fold(pair(halves(f.donor, f.receiver), f.incarnation));
    }
    case Kind::kStateLost: {
      const StateLost& f = fact.state_lost;
      fold(pair(f.transfer, static_cast<std::uint64_t>(f.reason)));
      return fold(pair(f.donor, f.receiver));
    }
    case Kind::kCheckpointSaved:
      return fold(pair(fact.checkpoint_saved.step, fact.checkpoint_saved.learner));
    case Kind::kRolledBack: {
      const RolledBack& f = fact.rolled_back;
      return fold(pair(f.to_step, halves(f.learner, f.incarnation)));
    }
    case Kind::kGlobalRestored:
      return fold(pair(fact.global_restored.learner, fact.global_restored.epoch));
    case Kind::kTransferStarted: {
      const TransferStarted& f = fact.transfer_started;
      fold(unsigned_of(f.bytes));
      fold(pair(f.transfer, static_cast<std::uint64_t>(f.traffic)));
      return fold(pair(f.exchange, halves(f.source_region, f.target_region)));
    }
    case Kind::kTransferDone: return fold_transfer(fact.transfer_done);
    case Kind::kFaultStarted: {
      const FaultStarted& f = fact.fault_started;
      fold(unsigned_of(f.lasts));
      fold(bits(f.rate_factor));
      fold(pair(f.fault, f.target));
      // Where it came from (script, model, a recorded list) is not what happened.
      return fold(pair(static_cast<std::uint8_t>(f.kind), static_cast<std::uint8_t>(f.target_kind)));
    }
    case Kind::kFaultEnded: return fold(fact.fault_ended.fault);
    case Kind::kGraceDecided: {
      const GraceDecided& f = fact.grace_decided;
      fold(unsigned_of(f.step_estimate));
      fold(unsigned_of(f.quorum_estimate));
      fold(unsigned_of(f.sync_estimate));
      fold(unsigned_of(f.grace));
      return fold(f.step);
    }
    case Kind::kEvaluationDue:
      fold(fact.evaluation_due.tokens);
      return fold(fact.evaluation_due.index);
    case Kind::kMarkReached:
      fold(fact.mark_reached.tokens);
      return fold(static_cast<std::uint64_t>(fact.mark_reached.mark));
    case Kind::kRunEnded: return fold(fact.run_ended.tokens);
    case Kind::kSnapshotBegun:
      return fold(pair(fact.snapshot_begun.snapshot, fact.snapshot_begun.step));
    case Kind::kSnapshotSaved: {
      const SnapshotSaved& f = fact.snapshot_saved;
      fold(pair(f.snapshot, f.step));
      return fold(pair(f.learner, f.incarnation));
    }
    case Kind::kSnapshotEnded:
      return fold(pair(fact.snapshot_ended.snapshot, fact.snapshot_ended.complete));
    case Kind::kMemberComputed: {
      const MemberComputed& f = fact.member_computed;
      fold(unsigned_of(f.compute));
      return fold(pair(f.island, f.learner));
    }
    case Kind::kDecided: {
      // Not the value: the last digits of a loss belong to the instruction-set level.
      const Decided& f = fact.decided;
      return fold(pair(f.index, std::uint64_t{static_cast<std::uint8_t>(f.question)} << 8 | f.yes));
    }
    case Kind::kFragmentKept: {
      const FragmentKept& f = fact.fragment_kept;
      fold(f.version);
      return fold(pair(halves(f.fragment, f.epoch), f.shard));
    }
    case Kind::kBroadcastChanged: {
      const BroadcastChanged& f = fact.broadcast_changed;
      fold(pair(f.sync, f.sent));
      return fold(pair(f.learner, f.fragment));
    }
    case Kind::kFragmentDropped:
      return fold(pair(fact.fragment_dropped.fragment, fact.fragment_dropped.shard));
    case Kind::kFragmentRestored: {
      const FragmentRestored& f = fact.fragment_restored;
      fold(f.version);
      return fold(pair(halves(f.fragment, f.epoch), f.shard));
    }
  }
  throw std::logic_error("a fact of an unknown kind reached the trace hash");
}

std::uint64_t TraceHash::value() const {
  TraceHash total = *this;
  for (const LearnerSteps& mine : steps_) {
    if (mine.count == 0) continue;
    total.fold(static_cast<std::uint64_t>(&mine - steps_.data()));
    total.fold(mine.hash);
    total.fold(mine.count);
  }
  return total.main_;
}

}  // namespace sim::tape
