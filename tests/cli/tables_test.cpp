// tests/cli/tables_test.cpp: what a reader is told first, and that no fleet that fails can look good there.
//
// Goal:   the cases stale-results, partition-forever-2, central-kill-forever, quorumM-dead and
//         overload-tenth and d12_nan of tests/cases; the gate on a curve with links.
// Teeth:  seen failing under the program before: with stepping in the first column, as the gate's metric, with
//         no hash of the set in summary.json, and with every results folder taken when forced.
#include <catch2/catch.hpp>
#include <sstream>

#include "tests/cli/run_command.h"

namespace tests_cli {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

std::string case_file(const std::string& name) {
  return std::string(ATOLL_SOURCE_DIR) + "/tests/cases/" + name + ".toml";
}

// The first figure that `atoll run` prints, with its name.
std::pair<std::string, double> first_figure(const std::string& name) {
  const Place place;
  const Outcome got = atoll({"run", case_file(name), "--results", ""}, place.root);
  CHECK(got.exit_code == 0);
  std::istringstream words(got.out.substr(got.out.find("\n  ")));
  std::pair<std::string, double> figure;
  words >> figure.first >> figure.second;
  return figure;
}

// Learners at work for ever whose steps reach no merge: 0.639, 0.289 and 0.289 of the tokens at most.
TEST_CASE("tables: the first figure is one that a fleet cut off cannot win", "[cli][tables]") {
  for (const auto& [name, most] : {std::pair{"partition-forever-2", 0.6395}, std::pair{"central-kill-forever", 0.2895},
                                   std::pair{"quorumM-dead", 0.2895}}) {
    CAPTURE(name);
    const auto [column, figure] = first_figure(name);
    CHECK(column == "token");
    CHECK(figure > 0.0);
    CHECK(figure <= most);
  }
}

TEST_CASE("tables: due merges in time stand beside utilization", "[cli][tables]") {
  const Place place;
  const Outcome got = atoll({"run", case_file("overload-tenth"), "--results", ""}, place.root);
  const std::size_t utilization = got.out.find("\n  compute utilization "), in_time = got.out.find("\n  due merges in time ");
  REQUIRE(utilization < in_time);
  CHECK(std::stod(got.out.substr(utilization + 22)) > 0.99);
  CHECK(std::stod(got.out.substr(in_time + 21)) < 0.2);  // the link carries a tenth
  CHECK_THAT(got.out, Contains("token: merged work alone"));
}

// Inner SGD at rate 10 on a quadratic: the loss leaves the numbers, whose dates are the trainer's.
TEST_CASE("tables: divergence is told, fails what is expected, and leaves no NaN", "[cli][tables]") {
  const Place place;
  const Outcome got = atoll({"compare", case_file("d12_nan")}, place.root);
  CHECK(got.exit_code == 1);
  CHECK_THAT(got.err, Contains("warning: bad: diverged at ") && Contains("bad.marks.time.loss.max: wanted at most 5; got diverged at "));
  CHECK_THAT(got.out, Contains("\nnote: bad: diverged at ") && Contains("met   good.loss.final.max"));
  const Outcome found = shell("grep -riwE 'nan|inf' results --include=*.csv --include=*.json -l", place.root);
  CHECK(found.out == "");
}

std::string with_links() {
  return R"(format = 1
name = "Guarded, with links"
seed = 1
marks = { time = "10 min" }
[model]
parameters = 1e9
batch_tokens = 262144
[network]
model = "closed-form"
[[region]]
name = "east"
[[region]]
name = "west"
[[link]]
between = ["east", "west"]
bandwidth = "40 Gbps"
rtt = "60 ms"
[[island]]
name = "e"
count = 2
region = "east"
chip = "tpu-v5p"
chips = 16
slices = 2
[[island]]
name = "w"
count = 2
region = "west"
chip = "tpu-v5p"
chips = 16
slices = 2
[training]
name = "guarded"
method = "decoupled-diloco"
step_time = "1 s"
[sweep]
seeds = "1..5"
)";
}

