// tests/cli/replay_test.cpp: `atoll replay` and `atoll run --resume`, as a user meets them.
//
// Goal:   equal losses are said to be equal, other ones are found, and everything that cannot be
//         replayed is refused with its reason.
// Method: one recorded run with snapshots; the real program; whole texts.
// Teeth:  seen failing while a tape without mathematics was thought to have no slots. The negative cases
//         are its controls: each spoils one thing of a folder that passes as it is.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "sim/trainer/snapshot_file.h"
#include "tests/cli/run_command.h"
#include "tests/cli/small_scenario.h"

namespace tests_cli {
namespace {

using Catch::Matchers::Contains;

// The small scenario, recorded, with a snapshot every 100 steps.
struct Recorded : Place {
  Recorded() {
    write("small.toml", small_scenario());
    const Outcome got = atoll(
        {"run", "small.toml", "--set", "training.snapshot.every=100", "--record", "--quiet"}, root);
    if (got.exit_code != 0) throw std::runtime_error(got.err);
  }
};

// Made once: it is only read.
const Place& recorded() {
  static const Recorded place;
  return place;
}

const std::string kRun = "results/small/decoupled-diloco/seed-7";

// With a copy of the recorded run's folder as DIR, to be spoiled.
struct Copied : Place {
  Copied() { fs::copy(recorded().root / kRun, root / "DIR"); }
};

void flip(const std::string& path, std::size_t place) {
  std::string bytes = text_of(path);
  bytes.at(place) = static_cast<char>(bytes[place] ^ 1);
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST_CASE("replay: a recorded run's losses come back bit for bit", "[cli]") {
  const Outcome got = atoll({"replay", kRun}, recorded().root);
  CHECK(got.exit_code == 0);
  CHECK(got.err.empty());
  CHECK_THAT(got.out, Contains("Small: arm decoupled-diloco, seed 7\n"));
  CHECK_THAT(got.out, Contains("replayed: losses equal to the recorded run's bit for bit\n"));
  const auto summary = nlohmann::json::parse(text_of(recorded().root / kRun / "summary.json"));
  CHECK_THAT(got.out, Contains("trace hash " + summary["trace_hash"].get<std::string>()));
}

TEST_CASE("replay: the files that it writes are the recorded ones", "[cli]") {
  const Place place;
  const Outcome got = atoll({"replay", recorded().path(kRun), "--results", "OUT", "--format", "json",
                             "--threads", "2"},
                            place.root);
  REQUIRE(got.exit_code == 0);
  const auto json = nlohmann::json::parse(got.out);
  CHECK(json["equal"] == true);
  CHECK(json["clocks"]["violations"] == 0);
  for (const char* name : {"loss.csv", "convergence.csv", "scenario.toml"}) {
    CAPTURE(name);
    CHECK(text_of(place.root / "OUT" / name) == text_of(recorded().root / kRun / name));
  }
  CHECK(nlohmann::json::parse(text_of(place.root / "OUT/replay.json")) == json);
}

TEST_CASE("replay: data parallel, which has no merges", "[cli]") {
  const Place place;
  place.write("small.toml", small_scenario());
  REQUIRE(atoll({"run", "small.toml", "--arm", "data-parallel", "--record", "--quiet"}, place.root)
              .exit_code == 0);
  const Outcome got = atoll({"replay", "results/small/data-parallel/seed-7"}, place.root);
  CHECK(got.exit_code == 0);
  CHECK_THAT(got.out, Contains("bit for bit"));
  CHECK_THAT(got.out, !Contains("clocks:"));
}

TEST_CASE("replay: other settings on the same tape", "[cli]") {
  const std::vector<std::string> words = {"replay", kRun, "--set", "inner.learning_rate=1e-4"};
  const Outcome got = atoll(words, recorded().root);
  CHECK(got.exit_code == 0);
  CHECK_THAT(got.out, Contains("replayed: the recorded dates with inner.learning_rate=1e-4\n"));
  const Outcome same = atoll({"replay", kRun, "--set", "learning.batch=16"}, recorded().root);
  CHECK_THAT(same.out, Contains("bit for bit"));  // as recorded
  const Outcome model = atoll({"replay", kRun, "--set", "learning.model=mlp", "--set",
                               "learning.task=teacher", "--set", "training.inner.optimizer=sgd",
                               "--format", "csv"},
                              recorded().root);
  CHECK(model.exit_code == 0);
  CHECK(model.out.starts_with("mark,time_s,tokens,loss,recorded_loss\ntime,600.000000000,"));
}

TEST_CASE("replay: what the tape has fixed is not for setting", "[cli]") {
  const auto refused = [](const std::string& set) {
    const Outcome got = atoll({"replay", kRun, "--set", set}, recorded().root);
    CHECK(got.exit_code == 2);
    CHECK(got.out.empty());
    return got.err;
  };
  CHECK(refused("training.quorum=2") ==
        "--set training.quorum=2: error: training.quorum: is fixed by the tape\n"
        "  hint: a replay may change learning, inner, outer, merge and mixing; for the rest record the "
        "run again\n");
  CHECK(refused("learning.evaluations=5") ==
        "--set learning.evaluations=5: error: learning.evaluations: is fixed by the tape, which says "
        "when to evaluate\n  hint: record the run again with it\n");
  CHECK(refused("learning.batch=32") ==
        kRun + "/tape.atoll: error: learning.batch: must be 16, the slots of the tape; got 32\n"
               "  hint: a run hands slots out for good; one without a model, one to each slice\n");
  CHECK(refused("learning.model=none") ==
        kRun + "/scenario.toml: error: learning.model: is none, so there is nothing to replay\n"
               "  hint: run it again with --set learning.model=... --record\n");
  CHECK_THAT(refused("learning.modle=mlp"), Contains("did you mean 'model'?"));
}

TEST_CASE("replay: a run without mathematics gets them afterwards, one slot to each slice", "[cli]") {
  const Place place;
  place.write("small.toml", small_scenario());
  REQUIRE(atoll({"run", "small.toml", "--set", "learning.model=none", "--record", "--quiet"}, place.root)
              .exit_code == 0);
  const std::vector<std::string> words = {"replay", kRun, "--set", "learning.model=quadratic"};
  CHECK_THAT(atoll(words, place.root).err, Contains("learning.batch: must be 4, the slots of the tape"));
  std::vector<std::string> with_batch = words;
  with_batch.insert(with_batch.end(), {"--set", "learning.batch=4"});
  const Outcome got = atoll(with_batch, place.root);
  CHECK(got.exit_code == 0);
  CHECK_THAT(got.out, Contains("time  600.000000000"));
  CHECK_THAT(got.out, Contains("replayed: the recorded dates with learning.model=quadratic, "
                               "learning.batch=4\n"));
}

TEST_CASE("replay: a tape that is missing, cut, damaged or another's is refused", "[cli]") {
  const auto refusal = [](const Place& place, int exit_code) {
    const Outcome got = atoll({"replay", "DIR"}, place.root);
    CHECK(got.exit_code == exit_code);
    CHECK(got.out.empty());
    return got.err;
  };
  const Place nothing;
  CHECK(refusal(nothing, 3) == "DIR: error: holds no results of a run\n"
                               "  hint: give the folder that holds its scenario.toml and tape.atoll\n");
  const Copied place;
  const std::string tape = place.path("DIR/tape.atoll"), whole = text_of(tape);
  fs::remove(tape);
  CHECK(refusal(place, 3) ==
        "DIR/tape.atoll: error: there is no tape\n  hint: record it with --record\n");
  place.write("DIR/tape.atoll", whole.substr(0, whole.size() - 24));
  CHECK(refusal(place, 3) == "DIR/tape.atoll: error: truncated: there is no end mark\n");
  place.write("DIR/tape.atoll", whole);
  flip(tape, whole.size() / 2);
  CHECK_THAT(refusal(place, 3),
             Catch::Matchers::Matches("DIR/tape.atoll: error: damaged: the checksum of block [0-9]+ does "
                                      "not match\n"));
  place.write("DIR/tape.atoll", whole);
  flip(tape, 9);  // 3 becomes 259; 2 is still read
  CHECK(refusal(place, 3) == "DIR/tape.atoll: error: format must be 2 or 3; got 259\n");
  place.write("DIR/tape.atoll", "time_s,loss\n");
  CHECK(refusal(place, 3) == "DIR/tape.atoll: error: this file is not a tape\n");
  place.write("DIR/tape.atoll", whole);
  std::string scenario = text_of(place.path("DIR/scenario.toml"));
  scenario.replace(scenario.find("seed = 7"), 8, "seed = 8");
  place.write("DIR/scenario.toml", scenario);
  CHECK_THAT(refusal(place, 2),
             Catch::Matchers::Matches("DIR/tape.atoll: error: is of another scenario \\([0-9a-f]{16}\\) "
                                      "than the scenario.toml beside it \\([0-9a-f]{16}\\)\n"
                                      "  hint: record it again with --record\n"));
}

TEST_CASE("replay: the first loss that differs is named, and the exit code is 1", "[cli]") {
  const Copied place;
  std::string loss = text_of(place.path("DIR/loss.csv"));
  const std::size_t third = loss.find('\n', loss.find('\n') + 1) + 1;
  const std::string line = loss.substr(third, loss.find('\n', third) - third);
  loss.replace(third, line.size(), "1.0,2,3");
  place.write("DIR/loss.csv", loss);
  const Outcome got = atoll({"replay", "DIR"}, place.root);
  CHECK(got.exit_code == 1);
  CHECK_THAT(got.out, Contains("replayed: losses differ from the recorded run's\n"));
  CHECK(got.err == "DIR/loss.csv:3: error: recorded 1.0,2,3, replayed " + line + "\n");
}

TEST_CASE("replay: its results do not take the recorded run's place", "[cli]") {
  const Outcome got = atoll({"replay", kRun, "--results", kRun}, recorded().root);
  CHECK(got.exit_code == 2);
  CHECK(got.err ==
        "error: --results: must be another folder than the recorded run's; got " + kRun + "\n");
}

TEST_CASE("resume: a run and a replay go on from a snapshot and end the same", "[cli]") {
  const Place place;
  place.write("small.toml", small_scenario());
  const std::string snapshot = recorded().path(kRun + "/snapshot-2.atoll");
  const Outcome got = atoll({"run", "small.toml", "--set", "training.snapshot.every=100", "--record",
                             "--quiet", "--resume", snapshot},
                            place.root);
  REQUIRE(got.exit_code == 0);
  std::size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(place.root / kRun)) {
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    CHECK(text_of(entry.path()) == text_of(recorded().root / kRun / name));
    ++compared;
  }
  CHECK(compared >= 13);
  const Outcome replayed = atoll({"replay", kRun, "--from", snapshot}, recorded().root);
  CHECK(replayed.exit_code == 0);
  CHECK_THAT(replayed.out, Contains("from " + snapshot + "\n"));
  CHECK_THAT(replayed.out, Contains("bit for bit"));
}

TEST_CASE("resume: a snapshot that does not belong here is refused", "[cli]") {
  const Copied place;
  place.write("small.toml", small_scenario());
  const auto refusal = [&](const std::string& snapshot, int exit_code,
                           const std::string& set = "training.snapshot.every=100") {
    const Outcome got =
        atoll({"run", "small.toml", "--set", set, "--results", "", "--resume", snapshot}, place.root);
    CHECK(got.exit_code == exit_code);
    CHECK(got.out.empty());
    return got.err;
  };
  const std::string snapshot = place.path("DIR/snapshot-1.atoll"), whole = text_of(snapshot);
  CHECK(refusal("none.atoll", 3) == "none.atoll: error: cannot be read: No such file or directory\n");
  CHECK(refusal("DIR/tape.atoll", 3) == "DIR/tape.atoll: error: this file is not a snapshot\n");
  CHECK(refusal("DIR/snapshot-1.atoll", 2, "training.quorum=2") ==
        "small.toml: error: is another scenario than that of DIR/snapshot-1.atoll\n"
        "  hint: the scenario.toml beside a snapshot is its own\n");
  place.write("DIR/snapshot-1.atoll", whole.substr(0, 100));
  CHECK(refusal("DIR/snapshot-1.atoll", 3) ==
        "DIR/snapshot-1.atoll: error: truncated: 68 of " + std::to_string(whole.size() - 32) +
            " bytes are there\n");
  place.write("DIR/snapshot-1.atoll", whole);
  flip(snapshot, whole.size() / 2);
  CHECK(refusal("DIR/snapshot-1.atoll", 3) ==
        "DIR/snapshot-1.atoll: error: damaged: the checksum does not match\n");
  place.write("DIR/snapshot-1.atoll", whole);
  flip(snapshot, 8);
  CHECK(refusal("DIR/snapshot-1.atoll", 3) ==
        "DIR/snapshot-1.atoll: error: format must be 2; got 3\n");

  std::istringstream in(whole);
  sim::trainer::SnapshotFile file = sim::trainer::read_snapshot(in);
  const std::string ours = std::exchange(file.origin.version, "0.0.1 (old)");
  std::ofstream out(snapshot, std::ios::binary);
  sim::trainer::write_snapshot(file.snapshot, file.origin, out);
  out.close();
  CHECK(refusal("DIR/snapshot-1.atoll", 2) ==
        "DIR/snapshot-1.atoll: error: was written by version \"0.0.1 (old)\"; this is \"" + ours +
            "\"\n  hint: another version may train other bits; use the one that wrote it\n");
}

TEST_CASE("resume: the snapshot says which arm and seed", "[cli]") {
  const Outcome got = atoll({"run", "small.toml", "--resume", kRun + "/snapshot-1.atoll", "--seed", "3"},
                            recorded().root);
  CHECK(got.exit_code == 2);
  CHECK_THAT(got.err, Contains("excludes"));
}

}  // namespace
}  // namespace tests_cli
