// tests/cli/merge_test.cpp: the shards of a sweep become its tables, or it is said why not.
//
// Teeth:  seen failing with the sweep loaded as a scenario, without --force and hints of merge's own, with the
//         lock taken before looking whose the folder is, with a shard allowed as target, with no word of the
//         first failure, with every journal trouble thrown as a bug, with any number of shards counted out, and
//         with a merged folder resumed.
#include <catch2/catch.hpp>

#include "tests/cli/small_sweep.h"

namespace tests_cli {
namespace {

using Catch::Matchers::StartsWith;

void run_shards(const Place& place, const std::string& words = "") {
  for (const char* shard : {"1/2", "2/2"}) {
    REQUIRE(shell("atoll sweep small.toml --quiet --force --shard " + std::string(shard) + " " + words, place.root).exit_code != 2);
  }
}

Outcome merge(const Place& place, const std::string& words = "") {
  return shell("atoll merge results/small.sweep/shard-* " + words, place.root);
}

// The file is looked for beside the scenario, and nobody's shard lies there; one axis names it, too.
TEST_CASE("merge: a sweep over a data file, which is not there any more", "[cli][sweep]") {
  const Place place;
  const std::string scenario = goodput_scenario() + R"([learning]
model = "mlp"
task = "text"
file = "words.txt"
context = 2
hidden = 4
batch = 64
held_out = 64
)";
  std::string words;
  for (int i = 0; i < 200; ++i) words += "word" + std::to_string(i * i) + "\n";
  place.write("words.txt", words);
  place.write("others.txt", words + words);
  place.write("base.toml", scenario);
  place.write("small.toml", R"(format = 1
base = "base.toml"
[sweep]
seeds = "1..2"
set = ["marks.time=1 min"]
[[sweep.axis]]
key = "learning.file"
values = ["words.txt", "others.txt"]
[[sweep.axis]]
key = "training.upscale"
values = ["12 s", "24 s"]
)");
  REQUIRE(shell("atoll sweep small.toml --results whole", place.root).err == "");
  run_shards(place);
  for (const char* name : {"words.txt", "others.txt", "base.toml", "small.toml"}) fs::remove(place.root / name);
  const Outcome got = merge(place);
  CHECK(got.err == "");
  CHECK(got.exit_code == 0);
  for (const char* table : {"runs.csv", "points.csv"}) {
    CHECK(table_of(place, kFolder, table) == table_of(place, "whole/small.sweep", table));
  }
  CHECK(rows_of(table_of(place, kFolder, "runs.csv")).size() == 16);
}

TEST_CASE("merge: after a change the same place takes the new tables with --force", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  run_shards(place);
  REQUIRE(merge(place).exit_code == 0);
  CHECK(merge(place).exit_code == 0);
  run_shards(place, "--seeds 1..2");
  const Outcome refused = merge(place);
  CHECK(refused.exit_code == 2);
  CHECK(refused.err == "results/small.sweep: error: holds another sweep\n"
                       "  hint: --force replaces it, --out DIR writes elsewhere\n");
  CHECK_THAT(merge(place, "--force").out, StartsWith("24 runs, 0 failed\n"));
  CHECK_THAT(merge(place, "--out elsewhere").out, StartsWith("24 runs, 0 failed\nelsewhere/runs.csv\n"));
  // The shards hold the runs; a whole sweep that goes on here would do them all again.
  const Outcome resumed = shell("atoll sweep small.toml --seeds 1..2 --resume", place.root);
  CHECK(resumed.exit_code == 2);
  CHECK(resumed.err == "results/small.sweep: error: was merged from shards, which hold its runs\n"
                       "  hint: --resume goes on with each --shard, then merge again; --force begins again\n");
}

TEST_CASE("merge: a folder that is not ours stays as it is", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  run_shards(place);
  place.write("mine/letter", "dear");
  const Outcome got = merge(place, "--out mine");
  CHECK(got.exit_code == 2);
  CHECK(got.err == "mine: error: holds something else than a sweep\n"
                   "  hint: --force writes into it all the same, --out DIR writes elsewhere\n");
  CHECK(std::distance(fs::directory_iterator(place.root / "mine"), fs::directory_iterator()) == 1);
  const Outcome shard = merge(place, "--force --out results/small.sweep/shard-1-of-2");
  CHECK(shard.exit_code == 2);
  CHECK(shard.err == "results/small.sweep/shard-1-of-2: error: is one of the shards\n"
                     "  hint: --out DIR writes elsewhere\n");
  CHECK(merge(place).exit_code == 0);
}

TEST_CASE("merge: failed runs are named", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  run_shards(place, "--abort-at 100 --abort-seed 3");
  const Outcome got = merge(place);
  CHECK(got.exit_code == 4);
  CHECK_THAT(got.out, StartsWith("60 runs, 12 failed\n"));
  CHECK_THAT(got.err, StartsWith("first failed run: failure.chips.mtbi=\"30 d\", training.upscale=\"12 s\", arm decoupled, "
                                 "seed 3: the run was ended by signal 6 (Aborted)\n  repeat with: atoll run "
                                 "'results/small.sweep/shard-1-of-2/sweep.toml' --arm 'decoupled' --seed 3 "));
  const std::string command = got.err.substr(got.err.find("atoll run"));
  CHECK(shell(command.substr(0, command.find('\n')), place.root).exit_code == 0);
}

TEST_CASE("merge: journals and records that are not ours are refused by name", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  run_shards(place);
  REQUIRE(shell("atoll sweep small.toml --seeds 1..2 --results other", place.root).exit_code == 0);
  fs::copy_file(place.root / "other/small.sweep/journal/00001.journal",
                place.root / kFolder / "shard-2-of-2/journal/99999.journal");
  const Outcome foreign = merge(place);
  CHECK(foreign.exit_code == 2);
  CHECK(foreign.err == "results/small.sweep/shard-2-of-2/journal/99999.journal: error: holds runs of another sweep\n"
                       "  hint: take it away, or run the shard again with --force\n");
  fs::remove(place.root / kFolder / "shard-2-of-2/journal/99999.journal");
  REQUIRE(merge(place).exit_code == 0);
  REQUIRE(shell("sed -i '2s|.*|# shard: 1/99999999999|' results/small.sweep/shard-1-of-2/sweep.toml", place.root).exit_code == 0);
  const Outcome many = merge(place);
  CHECK(many.exit_code == 2);
  CHECK(many.err == "results/small.sweep/shard-1-of-2: error: is one of 99999999999 shards, more than 1000000\n"
                    "  hint: run the sweep with fewer shards\n");
}

}  // namespace
}  // namespace tests_cli
