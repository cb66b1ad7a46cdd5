// tests/methods/wire_bytes_test.cpp: how many bytes the methods put on the links, as whole numbers.
//
// Goal:   published ratios, exactly: 400 between fp32 data parallel at every step and int8 DiLoCo every 100
//         steps (INTELLECT-1), 400 between bf16 and 4 bits every 100 steps (Streaming DiLoCo); an eighth of
//         the model per sync with 24 layers in fragments of three, and the same bytes per H.
// Method: three regions and fast links, bytes read from the traffic ledger; 4.8e6 parameters, so that
//         thirds, buckets and nibbles are whole.
// Teeth:  seen failing with twice the bytes of a fragment on the links of the learners' ring.
#include <catch2/catch.hpp>

#include <numeric>

#include "sim/methods/fragment_traffic.h"
#include "sim/methods/nominal_fragments.h"
#include "tests/methods/forked_world.h"

namespace sim::methods {
namespace {

using optim::WireFormat;
using tape::Kind;
using tape::TrafficClass;

Setup triangle() {
  Setup setup;
  setup.use_network(3, 1e10);
  setup.model.parameters = 4'800'000;
  for (const char* region : {"r0", "r1", "r2"}) setup.add_island(region, region);
  setup.training.token_weights = false;
  setup.duration = 102 * kSecond;
  return setup;
}

Setup merging(MethodKind method, std::int64_t fragments, WireFormat wire) {
  Setup setup = triangle();
  auto& t = setup.training;
  t.method = method;
  t.fragments = fragments;
  t.sync_every = 100;
  t.overlap_steps = 0;
  t.late = LatePolicy::kBlock;
  t.wire = wire;
  return setup;
}

Setup data_parallel(double gradient_bytes) {
  Setup setup = triangle();
  setup.training.buckets = 64;  // whole bytes each
  setup.training.method = MethodKind::kDataParallel;
  setup.training.learners = LearnerSplit::kOne;
  setup.model.gradient_bytes = gradient_bytes;
  setup.duration = 120 * kSecond;  // the last bucket and the ring's delays are exposed
  return setup;
}

// What all links had received when the hundredth step of each learner was done and merged.
std::int64_t bytes_of_100_steps(const Setup& setup, TrafficClass traffic) {
  const Lived lived = live_forked(setup);
  readers::TrafficLedger ledger(lived.fleet->shape);
  std::uint32_t steps = 0;
  for (const tape::Fact& fact : lived.facts()) {
    if (fact.kind == Kind::kStepsDone && fact.steps_done.first_step > 100) break;
    ledger.on(fact);
    if (fact.kind == Kind::kStepsDone) steps = fact.steps_done.first_step + fact.steps_done.count - 1;
    if (setup.training.method == MethodKind::kDataParallel && steps == 100) break;
  }
  CHECK(steps == 100);
  CHECK(ledger.wan(traffic).received == ledger.wan().received);
  return ledger.wan().received;
}

TEST_CASE("bytes: int8 every 100 steps is a 400th of fp32 at every step", "[methods]") {
  const std::int64_t dense = bytes_of_100_steps(data_parallel(4), TrafficClass::kGradient);
  // A ring of three: 2 x 2/3 of 19.2 MB over each of three links, 100 times.
  CHECK(dense == 100LL * 3 * (4 * 19'200'000 / 3));
  const Setup sparse = merging(MethodKind::kDiloco, 1, WireFormat::kInt8);
  CHECK(dense == 400 * bytes_of_100_steps(sparse, TrafficClass::kFragment));
}

TEST_CASE("bytes: 4 bits every 100 steps are a 400th of bf16 at every step", "[methods]") {
  const std::int64_t dense = bytes_of_100_steps(data_parallel(2), TrafficClass::kGradient);
  for (const WireFormat wire : {WireFormat::kInt4, WireFormat::kE3m0}) {
    const Setup sparse = merging(MethodKind::kStreamingDiloco, 8, wire);
    CHECK(dense == 400 * bytes_of_100_steps(sparse, TrafficClass::kFragment));
  }
}

// 24 layers of 200,000 parameters each, three to a fragment.
TEST_CASE("bytes: a sync of three of 24 layers moves an eighth, H steps the same", "[methods]") {
  const Setup whole = merging(MethodKind::kDiloco, 1, WireFormat::kFp32);
  const Setup parts = merging(MethodKind::kStreamingDiloco, 8, WireFormat::kFp32);
  const auto sent = [](const Setup& setup) {
    std::vector<std::int64_t> bytes;
    for (const auto& fact : live_forked(setup).recorder.of(Kind::kTransferDone)) {
      bytes.push_back(fact.transfer_done.bytes);
    }
    return bytes;
  };
  const auto of_whole = sent(whole), of_parts = sent(parts);
  REQUIRE(of_whole.size() == 3);
  REQUIRE(of_parts.size() == 8 * 3);
  for (const std::int64_t bytes : of_parts) CHECK(8 * bytes == of_whole[0]);
  CHECK(std::accumulate(of_parts.begin(), of_parts.end(), std::int64_t{0}) ==
        std::accumulate(of_whole.begin(), of_whole.end(), std::int64_t{0}));
}

TEST_CASE("bytes: formats in whole bytes, rounded up", "[methods]") {
  CHECK(wire_bytes(1'000'001, WireFormat::kFp32) == 4'000'004);
  CHECK(wire_bytes(1'000'001, WireFormat::kBf16) == 2'000'002);
  CHECK(wire_bytes(1'000'001, WireFormat::kInt8) == 1'000'001);
  CHECK(wire_bytes(1'000'001, WireFormat::kInt4) == 500'001);
  CHECK(wire_bytes(1'000'000'000'000'000, WireFormat::kFp32) == 4'000'000'000'000'000);
}

// 24 layers of 12 x 64^2 = 49,152 parameters and an embedding of 100 x 64 = 6,400.
TEST_CASE("fragments: strided and sequential layers of the nominal model", "[methods]") {
  NominalModelOptions model{};
  model.layers = 24;
  model.width = 64;
  model.vocabulary = 100;
  model.parameters = 24 * 49'152 + 6'400;
  TrainingOptions training{};
  training.method = MethodKind::kStreamingDiloco;
  training.fragments = 8;
  for (const auto partition : {FragmentPartition::kStrided, FragmentPartition::kSequential}) {
    training.partition = partition;
    std::vector<std::int64_t> expected(8, 3 * 49'152);
    expected[0] += 6'400;
    CHECK(nominal_fragments(model, training) == expected);
  }
  // Five fragments of 24 layers: strided 5, 5, 5, 5, 4; sequential by floor(l 5 / 24): 5, 5, 5, 5, 4.
  training.fragments = 5;
  training.partition = FragmentPartition::kStrided;
  CHECK(nominal_fragments(model, training)[4] == 4 * 49'152);
  training.partition = FragmentPartition::kBalanced;  // by tensors: the embedding levels out
  const auto balanced = nominal_fragments(model, training);
  CHECK(std::accumulate(balanced.begin(), balanced.end(), std::int64_t{0}) == model.parameters);
  CHECK(std::ranges::max(balanced) - std::ranges::min(balanced) < 49'152);
}

}  // namespace
}  // namespace sim::methods
