// tests/cli/sweep_speed_test.cpp: what a sweep costs beside its runs.
//
// Measured as processor time of the program and all its children, so that other work on the machine does
// not count: 1,000 runs that simulate a single step, where all is overhead. Wall times are printed only.
// Teeth:  seen failing with a child for every run (12 ms each on the machine where this was written).
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "tests/cli/small_sweep.h"

namespace tests_cli {
namespace {

double child_cpu_seconds() {
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Cost {
  double cpu_s, wall_s;
};

Cost cost_of(const Place& place, const std::vector<std::string>& words) {
  const double before = child_cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  const Outcome got = atoll(words, place.root);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  REQUIRE(got.err == "");
  REQUIRE(got.exit_code == 0);
  return {child_cpu_seconds() - before, wall.count()};
}

TEST_CASE("sweep: less than 5 ms of overhead a run", "[cli][sweep][slow]") {
  const Place place;
  write_small_sweep(place);
  for (const char* jobs : {"1", "2"}) {
    const Cost cost = cost_of(place, {"sweep", "small.toml", "--set", "marks.time=4 s", "--seeds", "1..84", "--jobs",
                                      jobs, "--results", jobs});
    CAPTURE(jobs, cost.cpu_s, cost.wall_s);
    CHECK(cost.cpu_s / 1008 < 0.005);
    WARN("1,008 runs of one step, jobs " << jobs << ": " << cost.cpu_s << " s processor, " << cost.wall_s << " s wall");
  }
}

}  // namespace
}  // namespace tests_cli
