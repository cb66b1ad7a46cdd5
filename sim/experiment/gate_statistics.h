// sim/experiment/gate_statistics.h: has a mean become smaller, and what could have been seen?
//
// Tests are one-sided: only a loss fails. With seeds that mean the same draws on both sides the
// differences by seed are tested (paired), otherwise the two means (Welch, variances not assumed
// equal). Many points are guarded at once, so each is tested at 1 % divided by their number
// (Bonferroni): the whole curve gives a false alarm in at most 1 % of changes that change nothing.
#pragma once

#include <cstddef>
#include <span>

namespace sim::experiment {

// I_x(a, b) for a, b > 0 and x in [0, 1]; relative error about 1e-12.
//
// Source: the continued fraction of Abramowitz and Stegun, 26.5.8, by Lentz's method.
double incomplete_beta(double a, double b, double x);

// P(T > t) for Student's T with `degrees` > 0 of freedom, which need not be whole.
double student_upper_tail(double t, double degrees);
// The t above which it lies with probability `tail`, in (0, 0.5].
double student_upper_quantile(double tail, double degrees);

// before - after, and bounds that hold with probability 1 - tail each. Without any spread (identical
// streams) both are the loss itself.
struct Loss {
  double mean, low, high;
};
// Requires: equal lengths, at least two values; else std::invalid_argument.
Loss paired_loss(std::span<const double> before, std::span<const double> after, double tail);
// Degrees of freedom by Welch and Satterthwaite. Requires: at least two values each.
Loss two_sample_loss(std::span<const double> before, std::span<const double> after, double tail);

// Values on the two sides.
struct Sizes {
  std::size_t before, after;
};

// How often a two-sample test finds a true `loss` when one value spreads by `deviation` on both sides: the
// loss must be seen above 0 at level `tail`, and above `smallest` at all.
//
//   se = deviation sqrt(1 / before + 1 / after),  n = 2 (count - 1) where both sizes are `count`, else
//        those of the smaller sample alone, which errs to the side of too little power
//   integral over s of f(s) Phi((loss - max(smallest, t(tail, n) se s)) / se),
//   s the sample's spread over the true one, f its density: n s^2 is chi-square of n degrees
//
// By Simpson's rule; normal values of equal spread, for which it is exact with equal sizes.
// Requires: at least two values a side.
double power_of_test(double loss, double deviation, Sizes sizes, double tail, double smallest);
// The true loss that it finds with probability 0.95.
double detectable_loss(double deviation, Sizes sizes, double tail, double smallest);
// The smallest count on both sides whose detectable loss is at most `loss`. Requires: loss > smallest.
std::size_t counts_needed(double deviation, double tail, double smallest, double loss);

// What the true spread of normal values stays below with probability `confidence`, when `count` of them
// spread by `deviation`:
//
//   deviation sqrt((count - 1) / q),  chi-square of count - 1 degrees lies below q with 1 - confidence
//
// Requires: 2 <= count <= 200.
double deviation_bound(double deviation, std::size_t count, double confidence);

}  // namespace sim::experiment
