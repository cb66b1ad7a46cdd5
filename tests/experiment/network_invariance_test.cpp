// tests/experiment/network_invariance_test.cpp: law 7: without faults the network moves the clock of
// a synchronous method and nothing else.
//
// Preconditions of the law: stopped by tokens, no faults, and for Decoupled DiLoCo pinned adoption, a
// quorum of all learners and links on which no fragment falls behind (a skipped one is a decision).
// Teeth:  seen failing with pinned fragments adopted as soon as they arrive (the case with overlap).
#include <catch2/catch.hpp>

#include "tests/experiment/quiet_scenario.h"
#include "tests/experiment/whole_run.h"

namespace sim::experiment {
namespace {

double duration_s(const WholeRun& run) { return run.summary["duration_s"]; }

// Every measure of every merge to the last bit (data parallel: every loss); the slower link ends later by
// at least `later_s`.
void check_same_path(const std::string& text, const std::string& arm,
                     const std::vector<std::string>& slow, double later_s) {
  CAPTURE(arm);
  const WholeRun fast = run_whole(text, arm);
  const WholeRun slower = run_whole(text, arm, slow);
  REQUIRE(fast.loss.size() >= 20);
  if (fast.convergence.empty()) {
    CHECK(trajectory(fast) == trajectory(slower));
  } else {
    CHECK(merges_of(fast) == merges_of(slower));
  }
  CHECK(duration_s(slower) >= duration_s(fast) + later_s);
}

TEST_CASE("law 7: data parallel takes the same path on a slow link, only later", "[unit][law]") {
  const std::string text = quiet_scenario(softmax(), "method = \"data-parallel\"\n");
  // Two regions: each wide edge carries 2 MB x 2 x 1/2 = 2 MB a step, 16 Mbit: at 10 Mbit/s 1.6 s,
  // of which at most two thirds of the step hide; at 1 Gbit/s 16 ms, all but the last bucket hidden.
  // Exposed at least 1.6 - 0.67 = 0.93 s in each of 40 steps: more than 37 s.
  check_same_path(text, "data-parallel",
                  {"link.0.bandwidth=\"10 Mbps\"", "link.0.rtt=\"200 ms\"", "overload=allow"}, 37);
}

std::string pinned(const std::string& more) {
  return "method = \"decoupled-diloco\"\nadopt = \"pinned\"\nquorum = 2\ngrace = \"none\"\n"
         "sync_every = 8\nfragments = 4\n" + more;
}

TEST_CASE("law 7: pinned Decoupled DiLoCo takes the same path on a slow link", "[unit][law]") {
  // A fragment is 250,000 parameters in bf16: 0.5 MB, 4 Mbit; a ring of two moves it once:
  // 4 ms at 1 Gbit/s, 1.6 s at 2.5 Mbit/s. Without overlap each of the 20 syncs (4 fragments every
  // 8 steps, 40 steps) is waited for: more than 20 x 1.5 s later.
  check_same_path(quiet_scenario(softmax(), pinned("overlap_steps = 0\n")), "decoupled-diloco",
                  {"link.0.bandwidth=\"2.5 Mbps\"", "overload=allow"}, 30);
}

TEST_CASE("law 7: so it does with overlap, and there nothing is waited for", "[unit][law]") {
  // 1.6 s and its delays fit into two steps of 1 s: later by less than the last sync's lag.
  check_same_path(quiet_scenario(softmax(), pinned("overlap_steps = 2\n")), "decoupled-diloco",
                  {"link.0.bandwidth=\"2.5 Mbps\"", "overload=allow"}, 0);
}

TEST_CASE("law 7: adoption on arrival is another path on another link", "[unit][law]") {
  // The negative control: with 4 ms a fragment is adopted at the next step, with 1.6 s two later.
  const std::string text =
      quiet_scenario(softmax(), "method = \"decoupled-diloco\"\nquorum = 2\nsync_every = 8\n"
                                "fragments = 4\noverlap_steps = 2\n");
  const WholeRun fast = run_whole(text, "decoupled-diloco");
  const WholeRun slow = run_whole(text, "decoupled-diloco",
                                  {"link.0.bandwidth=\"2.5 Mbps\"", "overload=allow"});
  CHECK(trajectory(fast) != trajectory(slow));
}

}  // namespace
}  // namespace sim::experiment
