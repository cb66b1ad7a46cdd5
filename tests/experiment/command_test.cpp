// tests/experiment/command_test.cpp: what another program says, its two voices apart.
//
// Teeth:  seen failing with both on one pipe, and (it hangs) with one read to its end before the other.
#include "sim/experiment/command.h"

#include <catch2/catch.hpp>

namespace sim::experiment {
namespace {

TEST_CASE("command: stdout and stderr are kept apart, without their last line feeds", "[unit]") {
  const CommandResult got = run_command({"/bin/sh", "-c", "echo warning >&2; echo 4242; exit 3"});
  CHECK(got.output == "4242");
  CHECK(got.errors == "warning");
  CHECK(got.exit_code == 3);
  CHECK(run_command({"/no/such/program"}).exit_code == 127);
  CHECK(run_command({"/bin/sh", "-c", "kill -9 $$"}).exit_code == 128 + 9);
}

// More than a pipe holds (64 KiB), and first on the one that a reader of one after the other leaves for last.
TEST_CASE("command: a program that says much on both is read to its end", "[unit]") {
  const CommandResult got =
      run_command({"/bin/sh", "-c", "head -c 200000 /dev/zero >&2; head -c 200000 /dev/zero"});
  CHECK(got.output.size() == 200000);
  CHECK(got.errors.size() == 200000);
}

}  // namespace
}  // namespace sim::experiment
