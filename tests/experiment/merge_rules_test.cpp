// tests/experiment/merge_rules_test.cpp: direction-aware merging and plain averages in whole runs of eight.
//
// No claim about which is better: that takes seeds and longer runs (scenarios/). Here both must learn,
// differ, and leave a record of how far the learners are apart that a reader can plot.
// Teeth:  seen failing with the average taken whatever the rule, and with a column renamed.
#include <catch2/catch.hpp>

#include <cmath>

#include "tests/experiment/quiet_scenario.h"
#include "tests/experiment/whole_run.h"

namespace sim::experiment {
namespace {

WholeRun eight_learners(const std::string& rule) {
  const std::string training = "method = \"decoupled-diloco\"\nsync_every = 4\nfragments = 4\n"
                               "overlap_steps = 1\nquorum = 4\n"
                               "merge = { kind = \"" + rule + "\" }\n";
  return run_whole(quiet_scenario(softmax(), training), "decoupled-diloco",
                   {"island.e.count=4", "island.w.count=4", "training.inner.learning_rate=0.01"});
}

const WholeRun& with(const std::string& rule) {
  static const WholeRun rda = eight_learners("rda"), average = eight_learners("average");
  return rule == "rda" ? rda : average;
}

TEST_CASE("merge rules: both learn with eight learners, each its own way", "[unit][experiment]") {
  for (const std::string rule : {"rda", "average"}) {
    CAPTURE(rule);
    const nlohmann::json& summary = with(rule).summary;
    CHECK(summary["learners"] == 8);
    CHECK(summary["loss"]["final"] < summary["loss"]["initial"]);
  }
  // The first merge sees the same contributions and weighs their norms differently.
  CHECK(with("rda").summary["trace_hash"] == with("average").summary["trace_hash"]);
  CHECK(trajectory(with("rda")) != trajectory(with("average")));
}

TEST_CASE("merge rules: the record of each merge is there and finite", "[unit][experiment]") {
  for (const std::string rule : {"rda", "average"}) {
    const WholeRun& run = with(rule);
    REQUIRE(run.convergence.size() == run.summary["syncs"]["merged"].get<std::size_t>());
    for (const char* column : {"time_s", "merge", "sync", "step", "fragment", "epoch", "version"}) {
      CHECK(run.convergence[0].count(column) == 1);
    }
    for (const CsvRow& row : run.convergence) {
      CAPTURE(rule, row.at("merge"));
      const double cosine = std::stod(row.at("cosine_mean"));
      const double norm = std::stod(row.at("outer_gradient_norm"));
      const double spread = std::stod(row.at("replica_spread_rms"));
      CHECK(std::stoi(row.at("contributors")) >= 4);
      CHECK((std::isfinite(norm) && norm > 0));
      CHECK((std::isfinite(spread) && spread > 0));
      CHECK((cosine >= -1 && cosine <= 1));
    }
  }
}

}  // namespace
}  // namespace sim::experiment
