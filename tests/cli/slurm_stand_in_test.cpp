// tests/cli/slurm_stand_in_test.cpp: a sweep on Slurm when the cluster, or its own past, is awkward.
//
// Slurm is a few scripts here (stand_in_slurm.h); tests/slurm is a real one.
// Teeth:  seen failing with shards removed before the lock is held, with records of shards not compared, with
//         stderr read as an answer, with a silent squeue taken for an empty queue, with jobs not remembered,
//         with the shard count not compared (hangs), with Slurm not looked for first, with nobody counting
//         failed runs (hangs), with the tables of failed runs left, with SIGHUP left at its default, with an
//         ignored one watched (hangs), with jobs not cancelled, with any answer of sbatch taken for a number, with
//         earlier rows counted as this command's, and with a second hint behind each.
#include <catch2/catch.hpp>

#include "tests/cli/stand_in_slurm.h"

namespace tests_cli {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

struct Cluster {
  Cluster() { write_small_sweep(place); }

  Place place;
  StandInSlurm slurm{place};
};

TEST_CASE("slurm: tables are those of a local sweep, whatever else the commands say", "[cli][sweep]") {
  const Cluster c;
  REQUIRE(atoll({"sweep", "small.toml", "--seeds", "1..2", "--results", "local"}, c.place.root).exit_code == 0);
  c.slurm.set("silent", "13");  // longer than a task may be missing
  const Outcome got = c.slurm.sweep("--shards 3 --seeds 1..2 --keep");
  CHECK(got.err == "job 4242: shards 1,2,3 of 3\n");
  CHECK(got.exit_code == 0);
  CHECK(got.out == "24 runs, 0 failed\nresults/small.sweep/runs.csv\nresults/small.sweep/points.csv\n");
  for (const char* table : {"runs.csv", "points.csv"}) {
    CHECK(table_of(c.place, kFolder, table) == table_of(c.place, "local/small.sweep", table));
  }
  CHECK(text_of(c.place.root / kFolder / "slurm/jobs") == "shards 3\njob 4242\n");
  CHECK(fs::exists(c.place.root / kFolder / "shard-3-of-3/kept/point-5/elastic/seed-2/summary.json"));
  CHECK(c.slurm.count("sbatch ") == 1);
}

TEST_CASE("slurm: --force leaves the shards of a sweep that is at work", "[cli][sweep]") {
  const Cluster c;
  c.place.write(kFolder + "/shard-1-of-3/journal/00001.journal", "rows");
  const Started held({"/bin/bash", "-c", "exec 9>>results/small.sweep/lock; flock 9; touch locked; exec sleep 60"},
                     c.place.root);
  while (!fs::exists(c.place.root / "locked")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const Outcome got = c.slurm.sweep("--force");
  held.send(SIGKILL);
  held.wait();
  CHECK(got.exit_code == 2);
  CHECK_THAT(got.err, StartsWith("results/small.sweep: error: another sweep is at work here"));
  CHECK(text_of(c.place.root / kFolder / "shard-1-of-3/journal/00001.journal") == "rows");
  CHECK(c.slurm.count("sbatch ") == 0);
}

TEST_CASE("slurm: --force cancels what was submitted before and begins again", "[cli][sweep]") {
  const Cluster c;
  REQUIRE(c.slurm.sweep("--shards 2 --seeds 1..1").exit_code == 0);
  const Outcome got = c.slurm.sweep("--shards 3 --force --seeds 1..2");
  CHECK(got.exit_code == 0);
  CHECK(c.slurm.count("scancel 4242") == 1);
  CHECK_FALSE(fs::exists(c.place.root / kFolder / "shard-1-of-2"));
  CHECK(text_of(c.place.root / kFolder / "slurm/jobs") == "shards 3\njob 4243\n");
}

TEST_CASE("slurm: shards of another sweep are refused, not merged", "[cli][sweep]") {
  const Cluster c;
  for (const char* shard : {"1/2", "2/2"}) {
    REQUIRE(atoll({"sweep", "small.toml", "--seeds", "1..2", "--shard", shard}, c.place.root).exit_code == 0);
  }
  const Outcome got = c.slurm.sweep("--shards 2");
  CHECK(got.exit_code == 2);
  CHECK(got.out == "");
  CHECK(got.err == "results/small.sweep/shard-1-of-2: error: holds a shard of another sweep or version than "
                   "results/small.sweep\n  hint: --force begins again, --results DIR writes elsewhere\n");
  CHECK_FALSE(fs::exists(c.place.root / kFolder / "points.csv"));
  CHECK(c.slurm.count("sbatch ") == 0);
}

TEST_CASE("slurm: one that does not answer is given up at last, and says so once", "[cli][sweep]") {
  const Cluster c;
  c.slurm.set("hold");
  c.slurm.set("silent", "1000");
  const Outcome got = c.slurm.sweep("--shards 2 --quiet");
  CHECK(got.exit_code == 3);
  CHECK(got.err == "squeue: error: has failed for 1 s: squeue: warning: line 3 of this site's greeting\n"
                   "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n"
                   "  hint: the tasks are cancelled if scancel could reach Slurm; --resume goes on\n");
  CHECK(c.slurm.count("scancel 4242") == 1);
  CHECK(c.slurm.count("sbatch ") == 1);
}

TEST_CASE("slurm: a task that is gone without its tables is queued again, then given up", "[cli][sweep]") {
  const Cluster c;
  c.slurm.set("hold");
  const Started sweep(c.slurm.command("--shards 2 --slurm-retries 1"), c.place.root);
  c.slurm.wait_for("squeue ");
  c.slurm.unset("queue/4242/2");
  c.slurm.wait_for("sbatch ", 2);
  c.slurm.wait_for("squeue --noheader --array --jobs=4243");
  c.slurm.unset("queue/4243/2");
  const Outcome got = sweep.wait();
  CHECK(got.exit_code == 3);
  CHECK(got.err == "job 4242: shards 1,2 of 2\n"
                   "shard 2/2 is gone from the queue and not complete: queued again\n"
                   "job 4243: shards 2 of 2\n"
                   "results/small.sweep/shard-2-of-2: error: shard 2/2 ended 2 times without its tables\n"
                   "  hint: see results/small.sweep/slurm/shard-2.log; --resume goes on\n");
  CHECK(c.slurm.count("scontrol requeue 4242_2") == 1);
  CHECK(c.slurm.count("scancel 4242") == 1);
}

TEST_CASE("slurm: a coordinator that was killed finds its tasks again", "[cli][sweep]") {
  const Cluster c;
  c.slurm.set("hold");
  const Started killed(c.slurm.command("--shards 3"), c.place.root);
  c.slurm.wait_for("squeue ");
  killed.send(SIGKILL);
  killed.wait();
  const Outcome other = c.slurm.sweep("--resume --shards 2");
  CHECK(other.exit_code == 2);
  CHECK(other.err == "results/small.sweep: error: was begun with 3 shards; this is 2\n"
                     "  hint: go on with --shards 3, or --force begins again\n");
  const Outcome local = atoll({"sweep", "small.toml", "--resume"}, c.place.root);
  CHECK(local.exit_code == 2);
  CHECK(local.err == "results/small.sweep: error: holds this sweep as a job array of Slurm\n"
                     "  hint: --executor slurm --resume goes on with it, --force begins again\n");
  c.slurm.run_task("4242", 1);
  const std::size_t looks = c.slurm.count("squeue ");
  const Started resumed(c.slurm.command("--resume"), c.place.root);
  c.slurm.wait_for("squeue ", looks + 2);
  for (const int task : {2, 3}) c.slurm.run_task("4242", task);
  const Outcome got = resumed.wait();
  CHECK(got.exit_code == 0);
  CHECK(got.err == "job 4242: shards 2,3 of 3 are still there\n");
  CHECK(c.slurm.count("sbatch ") == 1);
  CHECK(rows_of(table_of(c.place, kFolder, "runs.csv")).size() == 60);
}

TEST_CASE("slurm: a signal cancels the tasks; an ignored SIGHUP is ignored", "[cli][sweep]") {
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    CAPTURE(number);
    const Cluster c;
    c.slurm.set("hold");
    const Started sweep(c.slurm.command("--shards 2 --quiet"), c.place.root);
    c.slurm.wait_for("squeue ");
    sweep.send(number);
    const Outcome got = sweep.wait();
    CHECK(got.exit_code == 128 + number);
    CHECK(got.err == "stopped: 0 of 60 runs are done, 0 of them failed\n  hint: --resume goes on\n");
    CHECK(c.slurm.count("scancel 4242") == 1);
  }
  const Cluster c;
  c.slurm.set("hold");
  std::vector<std::string> words = c.slurm.command("--shards 2 --quiet");
  words.back() = "trap '' HUP; " + words.back();
  const Started ignoring(words, c.place.root);
  c.slurm.wait_for("squeue ");
  ignoring.send(SIGHUP);
  c.slurm.wait_for("squeue ", c.slurm.count("squeue ") + 2);
  ignoring.send(SIGTERM);
  CHECK(ignoring.wait().exit_code == 128 + SIGTERM);
}

TEST_CASE("slurm: without its commands nothing is written", "[cli][sweep]") {
  const Cluster c;
  const Outcome got = Started({"/usr/bin/env", "PATH=/nowhere", program(), "sweep", "small.toml", "--executor", "slurm"},
                              c.place.root)
                          .wait();
  CHECK(got.exit_code == 3);
  CHECK(got.err == "sbatch: error: cannot be started\n  hint: --executor slurm needs Slurm's commands on the PATH\n");
  CHECK_FALSE(fs::exists(c.place.root / "results"));
}

TEST_CASE("slurm: what sbatch refuses, or answers without a number", "[cli][sweep]") {
  const Cluster c;
  c.slurm.set("answer", "Submitted batch job\n");
  const Outcome odd = c.slurm.sweep("--shards 2");
  CHECK(odd.exit_code == 3);
  CHECK(odd.err == "sbatch: error: must tell the job's number; got \"Submitted batch job\"\n"
                   "  hint: look with squeue whether there is a job, and cancel it before --resume\n");
  c.slurm.set("refuse");
  const Outcome refused = c.slurm.sweep("--shards 2 --resume");
  CHECK(refused.exit_code == 3);
  CHECK(refused.err == "sbatch: error: refused the job: sbatch: warning: line 3 of this site's greeting\n"
                       "sbatch: error: invalid partition specified: fast\n  hint: --resume tries again\n");
  c.slurm.unset("refuse");
  c.slurm.unset("answer");
  CHECK_FALSE(fs::exists(c.place.root / kFolder / "slurm/jobs"));
}

TEST_CASE("slurm: failed runs are named, and done again when asked to", "[cli][sweep]") {
  const Cluster c;
  const Outcome got = c.slurm.sweep("--shards 2 --quiet --seeds 2..3 --abort-at 100 --abort-seed 3");
  CHECK(got.exit_code == 4);
  CHECK_THAT(got.err, StartsWith("first failed run: failure.chips.mtbi=\"30 d\", training.upscale=\"12 s\", arm "
                                 "decoupled, seed 3: ") &&
                          Contains("repeat with: atoll run 'base.toml' --arm 'decoupled' --seed 3 "));
  CHECK_THAT(c.slurm.sweep("--quiet --seeds 2..3 --resume --retry-failed").out, StartsWith("24 runs, 0 failed\n"));
}

TEST_CASE("slurm: --fail-fast stops the whole array", "[cli][sweep]") {
  const Cluster c;
  c.slurm.set("hold");
  const Started stops(c.slurm.command("--shards 2 --quiet --seeds 3..3 --fail-fast --abort-at 100 --abort-seed 3"),
                      c.place.root);
  c.slurm.wait_for("--jobs=4242");
  c.slurm.run_task("4242", 1);
  const Outcome stopped = stops.wait();
  CHECK(stopped.exit_code == 4);
  CHECK_THAT(stopped.err, StartsWith("stopped: too many runs failed; "));
  CHECK(c.slurm.count("scancel 4242") == 1);
}

// On a terminal, which script(1) is: the rows that were there before are no pace of this command.
TEST_CASE("slurm: the time that is left counts from what was there at the start", "[cli][sweep]") {
  const Cluster c;
  for (const char* shard : {"1/3", "2/3"}) {
    REQUIRE(atoll({"sweep", "small.toml", "--shard", shard}, c.place.root).exit_code == 0);
  }
  const Outcome got = Started({"/usr/bin/script", "-qec", c.slurm.command("--shards 3").back(), "/dev/null"}, c.place.root).wait();
  CHECK(got.exit_code == 0);
  CHECK_THAT(got.out, Contains(" 67 %  40 of 60 runs, 0 failed"));
}

}  // namespace
}  // namespace tests_cli
