// sim/experiment/statistics.h: what a few seeds allow one to say.
//
// Student's t throughout: means with 95 % intervals, differences paired by seed, and a best arm
// only where the paired interval against the next one excludes 0 (design section 6).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sim::experiment {

// Two-sided quantile: the t that |T| stays below with probability `confidence`, for T of Student's
// distribution. The distribution function is the finite trigonometric sum for whole degrees of
// freedom; inverted by bisection to the last bit.
//
// Requires: degrees of freedom >= 1, confidence in (0, 1); else std::invalid_argument.
// Source:   Abramowitz and Stegun, formulas 26.7.3 and 26.7.4.
double student_t(std::size_t degrees_of_freedom, double confidence);

struct Estimate {
  double mean;
  std::optional<double> half_width;  // of the interval, of 95 % where no other is asked for; none for one value
  std::size_t count;
};

// Requires: at least one value; else std::invalid_argument.
Estimate estimate(std::span<const double> values);
Estimate estimate(std::span<const double> values, double confidence);

// Of a sample: divided by count - 1; 0 for fewer than two values.
double standard_deviation(std::span<const double> values);

// Of values[i] - reference[i]. Requires: equal lengths, at least one; else std::invalid_argument.
Estimate paired_difference(std::span<const double> values, std::span<const double> reference);

// Infinity ("not reached") is a value like others. Requires: at least one value.
double median(std::vector<double> values);

// What has to be said beside figures from so many seeds: empty from 5 on.
std::string seed_note(std::size_t seeds);

enum class Better { kLarger, kSmaller };

// Index of the arm whose mean is best, if its paired interval against the next best excludes 0.
// None with one seed, one arm, or arms of unequal length.
std::optional<std::size_t> best_arm(const std::vector<std::vector<double>>& values_by_arm,
                                    Better better);

}  // namespace sim::experiment
