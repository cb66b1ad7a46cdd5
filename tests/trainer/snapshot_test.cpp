// tests/trainer/snapshot_test.cpp: a run that goes on from a snapshot ends in the same bits.
//
// Goal:   a consistent cut and what is in flight across it are all that the mathematics needs.
// Method: one tape with lost takes, recoveries, a restored syncer, a rollback and a checkpoint; cuts at
//         random legal places; the snapshot goes through its file; the resumed run against the whole
//         one. Negative controls: one in-flight message dropped or changed.
// Teeth:  seen failing with the takes between the two cuts not recorded, with takes open at the syncer's
//         cut not recorded, with the momentum left out, with states in flight left out, with a learner's
//         moments left out, with the restored parameters not recorded, with evaluations and convergence
//         rows not carried, and with the checksum not compared.
#include "sim/trainer/snapshot.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>
#include <sstream>

#include "sim/trainer/snapshot_file.h"
#include "tests/trainer/tape_fixture.h"

namespace sim::trainer {
namespace {

using tape::Fact;
using tape::Kind;

constexpr std::uint16_t kLearners = 4;

tape::RunShape shape_of_four() { return make_shape(kLearners, 2, 4, 3); }

// Three fragments in turn, two of them in flight at a time; learner 3 dies at round 8 and comes back.
HandTape story() {
  HandTape tape;
  const auto away = [](std::uint32_t r, std::uint16_t m) { return m == 3 && r >= 8 && r < 13; };
  const auto merge = [&](std::uint32_t r) {
    if (r == 8) tape.lose(r, 2, 3);  // 8 mod 3
    std::vector<tape::Contributor> from;
    for (std::uint16_t m = 0; m < kLearners; ++m) {
      if (!away(r, m) && !(r == 8 && m == 3)) from.push_back({1.0 + m, m, 0});
    }
    tape.merge(r, static_cast<std::uint16_t>(r % 3), from);
  };
  for (std::uint32_t r = 0; r < 20; ++r) {
    for (std::uint16_t m = 0; m < kLearners; ++m) {
      if (away(r, m)) continue;
      tape.steps(m, 3 * r, 2);
    }
    for (std::uint16_t m = 0; m < kLearners; ++m) {
      if (!away(r, m) || r == 8) tape.take(r, static_cast<std::uint16_t>(r % 3), m);
    }
    if (r == 5) tape.slice(2, tape::SliceState::kFailed);
    if (r == 9) tape.slice(2, tape::SliceState::kJoined);
    if (r == 10) tape.send(1, 0, 3);
    if (r == 12) tape.copy(1, 0, 3);
    if (r == 6) tape.send(2, tape::kNoLearner, 2);
    if (r == 7) tape.copy(2, tape::kNoLearner, 2);
    if (r == 11) tape.save(1, 11);
    if (r == 14) tape.roll_back(1, 11);
    if (r == 15) tape.add(tape::GlobalRestored{1, 2});
    // The sync of the round before is merged a round later, and adopted learner by learner.
    if (r > 0) {
      merge(r - 1);
      for (std::uint16_t m = 0; m < kLearners; ++m) {
        if (away(r, m)) continue;
        tape.steps(m, 3 * r + 2, 1);
        tape.adopt(r - 1, static_cast<std::uint16_t>((r - 1) % 3), m);
      }
    }
    if (r % 4 == 0) tape.evaluate(1000 * r);
  }
  tape.mark(1);
  tape.end(2);
  return tape;
}

// The tape with one snapshot, whose cuts lie at random places that a world could have chosen: learners
// save after the syncer began and before they adopt what was merged since.
std::vector<Fact> with_snapshot(const std::vector<Fact>& facts, std::mt19937_64& rng) {
  const std::size_t begin = rng() % facts.size();
  std::map<std::uint32_t, std::size_t> merged;
  std::vector<std::size_t> last(kLearners, facts.size());  // the latest legal place
  std::vector<bool> copied(kLearners, false);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].kind == Kind::kFragmentMerged) merged[facts[i].fragment_merged.sync] = i;
    if (i < begin) continue;
    if (facts[i].kind == Kind::kFragmentAdopted) {
      const auto& f = facts[i].fragment_adopted;
      if (merged.at(f.sync) >= begin) last[f.learner] = std::min(last[f.learner], i);
    }
    if (facts[i].kind == Kind::kStateCopied) {
      std::size_t& limit = last[facts[i].state_copied.receiver];
      copied[facts[i].state_copied.receiver] = i < limit;
      limit = std::min(limit, i);
    }
  }
  std::multimap<std::size_t, Fact> inserted;
  inserted.emplace(begin, Fact(0, tape::SnapshotBegun{1, 77}));
  std::size_t end = begin;
  for (std::uint16_t m = 0; m < kLearners; ++m) {
    end = std::max(end, last[m]);
    if (copied[m]) continue;  // had lost its state: no part in it
    const std::size_t place = begin + rng() % (last[m] - begin + 1);
    inserted.emplace(place, Fact(0, tape::SnapshotSaved{1, 0, m, 1}));
  }
  inserted.emplace(end, Fact(0, tape::SnapshotEnded{1, 1}));
  std::vector<Fact> all;
  for (std::size_t i = 0; i <= facts.size(); ++i) {
    const auto [from, to] = inserted.equal_range(i);
    for (auto it = from; it != to; ++it) all.push_back(it->second);
    if (i < facts.size()) all.push_back(facts[i]);
  }
  return all;
}

