// tests/cli/executor_options_test.cpp: options of shards and of Slurm that cannot stand as they are.
//
// Teeth:  seen failing with Slurm's options, and any number of shards, taken in silence.
#include <catch2/catch.hpp>

#include "tests/cli/small_sweep.h"

namespace tests_cli {
namespace {

// What is said of the words; nothing is written.
std::string said_of(const std::string& words) {
  const Place place;
  write_small_sweep(place);
  const Outcome got = shell("atoll sweep small.toml " + words, place.root);
  CHECK(got.exit_code == 2);
  CHECK(got.out == "");
  CHECK_FALSE(fs::exists(place.root / "results"));
  return got.err;
}

const std::string kHint = "\n  hint: atoll sweep --help\n";

TEST_CASE("executor options: more shards than can be merged", "[cli][sweep]") {
  CHECK(said_of("--shard 1/99999999999") ==
        "error: --shard: must be one of at most 1000000 shards; got 1/99999999999" + kHint);
}

TEST_CASE("executor options: none is passed over", "[cli][sweep]") {
  CHECK(said_of("--shards 3") == "error: --shards: needs --executor slurm" + kHint);
  CHECK(said_of("--executor local --slurm-time 10") == "error: --slurm-time: needs --executor slurm" + kHint);
  CHECK(said_of("--executor slurm --shard 1/2") ==
        "error: --shard: cannot stand beside --executor slurm, which makes its own: --shards" + kHint);
  CHECK(said_of("--jobs 2 --executor slurm") ==
        "error: --jobs: cannot stand beside --executor slurm: --slurm-cpus says it" + kHint);
}

}  // namespace
}  // namespace tests_cli
