// tests/cli/sweep_test.cpp: what a sweep writes, and that nothing but the sweep decides it.
//
// Teeth:  seen failing with rows written in order of ending, with columns in the order of the journals,
//         with seeds drawn anew per point, with the axes' order turned round, with a crash that ends the
//         sweep, with the lock left out, with two arms' differences taken unpaired, and with a command to repeat
//         that sets keys for all arms.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/small_sweep.h"

namespace tests_cli {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("sweep: rows are points x arms x seeds, in order, with what varied", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  const Outcome got = sweep(place, {});
  CHECK(got.err == "");
  CHECK(got.exit_code == 0);
  CHECK(got.out == "60 runs, 0 failed\nresults/small.sweep/runs.csv\nresults/small.sweep/points.csv\n");
  const auto rows = rows_of(table_of(place, kFolder, "runs.csv"));
  REQUIRE(rows.size() == 60);
  const char* const mtbi_s[] = {"2592000", "7776000", "31557600"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    CHECK(rows[i].at("point") == std::to_string(i / 10));
    CHECK(rows[i].at("failure.chips.mtbi_s") == mtbi_s[i / 20]);
    CHECK(rows[i].at("training.upscale_s") == (i / 10 % 2 == 0 ? "12" : "24"));
    CHECK(rows[i].at("arm") == (i / 5 % 2 == 0 ? "decoupled" : "elastic"));
    CHECK(rows[i].at("seed") == std::to_string(i % 5 + 1));
    CHECK(rows[i].at("status") == "done");
  }
}

// Also the second method for flattening: the same run alone, its summary.json read as JSON.
TEST_CASE("sweep: a row is what the run alone gives", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  REQUIRE(sweep(place, {}).exit_code == 0);
  REQUIRE(atoll({"run", "base.toml", "--arm", "elastic", "--seed", "4", "--set", "failure.chips.mtbi=90 d",
                 "--set", "training.upscale=24 s"},
                place.root)
              .exit_code == 0);
  const auto summary =
      nlohmann::ordered_json::parse(text_of(place.root / "results/base/elastic/seed-4/summary.json"));
  const auto row = rows_of(table_of(place, kFolder, "runs.csv")).at(3 * 10 + 5 + 3);
  REQUIRE(row.at("seed") == "4");
  std::size_t looked_at = 0;
  const auto flat = summary.flatten();
  for (const auto& [name, value] : flat.items()) {
    std::string column = name.substr(1);
    for (char& c : column) c = c == '/' ? '.' : c;
    const bool list = column.starts_with("properties.violations") ||
                      column.starts_with("faults_never_met") || column == "liveness";
    if (column == "arm" || column == "seed" || list) continue;  // a list is one cell
    CAPTURE(column);
    CHECK(row.at(column) == (value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump()));
    ++looked_at;
  }
  CHECK(looked_at > 50);
}

TEST_CASE("sweep: points.csv is the mean and the paired differences of runs.csv", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  REQUIRE(sweep(place, {}).exit_code == 0);
  const auto runs = rows_of(table_of(place, kFolder, "runs.csv"));
  std::size_t found = 0;
  for (const auto& row : rows_of(table_of(place, kFolder, "points.csv"))) {
    if (row.at("point") != "1" || row.at("metric") != "goodput.stepping" || row.at("arm") != "decoupled") continue;
    ++found;
    double sum = 0, difference = 0, squares = 0;
    std::vector<double> differences;
    for (std::size_t i = 10; i < 15; ++i) {
      sum += std::stod(runs[i].at("goodput.stepping"));
      differences.push_back(std::stod(runs[i].at("goodput.stepping")) -
                            std::stod(runs[i + 5].at("goodput.stepping")));
      difference += differences.back() / 5;
    }
    for (const double d : differences) squares += (d - difference) * (d - difference);
    constexpr double kStudent4 = 2.7764451;  // two-sided 95 %, four degrees of freedom; any table
    const double half = kStudent4 * std::sqrt(squares / 4 / 5);
    CHECK(std::stod(row.at("mean")) == Approx(sum / 5).epsilon(1e-12));
    CHECK(std::stod(row.at("difference_mean")) == Approx(difference).epsilon(1e-9));
    CHECK(std::stod(row.at("difference_low")) == Approx(difference - half).epsilon(1e-6));
    CHECK(std::stod(row.at("difference_high")) == Approx(difference + half).epsilon(1e-6));
    CHECK(row.at("n") == "5");
  }
  CHECK(found == 1);
}

TEST_CASE("sweep: tables do not depend on jobs, shards or the file that is swept", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  REQUIRE(sweep(place, {"--jobs", "2"}).exit_code == 0);
  const std::string runs = table_of(place, kFolder, "runs.csv"), points = table_of(place, kFolder, "points.csv");
  REQUIRE(sweep(place, {"--jobs", "1", "--results", "one"}).exit_code == 0);
  CHECK(table_of(place, "one/small.sweep", "runs.csv") == runs);
  for (const char* shard : {"1/4", "2/4", "3/4", "4/4"}) {
    REQUIRE(sweep(place, {"--results", "shards", "--shard", shard}).exit_code == 0);
  }
  const Outcome merged = shell("atoll merge shards/small.sweep/shard-*", place.root);
  CHECK(merged.err == "");
  CHECK(merged.out ==
        "60 runs, 0 failed\nshards/small.sweep/runs.csv\nshards/small.sweep/points.csv\n");
  CHECK(table_of(place, "shards/small.sweep", "runs.csv") == runs);
  CHECK(table_of(place, "shards/small.sweep", "points.csv") == points);
  // sweep.toml, which every folder holds, is the sweep with all values written out.
  REQUIRE(shell("cp results/small.sweep/sweep.toml small.toml && rm base.toml", place.root).exit_code == 0);
  REQUIRE(sweep(place, {"--results", "again"}).exit_code == 0);
  CHECK(table_of(place, "again/small.sweep", "runs.csv") == runs);
}

TEST_CASE("sweep: merge refuses what is not all of one sweep", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  for (const char* shard : {"1/2", "2/2"}) REQUIRE(sweep(place, {"--shard", shard}).exit_code == 0);
  const auto refusal = [&](const std::string& words) {
    const Outcome got = shell("cd results/small.sweep && atoll merge " + words + " --out out", place.root);
    CHECK(got.exit_code == 2);
    CHECK(got.out == "");
    return got.err;
  };
  CHECK(refusal("shard-1-of-2 shard-1-of-2") ==
        "shard-1-of-2: error: is shard 1/2, and so is shard-1-of-2\n  hint: name each shard once\n");
  CHECK(refusal("shard-2-of-2") ==
        "shard-2-of-2: error: is not all of its sweep; missing are the shards 1/2\n"
        "  hint: name the folders of all shards\n");
  CHECK(refusal("shard-1-of-2 nowhere") ==
        "nowhere: error: holds no shard of a sweep\n  hint: give folders that atoll sweep --shard wrote\n");
  REQUIRE(shell("sed -i '1s/version: .*/version: 9.9/' results/small.sweep/shard-2-of-2/sweep.toml", place.root)
              .exit_code == 0);
  CHECK_THAT(refusal("shard-1-of-2 shard-2-of-2"),
             StartsWith("shard-2-of-2: error: was run by version 9.9; shard-1-of-2 by "));
  REQUIRE(sweep(place, {"--shard", "2/3"}).exit_code == 0);
  CHECK(refusal("shard-1-of-2 shard-2-of-3") ==
        "shard-2-of-3: error: is one of 3 shards; shard-1-of-2 is one of 2\n"
        "  hint: merge shards of one division\n");
  REQUIRE(sweep(place, {"--shard", "2/2", "--force", "--seeds", "1..3"}).exit_code == 0);
  CHECK(refusal("shard-1-of-2 shard-2-of-2") ==
        "shard-2-of-2: error: is of another sweep than shard-1-of-2\n  hint: merge shards of one sweep\n");
  REQUIRE(shell("rm results/small.sweep/shard-1-of-2/journal/*", place.root).exit_code == 0);
  REQUIRE(sweep(place, {"--shard", "2/2", "--force"}).exit_code == 0);
  CHECK(refusal("shard-1-of-2 shard-2-of-2") ==
        "shard-1-of-2: error: is not complete: 30 runs to go\n  hint: finish the shard with --resume\n");
}

TEST_CASE("sweep: a run that crashes is a row with its reason, exit code 4", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  const Outcome got = sweep(place, {"--abort-at", "100", "--abort-seed", "3"});
  CHECK(got.exit_code == 4);
  CHECK_THAT(got.out, StartsWith("60 runs, 12 failed\n"));
  CHECK(got.err ==
        "first failed run: failure.chips.mtbi=\"30 d\", training.upscale=\"12 s\", arm decoupled, seed 3: the run was "
        "ended by signal 6 (Aborted)\n  repeat with: atoll run 'base.toml' --arm 'decoupled' --seed 3 "
        "--set 'arm.decoupled.failure.chips.mtbi=\"30 d\"' --set 'arm.decoupled.training.upscale=\"12 s\"' --results "
        "''\n");
  const auto rows = rows_of(table_of(place, kFolder, "runs.csv"));
  REQUIRE(rows.size() == 60);
  for (const auto& row : rows) {
    const bool crashed = row.at("seed") == "3";
    CHECK(row.at("status") == (crashed ? "failed" : "done"));
    CHECK(row.at("reason") == (crashed ? "the run was ended by signal 6 (Aborted)" : ""));
    CHECK(row.at("goodput.time").empty() == crashed);
    CHECK(row.at("run_id").size() == 16);
  }
  const auto point = rows_of(table_of(place, kFolder, "points.csv")).front();
  CHECK(point.at("seeds") == "5");
  CHECK(point.at("failed") == "1");
  CHECK(point.at("n") == "4");
  // Kept, unless asked for again; then all is as if nothing had happened.
  CHECK(sweep(place, {"--resume"}).exit_code == 4);
  CHECK(sweep(place, {"--resume", "--retry-failed"}).exit_code == 0);
  REQUIRE(sweep(place, {"--results", "whole"}).exit_code == 0);
  CHECK(table_of(place, kFolder, "runs.csv") == table_of(place, "whole/small.sweep", "runs.csv"));
}

// Eight learners are legal for the arm that is swept, and for no other.
TEST_CASE("sweep: the command that repeats a failed run works where arms are left out", "[cli][sweep]") {
  const Place place;
  place.write("base.toml", goodput_scenario());
  place.write("small.toml", "format = 1\nbase = \"base.toml\"\n[sweep]\nseeds = \"1..2\"\narms = [\"decoupled\"]\n"
                            "[[sweep.axis]]\nkey = \"training.learners\"\nvalues = [4, 2]\n");
  const Outcome got = sweep(place, {"--abort-at", "100", "--abort-seed", "2"});
  CHECK(got.exit_code == 4);
  const std::string lead = "repeat with: ";
  const std::string command = got.err.substr(got.err.find(lead) + lead.size());
  CHECK(command == "atoll run 'base.toml' --arm 'decoupled' --seed 2 --set 'arm.decoupled.training.learners=4' --results ''\n");
  const Outcome again = shell(command, place.root);
  CHECK(again.err == "");
  CHECK(again.exit_code == 0);
}

TEST_CASE("sweep: --fail-fast and --max-failures stop early and can be resumed", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  const Outcome got = sweep(place, {"--abort-at", "100", "--fail-fast", "--jobs", "1"});
  CHECK(got.exit_code == 4);
  CHECK(got.err == "stopped: too many runs failed; 1 of 60 runs are done, 1 of them failed\n"
                   "  hint: --resume goes on\n");
  CHECK_FALSE(fs::exists(place.root / kFolder / "runs.csv"));
  const Outcome more = sweep(place, {"--abort-at", "100", "--max-failures", "3", "--jobs", "1", "--resume"});
  CHECK_THAT(more.err, StartsWith("stopped: too many runs failed; 4 of 60 runs are done"));
  CHECK_THAT(sweep(place, {"--resume"}).out, StartsWith("60 runs, 4 failed\n"));
}

TEST_CASE("sweep: a folder is refused while another sweep works there, and when it holds another", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  fs::create_directories(place.root / kFolder);
  const Started held({"/bin/bash", "-c",
                      "exec 9>>results/small.sweep/lock; flock 9; touch locked; exec sleep 60"},
                     place.root);
  while (!fs::exists(place.root / "locked")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const Outcome in_use = sweep(place, {"--force"});
  CHECK(in_use.exit_code == 2);
  CHECK(in_use.err == "results/small.sweep: error: another sweep is at work here\n"
                      "  hint: wait for it, or --results DIR writes elsewhere\n");
  held.send(SIGKILL);  // a lock ends with its process
  held.wait();
  CHECK(sweep(place, {}).exit_code == 0);
  CHECK(sweep(place, {}).err == "results/small.sweep: error: holds this sweep already\n"
                                "  hint: --resume goes on with it, --force begins again\n");
  CHECK(sweep(place, {"--seeds", "1..6", "--resume"}).err ==
        "results/small.sweep: error: holds another sweep\n"
        "  hint: --force replaces it, --results DIR writes elsewhere\n");
  CHECK(sweep(place, {"--resume"}).exit_code == 0);  // nothing to do
}

TEST_CASE("sweep: --keep keeps each run's folder, as atoll run writes it", "[cli][sweep]") {
  const Place place;
  write_small_sweep(place);
  REQUIRE(sweep(place, {"--keep", "--seeds", "1..2"}).exit_code == 0);
  CHECK(fs::exists(place.root / kFolder / "kept/point-5/elastic/seed-2/summary.json"));
  CHECK(fs::exists(place.root / kFolder / "kept/point-0/decoupled/seed-1/timeline.json"));
}

TEST_CASE("sweep: runs that need the network engine are swept like others", "[cli][sweep]") {
  const Place place;
  const std::string minimal = text_of(fs::path(ATOLL_SOURCE_DIR) / "scenarios/minimal.toml");
  place.write("minimal.toml", minimal + "\n[sweep]\nseeds = \"1..2\"\n[[sweep.axis]]\nkey = \"failure.0.mtbi\"\n"
                                        "values = [\"1 h\", \"2 h\"]\n");
  REQUIRE(sweep(place, {}, "minimal.toml").exit_code == 0);
  const auto rows = rows_of(table_of(place, "results/minimal.sweep", "runs.csv"));
  REQUIRE(rows.size() == 8);
  CHECK(std::stod(rows[4].at("loss.final")) < std::stod(rows[4].at("loss.initial")));
  // The scenario alone reads past its [sweep], which is no part of what it is.
  place.write("plain/minimal.toml", minimal);
  REQUIRE(atoll({"run", "minimal.toml"}, place.root).exit_code == 0);
  REQUIRE(atoll({"run", "minimal.toml"}, place.root / "plain").exit_code == 0);
  const fs::path run = "results/minimal/decoupled-diloco/seed-1/scenario.toml";
  CHECK(text_of(place.root / run) == text_of(place.root / "plain" / run));
}

}  // namespace
}  // namespace tests_cli