TrainerOptions options_of(const tape::RunShape& shape) {
  TrainerOptions options = make_options(shape);
  options.mixing = 0.25;
  options.merge.kind = optim::MergeKind::kRda;
  return options;
}

// Everything that a run leaves behind.
struct Outcome {
  std::vector<LearnerState> states;
  std::vector<double> losses, marks;
  std::string convergence;
};

Outcome outcome(const tape::RunShape& shape, const TrainerOptions& options,
                const std::vector<Fact>& facts) {
  Trainer trainer(shape, options);
  for (const Fact& fact : facts) trainer.on(fact);
  trainer.finish();
  Outcome result;
  result.states = everything(trainer, kLearners);
  for (const Evaluation& e : trainer.evaluations()) result.losses.push_back(e.loss);
  for (const MarkLoss& m : trainer.marks()) result.marks.push_back(m.evaluation.loss);
  std::ostringstream convergence;
  to_csv(trainer.convergence(), convergence);
  result.convergence = convergence.str();
  return result;
}

bool same(const Outcome& a, const Outcome& b) {
  return same_bits(a.states, b.states) && a.losses == b.losses && a.marks == b.marks &&
         a.convergence == b.convergence;
}

// The snapshot that the tape holds, through its file; null when the tape ends before it does.
std::shared_ptr<Snapshot> gathered(const tape::RunShape& shape, TrainerOptions options,
                                   const std::vector<Fact>& facts) {
  std::string bytes;
  options.on_snapshot = [&bytes](const Snapshot& snapshot) {
    std::ostringstream out;
    write_snapshot(snapshot, {"1", 2, "arm", 3}, out);
    bytes = out.str();
  };
  outcome(shape, options, facts);
  if (bytes.empty()) return nullptr;
  std::istringstream in(bytes);
  return std::make_shared<Snapshot>(read_snapshot(in).snapshot);
}

TEST_CASE("snapshot: a run from any legal cut ends in the bits of the whole run",
          "[unit][trainer][property]") {
  const tape::RunShape shape = shape_of_four();
  const HandTape tape = story();
  TrainerOptions options = options_of(shape);
  const Outcome whole = outcome(shape, options, tape.facts);
  std::size_t takes = 0, transfers = 0, restores = 0, left_out = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const std::vector<Fact> facts = with_snapshot(tape.facts, rng);
    options.threads = 1 + seed % 2;
    options.resume = nullptr;
    const std::shared_ptr<Snapshot> snapshot = gathered(shape, options, facts);
    REQUIRE(snapshot);
    takes += snapshot->takes.size();
    transfers += snapshot->transfers.size();
    restores += snapshot->restores.size();
    left_out += static_cast<std::size_t>(
        std::ranges::count_if(snapshot->learners, [](const auto& l) { return !l.state; }));
    options.resume = snapshot;
    REQUIRE(same(outcome(shape, options, facts), whole));
  }
  // The cuts met everything that can be in flight.
  CHECK(takes > 100);
  CHECK(transfers > 5);
  CHECK(restores > 0);
  CHECK(left_out > 5);
}

