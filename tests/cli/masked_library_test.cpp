// tests/cli/masked_library_test.cpp: law 1: the trace does not hang on what the C library picks.
//
// glibc chooses its exp, log, pow and sin by the processor; GLIBC_TUNABLES hides features from it, so
// that it picks the versions without fused multiply-add, whose last digits differ. The committed trace
// of tests/golden must come out all the same. Losses may differ then, and are not compared. Where the
// library does not know the setting, the test says that it was skipped.
// Teeth:  seen failing against a golden of an older trace. The mask itself was seen to move the last
//         digits of the C library's own exp, sin, pow and log.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace tests_cli {
namespace {

constexpr const char* kMask = "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F ";

// What the loader says about the features in use, with and without the mask.
bool mask_bites(const Place& place) {
  const std::string ask = "/lib64/ld-linux-x86-64.so.2 --list-diagnostics | grep -F .active";
  const Outcome plain = shell(ask, place.root), masked = shell(kMask + ask, place.root);
  if (plain.exit_code == 0 && masked.exit_code == 0 && plain.out != masked.out) return true;
  WARN("skipped: this C library's choices cannot be masked");
  return false;
}

TEST_CASE("law 1: the committed trace holds with the C library's choices masked", "[cli][law]") {
  const Place place;
  if (!mask_bites(place)) return;
  const fs::path root(ATOLL_SOURCE_DIR);
  const std::string golden = text_of(root / "tests/golden/minimal.txt");
  const Outcome got =
      shell(kMask + ("atoll compare " + (root / "scenarios/minimal.toml").string()), place.root);
  CHECK(got.err == "");
  REQUIRE(got.exit_code == 0);
  for (const std::string arm : {"decoupled-diloco", "data-parallel"}) {
    const fs::path summary = place.root / "results/minimal" / arm / "seed-1/summary.json";
    const std::string hash = nlohmann::json::parse(text_of(summary))["trace_hash"];
    CHECK_THAT(golden, Catch::Matchers::Contains("arm " + arm + ": hash " + hash + ","));
  }
}

}  // namespace
}  // namespace tests_cli
