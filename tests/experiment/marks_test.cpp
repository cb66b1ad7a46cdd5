// tests/experiment/marks_test.cpp: marks in joules, dollars and loss.
//
// Goal:   a mark is reached when the ledger crosses it: exactly where power does not change, within a
//         hundredth of a step otherwise; a loss mark at the first evaluation that is low enough.
// Method: closed forms; the account at the mark itself; loss.csv.
// Teeth:  seen failing with looks ten steps apart, with a loss compared the wrong way round, and with a
//         joule mark in watt-hours. Not caught: transfers under way left out of the forecast of a
//         cost mark, whose effect is below one transfer's price here.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/experiment/quiet_scenario.h"
#include "tests/experiment/whole_run.h"

namespace sim::experiment {
namespace {

// Eight chips of 500 W at 3.6 USD/h that compute all the time: 4 kW and 0.8 cents a second.
std::string always_busy(const std::string& marks) {
  return R"(format = 1
name = "Busy"
seed = 3
marks = { )" + marks + R"( }
[model]
parameters = 1000000
batch_tokens = 4096
[learning]
model = "none"
[network]
model = "none"
[energy]
host = "0 W"
pue = 1.0
[cost]
price = "3.6 USD/h"
[[region]]
name = "here"
[[island]]
name = "a"
region = "here"
chips = 8
slices = 2
peak = "1 TFLOP/s"
power = "500 W"
[training]
method = "data-parallel"
step_time = "1 s"
)";
}

TEST_CASE("marks: joules and dollars are crossed at the nanosecond where power is constant",
          "[unit][experiment]") {
  // 0.123 kWh are 442,800 J: 110.7 s, inside a step. 2.22 USD: 277.5 s.
  const WholeRun run = run_whole(
      always_busy("time = \"1 min\", energy_kwh = 0.123, cost_usd = 2.22"), "data-parallel");
  const auto& marks = run.summary["marks"];
  CHECK(marks["energy_kwh"]["at_s"].get<double>() == Approx(110.7).margin(2e-9));
  CHECK(marks["energy_kwh"]["energy_kwh"].get<double>() == Approx(0.123).epsilon(1e-10));
  CHECK(marks["energy_kwh"]["tokens"] == 110 * 4096);
  CHECK(marks["cost_usd"]["at_s"].get<double>() == Approx(277.5).margin(2e-9));
  CHECK(marks["cost_usd"]["energy_kwh"].get<double>() == Approx(4.0 * 277.5 / 3600).epsilon(1e-10));
  CHECK(run.summary["duration_s"] == marks["cost_usd"]["at_s"]);
  CHECK(run.summary["energy_kwh"].get<double>() == Approx(4.0 / 60).epsilon(1e-12));  // at 1 min
}

TEST_CASE("marks: what is not reached by the limit is null", "[unit][experiment]") {
  const WholeRun run = run_whole(
      always_busy("time = \"1 min\", energy_kwh = 1, cost_usd = 2.22, limit = \"3 min\""),
      "data-parallel");
  CHECK(run.summary["marks"]["energy_kwh"]["at_s"].is_null());
  CHECK(run.summary["marks"]["cost_usd"]["at_s"].is_null());
  CHECK(run.summary["duration_s"] == 180.0);
}

// Two islands with a link, failures, watts and prices; `more` is added.
std::string troubled(const std::string& marks, const std::string& training) {
  std::string text = quiet_scenario(quadratic(), training);
  text.replace(text.find("tokens = 163840"), 15, "tokens = 163840, " + marks);
  for (std::size_t at = 0; (at = text.find("peak =", at)) != std::string::npos; at += 40) {
    text.insert(at, "power = \"500 W\"\n");
  }
  return text + R"(
[cost]
price = "0.1 USD/h"
egress = "2 USD/GB"
[[failure]]
target = "chip"
kind = "exponential"
mtbi = "3 min"
repair = "8 s"
)";
}

TEST_CASE("marks: crossed within a hundredth of a step, through failures and stalls",
          "[unit][experiment]") {
  for (const char* method : {"decoupled-diloco", "data-parallel"}) {
    const std::string training = std::string("method = \"") + method + "\"\n" +
                                 (method[1] == 'e' ? "fragments = 4\nsync_every = 8\n" : "");
    for (const double share : {0.1, 0.35, 0.8}) {
      // Eight chips with their hosts draw at most 5.28 kW; 0.08 kWh are about a minute of it.
      const double kwh = 0.08 * share, dollars = 0.05 * share;
      CAPTURE(method, share);
      const WholeRun run = run_whole(
          troubled(fmt::format("energy_kwh = {}, cost_usd = {}", kwh, dollars), training), method);
      const auto& marks = run.summary["marks"];
      const double step_s = run.summary["nominal"]["step_s"];
      const double got_kwh = marks["energy_kwh"]["energy_kwh"];
      CHECK(got_kwh >= kwh);
      CHECK(got_kwh - kwh <= 5.28 * step_s / 100 / 3600 * 1.01);
      // A transfer is billed when it ends, so dollars jump: by at most one transfer of 2 MB.
      const double got_dollars = marks["cost_usd"]["cost_usd"];
      CHECK(got_dollars >= dollars);
      CHECK(got_dollars - dollars <= 2 * 2e6 / 1e9 * 2 + 0.8 / 3600 * step_s / 100);
    }
  }
}

TEST_CASE("marks: a loss is reached at the first evaluation at or below it", "[unit][experiment]") {
  const std::string method = "method = \"decoupled-diloco\"\nfragments = 4\nsync_every = 8\n";
  const WholeRun plain = run_whole(quiet_scenario(quadratic(), method), "decoupled-diloco");
  REQUIRE(plain.loss.size() > 10);
  // A target between two evaluations in the middle of the run.
  const double target = (std::stod(plain.loss[8].at("loss")) + std::stod(plain.loss[9].at("loss"))) / 2;
  std::string text = quiet_scenario(quadratic(), method);
  text.replace(text.find("tokens = 163840"), 15, fmt::format("tokens = 163840, loss = {}", target));
  const WholeRun run = run_whole(text, "decoupled-diloco");
  const CsvRow* first = nullptr;
  for (const CsvRow& row : plain.loss) {
    if (first == nullptr && std::stod(row.at("loss")) <= target) first = &row;
  }
  REQUIRE(first != nullptr);
  const auto& mark = run.summary["marks"]["loss"];
  CHECK(mark["at_s"].get<double>() == std::stod(first->at("time_s")));
  CHECK(mark["tokens"].get<double>() == std::stod(first->at("tokens")));
  CHECK(mark["loss"].get<double>() == std::stod(first->at("loss")));
  CHECK(run.summary["marks"]["tokens"]["loss"] == plain.summary["marks"]["tokens"]["loss"]);
}

TEST_CASE("marks: an unreachable loss leaves the run at its limit", "[unit][experiment]") {
  std::string text = quiet_scenario(
      quadratic(), "method = \"decoupled-diloco\"\nfragments = 4\nsync_every = 8\n");
  text.replace(text.find("tokens = 163840"), 15, "tokens = 163840, loss = 1e-12, limit = \"2 min\"");
  const WholeRun run = run_whole(text, "decoupled-diloco");
  CHECK(run.summary["marks"]["loss"]["at_s"].is_null());
  CHECK(run.summary["marks"]["loss"]["loss"].is_null());
  CHECK_FALSE(run.summary["marks"]["tokens"]["at_s"].is_null());
  CHECK(run.summary["duration_s"] == 120.0);
}

}  // namespace
}  // namespace sim::experiment