// Without grace each merge is that of the region where it is made, and half of the tokens are thrown away,
// while every learner steps all the time.
TEST_CASE("gate: the default metric sees tokens that no merge has", "[cli][gate][tables]") {
  const Place place;
  place.write("curve.toml", with_links());
  const auto gate = [&](std::vector<std::string> words) { return atoll(std::move(words), place.root); };
  const std::vector<std::string> without_grace = {"--set", "training.grace=none"};
  const auto check = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"check", "curve.toml", "--baseline", "b.json"});
    words.insert(words.end(), without_grace.begin(), without_grace.end());
    return gate(words);
  };
  REQUIRE(gate({"baseline", "curve.toml", "--out", "b.json"}).exit_code == 0);
  const Outcome got = check({});
  CHECK(got.exit_code == 1);
  CHECK_THAT(got.out, StartsWith("metric goodput.token, ") && Contains("\nWORSE "));
  const std::vector<std::string> stepping = {"--metric", "goodput.stepping"};
  REQUIRE(gate({"baseline", "curve.toml", "--out", "b.json", "--metric", "goodput.stepping"}).exit_code == 0);
  CHECK(check(stepping).exit_code == 0);
  // Both at once: the one that fell fails.
  const std::vector<std::string> both = {"--metric", "goodput.stepping", "--metric", "goodput.token"};
  std::vector<std::string> record = {"baseline", "curve.toml", "--out", "b.json"};
  record.insert(record.end(), both.begin(), both.end());
  REQUIRE(gate(record).exit_code == 0);
  const Outcome of_both = check(both);
  CHECK(of_both.exit_code == 1);
  CHECK_THAT(of_both.out, Contains("FAILED: 1 of 2 points; 1 held") && Contains("goodput.token of guarded\n"));
}

// A baseline of format 1, which names one metric for all cells.
TEST_CASE("gate: a baseline of the format before is read", "[cli][gate][tables]") {
  const fs::path root(ATOLL_SOURCE_DIR);
  const std::string before = text_of(root / "tests/cli/guarded.format-1.json");
  CHECK_THAT(before, Contains("\"format\": 1,\n \"metric\": \"goodput.stepping\""));
  const Outcome got = atoll({"check", "scenarios/ci/guarded.toml", "--metric", "goodput.stepping", "--baseline",
                             "tests/cli/guarded.format-1.json"},
                            root);
  CHECK(got.err == "");
  CHECK_THAT(got.out, StartsWith("metric goodput.stepping, 10 seeds before, 10 now; "));
}

TEST_CASE("results: fewer seeds and renamed arms are no mixture", "[cli][tables]") {
  const Place place;
  const std::string scenario = text_of(case_file("stale-results"));
  place.write("s.toml", scenario);
  const auto compare = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"compare", "s.toml"});
    return atoll(words, place.root);
  };
  REQUIRE(compare({"--seeds", "1..3"}).exit_code == 0);
  CHECK(compare({"--seeds", "1..2"}).exit_code == 2);
  std::string renamed = scenario;
  place.write("s.toml", renamed.replace(renamed.find("name = \"dp\""), 11, "name = \"renamed\""));
  const Outcome other = compare({"--seeds", "1..2"});
  CHECK(other.exit_code == 2);
  CHECK_THAT(other.err, StartsWith("results/s: error: holds another scenario's results: "));
  CHECK(fs::exists(place.root / "results/s/dp/seed-3"));
  CHECK(compare({"--seeds", "1..2", "--force"}).exit_code == 0);
  const std::string left = shell("cd results/s && find . -name 'seed-*' | sort | tr '\\n' ' '", place.root).out;
  CHECK(left == "./decoupled-diloco/seed-1 ./decoupled-diloco/seed-2 ./renamed/seed-1 ./renamed/seed-2 ");
}

TEST_CASE("plots: a folder of two experiments is refused with its name", "[cli][tables]") {
  const Place place;
  const auto run = [&](const std::string& results, const std::string& set) {
    REQUIRE(atoll({"run", case_file("stale-results"), "--set", set, "--results", results}, place.root).exit_code == 0);
  };
  run("a", "training.sync_every=24");
  run("b", "training.sync_every=12");
  const std::string read = "/usr/bin/python3 -B -c 'import sys; sys.path.insert(0, \"" + std::string(ATOLL_SOURCE_DIR) +
                           "/plots\"); import results; results.read(\"a/stale-results\")'";
  CHECK(shell(read, place.root).exit_code == 0);
  fs::copy(place.root / "b/stale-results/decoupled-diloco/seed-1", place.root / "a/stale-results/decoupled-diloco/seed-2",
           fs::copy_options::recursive);
  const Outcome mixed = shell(read, place.root);
  CHECK(mixed.exit_code == 1);
  CHECK_THAT(mixed.err, Contains("a/stale-results/decoupled-diloco/seed-2: is of another scenario than "
                                 "a/stale-results/decoupled-diloco/seed-1"));
}

}  // namespace
}  // namespace tests_cli
