// tests/readers/energy_test.cpp: joules and dollars of tapes that a person can add up.
//
// Goal:   every state is charged with its share, PUE, hosts and transport once; undone and discarded
//         work is told apart; what is billed follows the options; unknown watts and prices give none.
// Method: hand-written tapes; the published figures of INTELLECT-1.
// Teeth:  seen failing with exposed communication charged as busy, with the communication of undone
//         steps charged as busy, with PUE on transport, with bits taken for bytes, with a failed
//         slice's open time billed, and with the watts of a lost slice left with its learner.
#include "sim/readers/energy.h"

#include <catch2/catch.hpp>

#include "sim/readers/cost.h"
#include "sim/readers/run_account.h"
#include "tests/readers/hand_written_run.h"

namespace sim::readers {
namespace {

using namespace hand;
using Catch::Matchers::WithinRel;

constexpr double kRounding = 1e-14;  // a few roundings in double

// One learner on one slice of 2 chips of 100 W.
RunShape two_chips() {
  RunShape shape = data_parallel();
  shape.slices[0].chips = shape.learners[0].chips = shape.chips = 2;
  shape.slices[0].milliwatts = 100'000;
  return shape;
}

// Chips alone: no hosts, no PUE.
EnergyOptions bare() {
  EnergyOptions options;
  options.host_w = 0;
  options.pue = 1;
  return options;
}

Energy energy_of(const RunShape& shape, const EnergyOptions& options, const std::vector<Fact>& facts,
                 Nanoseconds end) {
  RunAccount account(shape, {.quorum = 0,
                             .overlap_steps = 0,
                             .counting = TokenCounting::kAtOnce,
                             .energy = options});
  play(facts, account);
  return *account.energy_at(end);
}

TEST_CASE("energy: ten seconds busy and five stalled on two chips", "[unit][readers]") {
  // 2 x 100 W x 10 s = 2,000 J busy; five more seconds at 20 % are 200 J.
  const std::vector<Fact> facts = {
      {0_s, ActivityChanged{0, Activity::kStepping}},
      {10_s, StepsDone{0, 10_s, 10_s, 1, 1, 100, 1, 0, 1}},
      {10_s, ActivityChanged{0, Activity::kWaitingForMerge}},
  };
  const Energy plain = energy_of(two_chips(), bare(), facts, 15_s);
  CHECK_THAT(plain.busy, WithinRel(2000.0, kRounding));
  CHECK_THAT(plain.stalled, WithinRel(200.0, kRounding));
  CHECK_THAT(plain.total, WithinRel(2200.0, kRounding));
  CHECK(plain.wasted == 0.0);

  EnergyOptions spinning = bare();
  spinning.stall = 1.0;
  CHECK_THAT(energy_of(two_chips(), spinning, facts, 15_s).total, WithinRel(3000.0, kRounding));

  // Hosts of 50 W for each of two chips over 15 s are 1,500 J; both times 1.1.
  EnergyOptions whole = bare();
  whole.host_w = 50;
  whole.pue = 1.1;
  const Energy sited = energy_of(two_chips(), whole, facts, 15_s);
  CHECK_THAT(sited.host, WithinRel(1650.0, kRounding));
  CHECK_THAT(sited.total, WithinRel(1.1 * (2200.0 + 1500.0), kRounding));
}

TEST_CASE("energy: communication in a step is a stall", "[unit][readers]") {
  // Two steps of 8 s computation and 2 s communication: 2 x 100 W x (16 + 0.2 x 4) s.
  const std::vector<Fact> facts = {{0_s, ActivityChanged{0, Activity::kStepping}},
                                   {20_s, steps(0, 1, 2, 0_s, 10_s)}};
  CHECK_THAT(energy_of(two_chips(), bare(), facts, 20_s).total, WithinRel(3360.0, kRounding));
}

TEST_CASE("energy: failed, waiting and unused chips", "[unit][readers]") {
  // Learner 0 has two slices of 2 chips with 100 W and 300 W; learner 1 four chips of 10 W; two
  // unused ones of 1,000 W. See lost_and_found() for the dates.
  RunShape shape = two_learners();
  shape.native_tokens_per_s = 40;  // above what the tape tells
  shape.slices[0].milliwatts = 100'000;
  shape.slices[1].milliwatts = 300'000;
  shape.slices[2].milliwatts = 10'000;
  shape.slices[3].milliwatts = 1'000'000;
  EnergyOptions options = bare();
  options.idle = 0.1;
  options.off = 0.05;
  options.host_w = 7;
  const Energy got = energy_of(shape, options, lost_and_found(), 50_s);
  // Busy: steps 1 and 2 on both slices (16 s of 800 W), 5 s of an interrupted step (800 W), step 3
  // on the first slice (8 s of 200 W), 5 s of a step under way (800 W); learner 1: 40 s of 40 W.
  CHECK_THAT(got.busy, WithinRel(16. * 800 + 5. * 800 + 8. * 200 + 5. * 800 + 40. * 40, kRounding));
  // Stalled: 4 s of both, detecting 5 s and downscaling 2 s of the first, 2 s in step 3, upscaling
  // 3 s; learner 1: 10 s of 40 W.
  CHECK_THAT(got.stalled,
             WithinRel(0.2 * (4. * 800 + 7. * 200 + 2. * 200 + 3. * 200 + 10. * 40), kRounding));
  // The second slice is down from 25 to 40 s and waits until 45 s.
  CHECK_THAT(got.off, WithinRel(0.05 * 15 * 600, kRounding));
  CHECK_THAT(got.idle, WithinRel(0.1 * 5 * 600, kRounding));
  CHECK_THAT(got.unused, WithinRel(0.1 * 50 * 2000, kRounding));
  // Hosts: ten chips for 50 s, two of them nearly off for 15 s.
  CHECK_THAT(got.host, WithinRel(7. * (500 - 30 + 0.05 * 30), kRounding));
  // The interrupted step is wasted, with its hosts (4 chips, 5 s).
  CHECK_THAT(got.wasted, WithinRel(5. * 800 + 7. * 20, kRounding));
}

TEST_CASE("energy: undone steps count, and are told apart", "[unit][readers]") {
  // Four chips of 100 W: steps of 0.8 s + 0.2 s. Three are undone, six stand; saving 1 s and loading
  // 2 s are stalls.
  RunShape shape = data_parallel();
  shape.slices[0].milliwatts = 100'000;
  const Energy got = energy_of(shape, bare(), rolled_back_run(), 12_s);
  CHECK_THAT(got.busy, WithinRel(400.0 * 0.8 * 9, kRounding));
  CHECK_THAT(got.stalled, WithinRel(400.0 * 0.2 * (0.2 * 9 + 3), kRounding));
  CHECK_THAT(got.wasted, WithinRel(400.0 * (0.8 + 0.2 * 0.2) * 3, kRounding));
}

TEST_CASE("energy: discarded tokens take their share of the standing steps", "[unit][readers]") {
  ActivityTotals activity;
  activity.full_work_pj[Bucket::kCompute] = chip_time(200'000, 10_s);  // 2,000 J
  TokenTotals tokens;
  tokens.processed = 1000;
  tokens.rolled_back = 200;
  tokens.discarded[0] = 200;
  const Energy got = *energy(two_chips(), bare(), 0.2, activity, tokens, 0);
  CHECK_THAT(got.wasted, WithinRel(500.0, kRounding));
}

TEST_CASE("energy: transport between sites is small beside computation", "[unit][readers]") {
  // INTELLECT-1: 18.6 GB a node and synchronization, at 5 to 50 nJ per bit, are 0.7 to 7 kJ; 38
  // minutes of eight GPUs of 700 W are 12.8 MJ.
  RunShape shape = two_chips();
  shape.slices[0].chips = shape.learners[0].chips = shape.chips = 8;
  shape.slices[0].milliwatts = 700'000;
  ActivityTotals activity;
  activity.full_work_pj[Bucket::kCompute] = chip_time(8 * 700'000, 38 * base::kMinute);
  const auto with = [&](double nj_per_bit) {
    EnergyOptions options = bare();
    options.wan_nj_per_bit = nj_per_bit;
    options.pue = nj_per_bit > 10 ? 2.0 : 1.0;  // transport lies outside it
    return *energy(shape, options, 0.2, activity, {}, 18'600'000'000);
  };
  CHECK_THAT(with(5).wan, WithinRel(744.0, kRounding));
  CHECK_THAT(with(50).wan, WithinRel(7440.0, kRounding));
  CHECK_THAT(with(5).busy, WithinRel(12.768e6, kRounding));
  CHECK(with(50).wan / with(5).busy < 0.0006);
}

TEST_CASE("energy: none where the watts of some chip are unknown", "[unit][readers]") {
  RunShape shape = two_learners();
  CHECK_FALSE(energy(shape, bare(), 0.2, {}, {}, 0));
  for (SliceShape& slice : shape.slices) slice.milliwatts = 1;
  CHECK(energy(shape, bare(), 0.2, {}, {}, 0));
}

TEST_CASE("energy: joules close over random cuts of stretches", "[unit][readers]") {
  RunShape shape = two_learners();
  shape.native_tokens_per_s = 40;  // above what the tape tells
  std::int64_t milliwatts = 100'001;
  for (SliceShape& slice : shape.slices) slice.milliwatts = milliwatts += 77'777;
  const Energy whole = energy_of(shape, bare(), lost_and_found(), 50_s);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Energy cut = energy_of(shape, bare(), cut_at_random(lost_and_found(), seed), 50_s);
    CHECK(cut.total == whole.total);
    CHECK(cut.wasted == whole.wasted);
  }
}

Cost cost_of(const RunShape& shape, const CostOptions& options, const std::vector<Fact>& facts,
             Nanoseconds end) {
  CostLedger ledger(shape, options);
  TrafficLedger traffic(shape);
  for (const Fact& fact : facts) {
    ledger.on(fact);
    traffic.on(fact);
  }
  return *ledger.at(end, traffic);
}

// Two, two, four and two chips at 1, 2, 3 and 100 dollars an hour; the last are unused.
RunShape priced() {
  RunShape shape = two_learners();
  shape.slices[0].nanodollars_per_h = 1'000'000'000;
  shape.slices[1].nanodollars_per_h = 2'000'000'000;
  shape.slices[2].nanodollars_per_h = 3'000'000'000;
  shape.slices[3].nanodollars_per_h = 100'000'000'000;
  shape.links[0].dollars_per_gb = 0.02;
  return shape;
}

TEST_CASE("cost: chips by the hour, failed and unused ones as declared", "[unit][readers]") {
  const std::vector<Fact> facts = {{1800_s, SliceChanged{1, SliceState::kFailed}},
                                   {2700_s, SliceChanged{1, SliceState::kWaiting}},
                                   {3000_s, SliceChanged{1, SliceState::kJoined}},
                                   {3240_s, SliceChanged{0, SliceState::kFailed}}};
  // (2 + 4 + 12) USD/h; slice 1 down for a quarter of an hour, slice 0 for the last tenth.
  CHECK_THAT(cost_of(priced(), {}, facts, 3600_s).total, WithinRel(18.0, kRounding));
  CHECK_THAT(cost_of(priced(), {.bill_failed = false}, facts, 3600_s).total,
             WithinRel(18.0 - 4.0 / 4 - 2.0 / 10, kRounding));
  CHECK_THAT(cost_of(priced(), {.bill_unused = true}, facts, 3600_s).total,
             WithinRel(218.0, kRounding));
}

TEST_CASE("cost: egress of what was carried, either direction, when it ends", "[unit][readers]") {
  std::vector<Fact> facts = {
      {0_s, TransferStarted{5'000'000'000, 1, 1, 0, 1, TrafficClass::kFragment}},
      {0_s, TransferStarted{7'000'000'000, 2, 2, 1, 0, TrafficClass::kRecovery}},
      {0_s, TransferStarted{9'000'000'000, 3, 3, 1, 1, TrafficClass::kRecovery}},
      {3_s, TransferDone{5'000'000'000, 5'000'000'000, 0, 1, 0, 1, TrafficClass::kFragment,
                         TransferStatus::kOk}}};
  CHECK_THAT(cost_of(priced(), {}, facts, 3_s).egress, WithinRel(0.1, kRounding));
  // The other one breaks after 2 of its 7 GB; the third stays inside its region.
  facts.push_back({4_s, TransferDone{7'000'000'000, 2'000'000'000, 0, 2, 1, 0,
                                     TrafficClass::kRecovery, TransferStatus::kLinkDown}});
  facts.push_back({4_s, TransferDone{9'000'000'000, 9'000'000'000, 0, 3, 1, 1,
                                     TrafficClass::kRecovery, TransferStatus::kOk}});
  CHECK_THAT(cost_of(priced(), {}, facts, 4_s).egress, WithinRel(0.14, kRounding));
}

TEST_CASE("cost: none where a billed slice has no price", "[unit][readers]") {
  RunShape shape = priced();
  shape.slices[3].nanodollars_per_h = 0;
  const TrafficLedger traffic(shape);
  CHECK(CostLedger(shape, {}).at(1_s, traffic));  // unused: not billed
  CHECK_FALSE(CostLedger(shape, {.bill_unused = true}).at(1_s, traffic));
  shape.slices[0].nanodollars_per_h = 0;
  CHECK_FALSE(CostLedger(shape, {}).at(1_s, traffic));
}

}  // namespace
}  // namespace sim::readers
