// tests/experiment/method_identities_test.cpp: law 9: degenerate settings of one method are another.
//
// Whole runs, from text to loss.csv. The equality of Decoupled DiLoCo at H = 1 with one big batch also
// proves the data order: each learner of two must have seen, at each step, exactly its half of the
// examples that data parallel saw, or the losses would part at the first step. It can prove it because
// the quadratic's loss depends on every example's noise.
// Teeth:  seen failing with examples keyed by the learner's own count of slots, and with 0.99 of the
//         outer rate taken.
#include <catch2/catch.hpp>

#include "tests/experiment/quiet_scenario.h"
#include "tests/experiment/whole_run.h"

namespace sim::experiment {
namespace {

using Catch::Matchers::WithinRel;

// One merge of the whole model after every step, before the next one starts.
std::string every_step(const std::string& more) {
  return "method = \"decoupled-diloco\"\nadopt = \"pinned\"\nquorum = 2\ngrace = \"none\"\n"
         "sync_every = 1\nfragments = 1\noverlap_steps = 0\ntoken_weights = false\n"
         "wire = \"fp32\"\nmerge = { kind = \"average\" }\n" + plain_sgd() + more;
}
std::string outer_sgd(const std::string& rate) {
  return "outer = { optimizer = \"sgd\", learning_rate = " + rate + " }\n";
}
std::string big_batch() { return "method = \"data-parallel\"\n" + plain_sgd(); }

// The losses of two runs at every evaluation but the last, where mark and end fall on one date. An evaluation comes when so many tokens have been
// consumed: data parallel's model has them all, that of a merging method all but those that have just been
// computed and are merged next. So what one has at a point the other has at the next.
std::vector<std::pair<double, double>> at_equal_merges(const WholeRun& batch, const WholeRun& merging) {
  std::vector<std::pair<double, double>> pairs;
  for (std::size_t i = 0; i + 3 < std::min(batch.loss.size(), merging.loss.size()); ++i) {
    pairs.push_back({std::stod(batch.loss[i].at("loss")), std::stod(merging.loss[i + 1].at("loss"))});
  }
  return pairs;
}

// 1e-5: two means of 8 float gradients against one of 16, over 40 steps: a few units in the last place
// of 24 bits (6e-8) each, and law 9's own number.
constexpr double kTolerance = 1e-5;

void check_same_losses(const WholeRun& one, const WholeRun& two) {
  const auto pairs = at_equal_merges(one, two);
  REQUIRE(pairs.size() >= 37);
  CHECK(pairs.back().first < 0.9 * one.summary["loss"]["initial"].get<double>());  // it learned
  for (const auto& [first, second] : pairs) CHECK_THAT(first, WithinRel(second, kTolerance));
}

TEST_CASE("law 9: merging plain steps at once is one big batch", "[unit][law]") {
  for (const std::string& learning : {quadratic(), softmax()}) {
    CAPTURE(learning);
    const WholeRun merged =
        run_whole(quiet_scenario(learning, every_step(outer_sgd("1.0"))), "decoupled-diloco",
                  {"learning.evaluations=40"});
    const WholeRun batch = run_whole(quiet_scenario(learning, big_batch()), "data-parallel",
                                     {"learning.evaluations=40"});
    check_same_losses(batch, merged);
  }
}

TEST_CASE("law 9: one learner without momentum walks its own path", "[unit][law]") {
  // H = 4, and adopting what it has: AdamW's state goes on, so the inner optimizer does not matter.
  const std::string alone =
      "method = \"decoupled-diloco\"\nlearners = 1\nspan = true\nadopt = \"pinned\"\nquorum = 1\n"
      "grace = \"none\"\nsync_every = 4\nfragments = 1\noverlap_steps = 0\n"
      "wire = \"fp32\"\n" + outer_sgd("1.0");
  const WholeRun one = run_whole(quiet_scenario(softmax(), alone), "decoupled-diloco",
                                 {"learning.evaluations=10"});
  const WholeRun own = run_whole(quiet_scenario(softmax(), "method = \"data-parallel\"\n"),
                                 "data-parallel", {"learning.evaluations=10"});
  const auto pairs = at_equal_merges(own, one);
  REQUIRE(pairs.size() >= 7);
  for (const auto& [first, second] : pairs) CHECK_THAT(first, WithinRel(second, kTolerance));
}

TEST_CASE("law 9: an outer rate of 0 freezes the model exactly", "[unit][law]") {
  const WholeRun frozen =
      run_whole(quiet_scenario(softmax(), every_step(outer_sgd("0.0"))), "decoupled-diloco");
  const double initial = frozen.summary["loss"]["initial"];
  REQUIRE(frozen.loss.size() >= 20);
  for (const CsvRow& row : frozen.loss) CHECK(std::stod(row.at("loss")) == initial);
}

TEST_CASE("law 9: momentum and other examples do change the path", "[unit][law]") {
  // Negative controls: the comparison above would notice.
  const auto losses = [](const std::string& outer, const std::vector<std::string>& sets) {
    return trajectory(
        run_whole(quiet_scenario(quadratic(), every_step(outer)), "decoupled-diloco", sets));
  };
  const auto plain = losses(outer_sgd("1.0"), {});
  CHECK(plain == losses("outer = { learning_rate = 1.0, momentum = 0.0 }\n", {}));
  CHECK(plain != losses("outer = { learning_rate = 1.0, momentum = 0.9 }\n", {}));
  CHECK(plain != losses(outer_sgd("1.0"), {"seed=12"}));
}

}  // namespace
}  // namespace sim::experiment
