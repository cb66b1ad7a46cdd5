// tests/experiment/child_process_test.cpp: results, crashes and interruptions of forked runs.
//
// Teeth:  seen failing with results in order of ending, with the exit status ignored, with what an
//         earlier read left dropped, with the flush before fork removed, with more started after a
//         failure, and with the signal never looked at.
#include "sim/experiment/child_process.h"

#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace sim::experiment {
namespace {

void pause_ms(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

ChildBody returning(const std::string& text, int delay_ms = 0) {
  return [text, delay_ms](const ParentLink&) {
    pause_ms(delay_ms);
    return text;
  };
}

std::vector<ChildEnding> run_all(const std::vector<ChildBody>& bodies, std::size_t at_a_time = 2) {
  InterruptionWatch watch;
  return run_children(bodies, {at_a_time, nullptr, nullptr}, watch);
}

TEST_CASE("children: results come in the order asked, however they end", "[unit][experiment]") {
  const auto endings = run_all({returning("slow", 30), returning("quick"), returning("")}, 3);
  REQUIRE(endings.size() == 3);
  CHECK(endings[0].bytes == "slow");
  CHECK(endings[1].bytes == "quick");
  CHECK(endings[2].kind == EndingKind::kReturned);
  CHECK(endings[2].bytes.empty());
}

TEST_CASE("children: a result larger than any pipe arrives whole", "[unit][experiment]") {
  std::string large(3'000'000, 'x');
  large[1'234'567] = 'y';
  const auto endings = run_all({returning(large)});
  CHECK(endings[0].bytes == large);
}

TEST_CASE("children: parts arrive in order and before the end, however the child ends", "[unit][experiment]") {
  const std::string large(200'000, 'l');
  std::string seen;
  ChildPoolOptions pool = {1, nullptr, nullptr, nullptr};
  pool.on_part = [&](std::size_t body, const std::string& part) {
    seen += std::to_string(body) + (part == large ? "L" : part);
  };
  InterruptionWatch watch;
  const ChildBody quiet = [&](const ParentLink& parent) {
    parent.send("a");
    parent.send(large);
    parent.send("");
    return std::string("end");
  };
  const ChildBody dying = [](const ParentLink& parent) -> std::string {
    parent.send("last");
    std::abort();
  };
  const auto endings = run_children({quiet, dying}, pool, watch);
  CHECK(endings[0].bytes == "end");
  CHECK(endings[1].kind == EndingKind::kBug);
  CHECK(seen == "0a0L01last");
}

TEST_CASE("children: what the taker of a part throws ends them all", "[unit][experiment]") {
  ChildPoolOptions pool = {1, nullptr, nullptr, nullptr};
  pool.on_part = [](std::size_t, const std::string& part) { throw std::runtime_error(part); };
  InterruptionWatch watch;
  const ChildBody body = [](const ParentLink& parent) {
    parent.send("full");
    pause_ms(10'000);
    return std::string();
  };
  const auto start = std::chrono::steady_clock::now();
  CHECK_THROWS_WITH(run_children({body}, pool, watch), "full");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(9));
}

TEST_CASE("children: an abort names its signal and stops the rest", "[unit][experiment]") {
  const auto endings = run_all({[](const ParentLink&) -> std::string { std::abort(); },
                                returning("late", 10'000), returning("never")});
  CHECK(endings[0].kind == EndingKind::kBug);
  CHECK(endings[0].reason == "the run was ended by signal 6 (Aborted)");
  CHECK(endings[1].kind == EndingKind::kStopped);
  CHECK(endings[2].kind == EndingKind::kStopped);
}

TEST_CASE("children: an exit without a result is a bug", "[unit][experiment]") {
  const auto three = run_all({[](const ParentLink&) -> std::string { _exit(3); }});
  CHECK(three[0].kind == EndingKind::kBug);
  CHECK(three[0].reason == "the run left with status 3 and no result");
  const auto zero = run_all({[](const ParentLink&) -> std::string { _exit(0); }});
  CHECK(zero[0].kind == EndingKind::kBug);
}

TEST_CASE("children: exceptions are told apart", "[unit][experiment]") {
  const auto bug = run_all({[](const ParentLink&) -> std::string {
    throw std::logic_error("time went backwards");
  }});
  CHECK(bug[0].kind == EndingKind::kBug);
  CHECK(bug[0].reason == "time went backwards");
  const auto disk = run_all({[](const ParentLink&) -> std::string {
    throw std::system_error(ENOSPC, std::generic_category(), "steps.csv");
  }});
  CHECK(disk[0].kind == EndingKind::kFileTrouble);
  CHECK(disk[0].reason == "steps.csv: No space left on device");
}

TEST_CASE("children: what was buffered before the fork is written once", "[unit][experiment]") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  FILE* file = fdopen(ends[1], "w");
  std::fputs("once", file);
  run_all({returning("a"), returning("b")});
  std::fclose(file);
  char got[64];
  CHECK(read(ends[0], got, sizeof got) == 4);
  close(ends[0]);
}

TEST_CASE("children: progress of all bodies together ends at one", "[unit][experiment]") {
  InterruptionWatch watch;
  std::vector<double> shares;
  const ChildBody half = [](const ParentLink& progress) {
    progress(0.5);
    return std::string();
  };
  run_children({half, half}, {1, [&](double share) { shares.push_back(share); }, nullptr}, watch);
  REQUIRE_FALSE(shares.empty());
  CHECK(shares.back() == 1.0);
  for (std::size_t i = 1; i < shares.size(); ++i) CHECK(shares[i] >= shares[i - 1]);
}

TEST_CASE("children: an interruption ends them and is seen", "[unit][experiment]") {
  for (const int number : {SIGINT, SIGTERM}) {
    CAPTURE(number);
    InterruptionWatch watch;
    // The child sends the signal to its whole group's two members, as a terminal does.
    const ChildBody sender = [number](const ParentLink&) {
      kill(getpid(), number);
      kill(getppid(), number);
      pause_ms(10'000);
      return std::string("survived");
    };
    const auto endings = run_children({sender}, {1, nullptr, nullptr}, watch);
    CHECK(endings[0].kind == EndingKind::kStopped);
    CHECK(watch.signal_number() == number);
    CHECK(exit_code_of_signal(number) == 128 + number);
  }
}

TEST_CASE("children: none at a time is refused", "[unit][experiment]") {
  CHECK_THROWS_WITH(run_all({}, 0), "at_a_time must be at least 1; got 0");
}

}  // namespace
}  // namespace sim::experiment
