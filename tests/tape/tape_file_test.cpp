// tests/tape/tape_file_test.cpp: what is read is what was written, or a diagnosis.
//
// Goal:   every kind of fact and the shape survive the file; damage is always noticed.
// Method: one fact of each kind with distinct values, and 10,000 random ones, compared through the trace
//         hash and field by field through a second encoding; every byte of a small file flipped; every prefix read.
// Teeth:  seen failing with a field left out of a fact's listing, with the checksum not compared, and
//         without the test for the end mark's count.
#include "sim/tape/tape_file.h"

#include <catch2/catch.hpp>
#include <deque>
#include <limits>
#include <random>
#include <set>
#include <sstream>

#include "sim/tape/fact_code.h"
#include "sim/tape/trace_hash.h"
#include "tests/readers/hand_written_run.h"

namespace sim::tape {
namespace {

using namespace readers::hand;

const std::vector<Contributor> kFrom = {{0.25, 1, 2}, {1e300, 3, 4}};

std::vector<Fact> one_of_each() {
  constexpr std::uint32_t k32 = std::numeric_limits<std::uint32_t>::max();
  constexpr std::uint16_t k16 = std::numeric_limits<std::uint16_t>::max();
  std::vector<Fact> facts = {
      {1_s, StepsDone{-5, 2_s, 1_s, 4, 5, k32, 7, k16, 9}},
      {1_s, ActivityChanged{3, Activity::kFinished}},
      {2_s, SliceChanged{k32, SliceState::kWaiting}},
      {2_s, FragmentTaken{UINT64_MAX, 2, 3, 4, 5, 6, 7, 8}},
      {3_s, FragmentMerged{kFrom.data(), 11, 2, 3, 4, 5, 6, 7}},
      {3_s, FragmentLost{1, 2, 3, LossReason::kReceiverDied}},
      {3_s, FragmentSkipped{1, 2, LossReason::kInFlightLimit}},
      {4_s, FragmentAdopted{1, 2, 3, 4, 5, 6, 7, 8}},
      {4_s, StateSent{1, kNoLearner, 3}},
      {4_s, StateCopied{1, 2, 3, 4, 5}},
      {4_s, StateLost{1, 2, 3, LossReason::kDonorDied}},
      {5_s, CheckpointSaved{1, 2}},
      {5_s, RolledBack{1, 2, 3}},
      {5_s, GlobalRestored{1, 2}},
      {6_s, TransferStarted{INT64_MAX, 2, 3, 4, 5, TrafficClass::kJoin}},
      {6_s, TransferDone{9, 8, 7, 6, 5, 4, TrafficClass::kRecovery, TransferStatus::kCancelled}},
      {7_s, FaultStarted{base::kNever, 0.1, 3, 4, FaultKind::kPartition, TargetKind::kSyncer, 1, 1}},
      {8_s, FaultEnded{k32}},
      {9_s, GraceDecided{1, 2, 3, -4, 5}},
      {9_s, EvaluationDue{1, 2}},
      {9_s, MarkReached{1, MarkKind::kTokens}},
      {base::kNever, RunEnded{77}},
      {base::kNever, SnapshotBegun{k32, 2}},
      {base::kNever, SnapshotSaved{1, k32, 3, k16}},
      {base::kNever, SnapshotEnded{1, 1}},
      {base::kNever, Decided{2.5, 3, Question::kLossReached, 1}},
      {base::kNever, FragmentKept{1, 2, 3, k16}},
      {base::kNever, FragmentDropped{1, k16}},
      {base::kNever, FragmentRestored{1, 2, 3, k16}},
      {base::kNever, MemberComputed{INT64_MAX, k32, k16}},
      {base::kNever, BroadcastChanged{k32, k16, 2, 1}},
  };
  return facts;
}

std::string written(const std::vector<Fact>& facts) {
  std::ostringstream out;
  TapeWriter writer(out, two_learners(), 0x0123456789abcdef);
  play(facts, writer);
  writer.finish();
  CHECK(writer.size_bytes() == out.str().size());
  return out.str();
}

// Reads all facts and encodes them again, so that equal text means equal fields.
std::string read_again(const std::string& bytes, std::uint64_t& trace_hash) {
  std::istringstream in(bytes);
  TapeFile file(in);
  TraceHash hash;
  std::ostringstream out;
  TapeWriter writer(out, file.shape(), file.scenario_hash());
  Fact fact;
  while (file.next(fact)) {
    hash.on(fact);
    writer.on(fact);
  }
  writer.finish();
  trace_hash = hash.value();
  return out.str();
}

TEST_CASE("tape file: one fact of each kind and the shape come back", "[unit][tape]") {
  const std::vector<Fact> facts = one_of_each();
  REQUIRE(facts.size() == static_cast<std::size_t>(kKindCount));
  TraceHash expected;
  for (const Fact& fact : facts) expected.on(fact);
  const std::string bytes = written(facts);
  std::uint64_t trace_hash = 0;
  CHECK(read_again(bytes, trace_hash) == bytes);
  CHECK(trace_hash == expected.value());
}

TEST_CASE("tape file: fields come back as they were", "[unit][tape]") {
  std::istringstream in(written(one_of_each()));
  TapeFile file(in);
  CHECK(file.scenario_hash() == 0x0123456789abcdef);
  CHECK(file.shape().slices[1].name == "a/slice-1");
  CHECK(file.shape().slices[3].learner == kNoLearner);
  CHECK(file.shape().learners[0].slices == std::vector<std::uint32_t>{0, 1});
  CHECK(file.shape().native_tokens_per_s == two_learners().native_tokens_per_s);
  Fact fact;
  REQUIRE(file.next(fact));
  CHECK(fact.steps_done.start == -5);
  CHECK(fact.steps_done.tokens == UINT32_MAX);
  while (fact.kind != Kind::kFragmentMerged) REQUIRE(file.next(fact));
  REQUIRE(fact.fragment_merged.contributor_count == 2);
  CHECK(fact.fragment_merged.overrun == 11);
  CHECK(fact.fragment_merged.contributors[1].weight == 1e300);
  CHECK(fact.fragment_merged.contributors[1].incarnation == 4);
  while (fact.kind != Kind::kTransferDone) REQUIRE(file.next(fact));
  CHECK(fact.transfer_done.start == 7);
  CHECK(fact.transfer_done.status == TransferStatus::kCancelled);
}

// Random bytes that can be read as a fact are one.
std::vector<Fact> random_facts(std::uint64_t seed, std::size_t count,
                               std::deque<std::vector<Contributor>>& contributors) {
  std::mt19937_64 rng(seed);
  std::vector<Fact> facts;
  while (facts.size() < count) {
    std::string bytes(1, static_cast<char>(rng() % kKindCount));
    for (int i = 0; i < 120; ++i) {
      bytes += static_cast<char>(rng() % 3 == 0 ? rng() % 256 : rng() % 8);
    }
    Decoder decoder{std::string_view(bytes)};
    Fact fact;
    std::vector<Contributor>& list = contributors.emplace_back();
    try {
      decode(decoder, fact, 0, list);
      facts.push_back(fact);
    } catch (const TapeFileError&) {
      contributors.pop_back();  // a name's number that is none, or a number that is too large
    }
  }
  return facts;
}

TEST_CASE("tape file: random facts of every kind come back", "[unit][tape][property]") {
  std::set<Kind> kinds;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::deque<std::vector<Contributor>> contributors;
    const std::vector<Fact> facts = random_facts(seed, 500, contributors);
    TraceHash expected;
    for (const Fact& fact : facts) {
      kinds.insert(fact.kind);
      expected.on(fact);
    }
    const std::string bytes = written(facts);
    std::uint64_t trace_hash = 0;
    REQUIRE(read_again(bytes, trace_hash) == bytes);
    REQUIRE(trace_hash == expected.value());
  }
  CHECK(kinds.size() == static_cast<std::size_t>(kKindCount));
}

TEST_CASE("tape file: many blocks come back in order", "[unit][tape]") {
  std::vector<Fact> facts;
  for (std::uint32_t i = 0; i < 20'000; ++i) facts.emplace_back(i * 1_s, CheckpointSaved{i, 1});
  const std::string bytes = written(facts);
  REQUIRE(bytes.size() > 2 * 65'536);
  std::uint64_t trace_hash = 0;
  CHECK(read_again(bytes, trace_hash) == bytes);
}

TEST_CASE("tape file: any flipped byte is diagnosed", "[unit][tape]") {
  const std::string bytes = written(one_of_each());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    CAPTURE(i);
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    std::uint64_t trace_hash = 0;
    REQUIRE_THROWS_AS(read_again(damaged, trace_hash), TapeFileError);
  }
}

TEST_CASE("tape file: any truncation is diagnosed", "[unit][tape]") {
  const std::string bytes = written(one_of_each());
  std::uint64_t trace_hash = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    REQUIRE_THROWS_AS(read_again(bytes.substr(0, size), trace_hash), TapeFileError);
  }
  CHECK_THROWS_WITH(read_again(bytes.substr(0, bytes.size() - 24), trace_hash),
                    "tape: truncated: there is no end mark");
  CHECK_THROWS_WITH(read_again(bytes + "x", trace_hash), "tape: there is something after the end mark");
}

TEST_CASE("tape file: a missing block is noticed by the end mark", "[unit][tape]") {
  // Two files that agree up to the header; the facts of the first with the end mark of the second.
  const std::string full = written({{1_s, CheckpointSaved{1, 1}}, {2_s, CheckpointSaved{2, 1}}});
  const std::string none = written({});
  const std::string cut = none.substr(0, none.size() - 24) + full.substr(full.size() - 24);
  std::uint64_t trace_hash = 0;
  CHECK_THROWS_WITH(read_again(cut, trace_hash), "tape: the end mark counts 2 facts, the file has 0");
}

TEST_CASE("tape file: other files and other formats are named", "[unit][tape]") {
  std::string bytes = written({});
  std::uint64_t trace_hash = 0;
  CHECK_THROWS_WITH(read_again("time_s,loss\n0,1\n", trace_hash), "tape: this file is not a tape");
  bytes[8] = 9;
  CHECK_THROWS_WITH(read_again(bytes, trace_hash), "tape: format must be 2 or 3; got 9");
}

TEST_CASE("tape file: watts, prices and step times come back; format 2 knows no step times",
          "[unit][tape]") {
  RunShape shape = two_learners();
  shape.slices[1].milliwatts = 700'000;
  shape.slices[1].nanodollars_per_h = 2'500'000'000;
  shape.links[0].dollars_per_gb = 0.02;
  shape.watts_assumed = true;
  shape.slices[1].step_time = 7_s;
  shape.steps_vary = true;
  const auto through = [&shape](std::uint64_t format) {
    Encoder encoder;
    encode(encoder, shape, format);
    Decoder decoder(encoder.bytes());
    RunShape back;
    decode(decoder, back, format);
    CHECK(decoder.at_end());
    return back;
  };
  const RunShape newest = through(3), old = through(2);
  CHECK(newest.slices[1].step_time == 7_s);
  CHECK(newest.steps_vary);
  CHECK(old.slices[1].step_time == 0);
  CHECK_FALSE(old.steps_vary);
  CHECK(old.slices[1].milliwatts == 700'000);
  CHECK(old.slices[1].nanodollars_per_h == 2'500'000'000);
  CHECK(old.links[0].dollars_per_gb == 0.02);
  CHECK(old.watts_assumed);
  CHECK(old.slices[1].name == "a/slice-1");
  CHECK(old.nominal_step == shape.nominal_step);
}

// Teeth: seen failing with the exchange written in either format, and left 0 in format 2.
TEST_CASE("tape file: an exchange comes back; in format 2 each transfer is its own", "[unit][tape]") {
  const Fact fact(1_s, TransferStarted{5, 9, 7, 3, 4, TrafficClass::kFragment});
  const auto through = [&fact](std::uint64_t format) {
    Encoder encoder;
    encode(encoder, fact, 0, format);
    Decoder decoder(encoder.bytes());
    Fact back;
    std::vector<Contributor> none;
    decode(decoder, back, 0, none, format);
    CHECK(decoder.at_end());
    return back.transfer_started;
  };
  CHECK(through(3).exchange == 7);
  CHECK(through(2).exchange == 9);
  CHECK(through(2).transfer == 9);
  CHECK(through(2).source_region == 3);
  CHECK(through(2).traffic == TrafficClass::kFragment);
}

TEST_CASE("trace hash: of an answer the verdict counts, not the loss", "[unit][tape]") {
  const auto hash = [](double loss, std::uint8_t yes) {
    TraceHash hashed;
    hashed.on({1_s, Decided{loss, 3, Question::kLossReached, yes}});
    return hashed.value();
  };
  CHECK(hash(2.5, 1) == hash(2.4999999, 1));
  CHECK(hash(2.5, 1) != hash(2.5, 0));
}

}  // namespace
}  // namespace sim::tape