// A snapshot with a take in flight that is merged later, and the tape it is of.
struct Example {
  tape::RunShape shape = shape_of_four();
  HandTape tape = story();
  TrainerOptions options = options_of(shape);
  std::vector<Fact> facts;
  std::shared_ptr<Snapshot> snapshot;
  Outcome whole;
  Example() {
    std::mt19937_64 rng(3);
    while (!snapshot || snapshot->takes.size() < 4) {
      facts = with_snapshot(tape.facts, rng);
      snapshot = gathered(shape, options, facts);
    }
    whole = outcome(shape, options, tape.facts);
  }
};

TEST_CASE("snapshot: without one message that was in flight it cannot go on", "[unit][trainer]") {
  Example example;
  const std::uint32_t sync = std::get<0>(example.snapshot->takes.begin()->first);
  example.snapshot->takes.erase(example.snapshot->takes.begin());
  example.options.resume = example.snapshot;
  CHECK_THROWS_WITH(outcome(example.shape, example.options, example.facts),
                    "the snapshot lacks a take that was in flight for sync " + std::to_string(sync));
}

TEST_CASE("snapshot: one bit of one message in flight moves the end", "[unit][trainer]") {
  Example example;
  float& value = example.snapshot->takes.begin()->second->values[0];
  value = std::nextafter(value, 1e9f);
  example.options.resume = example.snapshot;
  CHECK(!same(outcome(example.shape, example.options, example.facts), example.whole));
}

std::string file_of(const Snapshot& snapshot) {
  std::ostringstream out;
  write_snapshot(snapshot, {"0.1.0 (abc)", 0x1234, "an \"arm\"", 99}, out);
  return out.str();
}

SnapshotFile read_back(const std::string& bytes) {
  std::istringstream in(bytes);
  return read_snapshot(in);
}

TEST_CASE("snapshot file: what is read is what was written", "[unit][trainer]") {
  const Example example;
  const std::string bytes = file_of(*example.snapshot);
  const SnapshotFile file = read_back(bytes);
  CHECK(file.origin.version == "0.1.0 (abc)");
  CHECK(file.origin.scenario_hash == 0x1234);
  CHECK(file.origin.arm == "an \"arm\"");
  CHECK(file.origin.seed == 99);
  CHECK(file.snapshot.step == 77);
  CHECK(file_of(file.snapshot) == bytes);
}

TEST_CASE("snapshot file: damage, other files and other formats are named", "[unit][trainer]") {
  const Example example;
  const std::string bytes = file_of(*example.snapshot);
  for (std::size_t i = 0; i < bytes.size(); i += 1 + i / 64) {
    CAPTURE(i);
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    REQUIRE_THROWS_AS(read_back(damaged), SnapshotFileError);
    REQUIRE_THROWS_AS(read_back(bytes.substr(0, i)), SnapshotFileError);
  }
  std::string damaged = bytes;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  CHECK_THROWS_WITH(read_back(damaged), "damaged: the checksum does not match");
  const std::string length = std::to_string(bytes.size() - 32);
  CHECK_THROWS_WITH(read_back(bytes.substr(0, 40)), "truncated: 8 of " + length + " bytes are there");
  CHECK_THROWS_WITH(read_back(bytes.substr(0, 20)), "truncated: the header is cut off");
  CHECK_THROWS_WITH(read_back(bytes + "x"), "there is something after the end");
  CHECK_THROWS_WITH(read_back("ATOLTAPE and so on"), "this file is not a snapshot");
  damaged = bytes;
  damaged[8] = 9;
  CHECK_THROWS_WITH(read_back(damaged), "format must be 2; got 9");
}

}  // namespace
}  // namespace sim::trainer
