// tests/failure_models/renewal_test.cpp: failure dates of units of one or many chips.
//
// Goal:   a unit's dates follow from its own name alone, a failure renews one chip, and a fleet at
//         equilibrium age fails at one rate from its first hour on.
// Method: dates by hand for constant lives; a naive twin that lists and sorts every chip's dates;
//         chi-square over time bins against the flat rate, with a fleet of new chips as the
//         negative control; Kolmogorov's bound at the 0.1 % level. Fixed seeds.
// Teeth:  seen failing with new chips for equilibrium ones, all chips renewed at a failure, one
//         stream shared by the chips, a life used twice, the rate not multiplied by the members,
//         the name left out, and the wrong one of the two queues taken.
#include "failure_models/renewal.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/random.h"

namespace failure_models {
namespace {

using Catch::Matchers::WithinRel;
using Dates = std::vector<double>;

DistributionOptions constant(double mean_s) { return {Law::kConstant, mean_s, 0, 0, 0}; }
DistributionOptions exponential(double mean_s) { return {Law::kExponential, mean_s, 0, 0, 0}; }
DistributionOptions weibull(double mean_s, double shape) {
  return {Law::kWeibull, mean_s, shape, 0, 0};
}

RenewalOptions at_equilibrium(DistributionOptions life, std::int64_t members) {
  return {life, members, Age::kEquilibrium, 0.0};
}
RenewalOptions all_new(DistributionOptions life, std::int64_t members) {
  return {life, members, Age::kNew, 0.0};
}

Dates first_dates(const RenewalOptions& options, const std::string& name, int count) {
  RenewalStream stream(options, 1, name);
  Dates dates;
  for (int i = 0; i < count; ++i) {
    dates.push_back(stream.next_s());
    stream.advance();
  }
  return dates;
}

TEST_CASE("renewal: constant lives by hand", "[unit][failure_models]") {
  CHECK(first_dates(all_new(constant(10.0), 1), "a", 3) == Dates{10.0, 20.0, 30.0});
  CHECK(first_dates({constant(10.0), 2, Age::kGiven, 4.0}, "a", 5) ==
        Dates{6.0, 6.0, 16.0, 16.0, 26.0});
  // At equilibrium the first dates are spread over one life, and each repeats with period 10.
  const Dates dates = first_dates(at_equilibrium(constant(10.0), 3), "a", 9);
  CHECK((0.0 < dates[0] && dates[0] < dates[1] && dates[1] < dates[2] && dates[2] < 10.0));
  for (std::size_t i = 3; i < 9; ++i) CHECK(dates[i] == dates[i - 3] + 10.0);
}

TEST_CASE("renewal: exponential units add gaps at the rate of all their chips",
          "[unit][failure_models]") {
  for (const std::int64_t members : {1, 64, 37'500}) {
    CAPTURE(members);
    sim::base::Stream words(1, "west/0/life");
    double date_s = 0.0;
    for (const double got_s : first_dates(at_equilibrium(exponential(8760.0), members), "west/0", 50)) {
      date_s += -8760.0 / static_cast<double>(members) * std::log1p(-words.next_uniform());
      CHECK_THAT(got_s, WithinRel(date_s, 1e-14));  // 50 additions of like size
    }
  }
  // Exponential chips have no age.
  CHECK(first_dates(all_new(exponential(9.0), 4), "a", 20) ==
        first_dates(at_equilibrium(exponential(9.0), 4), "a", 20));
}

// Every chip's dates listed up to horizon_s, each from its own lane.
Dates naive_dates(const RenewalOptions& options, const std::string& name, double horizon_s) {
  const Distribution life(options.life);
  const sim::base::Stream stream(1, name + "/life");
  Dates dates;
  for (std::int64_t chip = 0; chip < options.members; ++chip) {
    sim::base::Stream own = stream.at(static_cast<std::uint64_t>(chip), 0);
    double date_s = options.age == Age::kEquilibrium ? life.draw_residual_s(own)
                    : options.age == Age::kNew       ? life.draw_s(own)
                                               : life.draw_residual_at_age_s(options.age_s, own);
    for (; date_s < horizon_s; date_s += life.draw_s(own)) dates.push_back(date_s);
  }
  std::sort(dates.begin(), dates.end());
  return dates;
}

TEST_CASE("renewal: the queue equals a sorted list of every chip's dates",
          "[property][failure_models]") {
  const DistributionOptions laws[] = {weibull(100.0, 0.7),
                                      weibull(100.0, 3.0),
                                      {Law::kLognormal, 100.0, 0, 0, 1.0},
                                      {Law::kExponentiatedWeibull, 100.0, 1.5, 0.5, 0}};
  for (const DistributionOptions& law : laws) {
    for (const Age age : {Age::kEquilibrium, Age::kNew, Age::kGiven}) {
      CAPTURE(static_cast<int>(law.law), law.shape, static_cast<int>(age));
      const RenewalOptions options{law, 20, age, 30.0};
      const Dates naive = naive_dates(options, "unit", 300.0);  // about 60 dates, 3 per chip
      REQUIRE(naive.size() > 30);
      CHECK(first_dates(options, "unit", static_cast<int>(naive.size())) == naive);
    }
  }
}

TEST_CASE("renewal: more chips leave the dates of the first ones unmoved",
          "[property][failure_models]") {
  const double horizon_s = 200.0;
  const Dates few = naive_dates(at_equilibrium(weibull(100.0, 0.7), 10), "unit", horizon_s);
  const Dates many = first_dates(at_equilibrium(weibull(100.0, 0.7), 20), "unit", 200);
  REQUIRE(many.back() > horizon_s);
  CHECK(std::includes(many.begin(), many.end(), few.begin(), few.end()));
}

TEST_CASE("renewal: doubling the units leaves the first units' dates unmoved",
          "[property][failure_models]") {
  for (const DistributionOptions& life : {weibull(100.0, 0.7), exponential(100.0)}) {
    // Units advance in turn, so that a shared stream would show.
    const auto fleet_dates = [&](int units) {
      std::vector<RenewalStream> fleet;
      for (int unit = 0; unit < units; ++unit) {
        fleet.emplace_back(at_equilibrium(life, 8), 1, "west/" + std::to_string(unit));
      }
      std::vector<Dates> dates(fleet.size());
      for (int round = 0; round < 20; ++round) {
        for (std::size_t unit = 0; unit < fleet.size(); ++unit) {
          dates[unit].push_back(fleet[unit].next_s());
          fleet[unit].advance();
        }
      }
      return dates;
    };
    const auto four = fleet_dates(4), eight = fleet_dates(8);
    CHECK(std::equal(four.begin(), four.end(), eight.begin()));
    for (std::size_t unit = 1; unit < 8; ++unit) CHECK(eight[unit] != eight[unit - 1]);
  }
}

constexpr int kBins = 20;
constexpr double kHorizon = 1.0;  // in mean lives

// Failures per bin of 40 units of 500 chips over one mean life.
std::vector<int> failures_per_bin(double shape, Age age) {
  std::vector<int> counts(kBins, 0);
  for (int unit = 0; unit < 40; ++unit) {
    RenewalStream stream({weibull(1.0, shape), 500, age, 0.0}, 1, "unit/" + std::to_string(unit));
    for (; stream.next_s() < kHorizon; stream.advance()) {
      ++counts[static_cast<std::size_t>(stream.next_s() * kBins / kHorizon)];
    }
  }
  return counts;
}

// 20,000 chips fail once per mean life: 1,000 per bin.
double chi_square_against_flat(const std::vector<int>& counts) {
  double chi_square = 0.0;
  for (const int count : counts) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  return chi_square;
}

// 99.9 % quantile of chi-square at 20 degrees of freedom is 45.3. Bins are not quite Poisson: with
// shape 0.7 a chip that has just failed fails again within the bin with probability at most
// F(1/20) = 0.135, which adds up to 2 x 0.135 / 2 to the variance: 45.3 x 1.135 = 51.4.
constexpr double kChiSquareBound = 51.4;

TEST_CASE("renewal: a fleet at equilibrium age fails at one rate from the start",
          "[property][failure_models]") {
  for (const double shape : {0.7, 1.0, 1.5}) {
    CAPTURE(shape);
    const std::vector<int> counts = failures_per_bin(shape, Age::kEquilibrium);
    CHECK(chi_square_against_flat(counts) < kChiSquareBound);
    // Each bin within four deviations of a count of 1,000, the variance inflated as above.
    for (const int count : counts) CHECK(std::abs(count - 1000) < 4.0 * std::sqrt(1135.0));
  }
}

TEST_CASE("renewal: a fleet of new chips does not, unless it is exponential",
          "[property][failure_models]") {
  // Share of new chips that fail in the first bin, at most one failure each:
  // shape 0.7: (0.05 Gamma(1 + 1/0.7))^0.7 = (0.05 x 1.2658)^0.7 = 0.1449, 1 - e^-0.1449 = 0.1349:
  //   2,698 of 20,000 and some that fail twice, against 1,000.
  const std::vector<int> falling = failures_per_bin(0.7, Age::kNew);
  CHECK(falling.front() > 2698 - 4 * 52);
  CHECK(chi_square_against_flat(falling) > 2000.0);  // (2,698 - 1,000)^2 / 1,000 = 2,883 alone
  // shape 1.5: (0.05 x 0.9027)^1.5 = 0.00959: 191, against 1,000; (1,000 - 191)^2 / 1,000 = 654.
  const std::vector<int> rising = failures_per_bin(1.5, Age::kNew);
  CHECK(rising.front() < 191 + 4 * 14 + 20);
  CHECK(chi_square_against_flat(rising) > 500.0);
  CHECK(chi_square_against_flat(failures_per_bin(1.0, Age::kNew)) < kChiSquareBound);
}

TEST_CASE("renewal: a superposed exponential and a queue of its chips agree in law",
          "[property][failure_models]") {
  // Weibull with shape 1 is the exponential, by way of the queue. Gaps of both against
  // 1 - e^(-gap x 50): Kolmogorov, and no correlation from one gap to the next.
  constexpr int kGaps = 4'000;
  for (const DistributionOptions& life : {exponential(1.0), weibull(1.0, 1.0)}) {
    CAPTURE(static_cast<int>(life.law));
    Dates gaps = first_dates(at_equilibrium(life, 50), "unit", kGaps);
    for (std::size_t i = gaps.size() - 1; i > 0; --i) gaps[i] -= gaps[i - 1];
    double sum = 0.0;
    for (std::size_t i = 1; i < gaps.size(); ++i) {
      sum += (50.0 * gaps[i] - 1.0) * (50.0 * gaps[i - 1] - 1.0);
    }
    CHECK(std::abs(sum / kGaps) < 4.0 / std::sqrt(kGaps));  // four standard errors
    std::sort(gaps.begin(), gaps.end());
    double distance = 0.0;
    for (int i = 0; i < kGaps; ++i) {
      const double probability = -std::expm1(-50.0 * gaps[static_cast<std::size_t>(i)]);
      distance = std::max({distance, probability - static_cast<double>(i) / kGaps,
                           (i + 1.0) / kGaps - probability});
    }
    CHECK(distance < 1.95 / std::sqrt(kGaps));
  }
}

TEST_CASE("renewal: a unit of 37,500 chips", "[property][failure_models]") {
  // 37,500 chips with mean life 1: in 0.02 lives 750 failures, deviation below sqrt(750 x 1.135).
  RenewalStream stream(at_equilibrium(weibull(1.0, 0.7), 37'500), 1, "large");
  int failures = 0;
  double last_s = 0.0;
  for (; stream.next_s() < 0.02; stream.advance()) {
    REQUIRE(stream.next_s() >= last_s);
    last_s = stream.next_s();
    ++failures;
  }
  CHECK(std::abs(failures - 750) < 4 * 29);
}

TEST_CASE("renewal: options out of range are refused", "[unit][failure_models]") {
  CHECK_THROWS_WITH(RenewalStream(all_new(weibull(1.0, 1.0), 0), 1, "a"),
                    "members must be from 1 to 2^32 - 1; got 0");
  CHECK_THROWS_WITH(RenewalStream(all_new(constant(0.0), 1), 1, "a"),
                    "a life of mean 0 would fail for ever at one date");
  CHECK_THROWS_WITH(RenewalStream({weibull(1.0, 1.0), 1, Age::kGiven, -1.0}, 1, "a"),
                    "age_s must not be negative; got -1");
}

}  // namespace
}  // namespace failure_models
