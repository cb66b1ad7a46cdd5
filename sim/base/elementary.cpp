// sim/base/elementary.cpp: see elementary.h for the contract.
//
// Reduction first, series second. A logarithm splits x = 2^n m with m within sqrt(2) of 1 and sums
// the series of atanh; an exponential splits off multiples of log 2 in two pieces and sums
// Taylor's series; a power carries its logarithm as a sum of two doubles, because the exponent
// multiplies its error.
//
// Ours: series coefficients are the plain Taylor ones, cut where the next term is below 2^-56 of
// the sum; nothing here is fitted.
#include "sim/base/elementary.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace sim::base {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// log 2 in three pieces; the first has 32 bits, so that n times it is exact for |n| < 2^21.
constexpr double kLog2High = 0x1.62e42fef00000p-1;
constexpr double kLog2Low = 0x1.473de6af278edp-34;
constexpr double kLog2Lowest = -0x1.9ff0342542fc3p-90;

// c[0] + c[1] x + c[2] x^2 + ...
template <std::size_t N>
double series(const double (&coefficients)[N], double x) {
  double sum = coefficients[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

// Nearest integer for |x| < 2^51, ties to even: the addition leaves no bits below one.
double nearest_integer(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

double power_of_two(int n) {  // -1022 <= n <= 1023
  return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

// x 2^n in two steps, so that n may lie beyond the exponents of a double.
double scale(double x, int n) {
  const int half = n / 2;
  return x * power_of_two(half) * power_of_two(n - half);
}

// An unevaluated sum; |low| is at most half an ulp of high.
struct Pair {
  double high, low;
};

Pair sum_ordered(double large, double small) {  // |large| >= |small|, or large == 0
  const double high = large + small;
  return {high, small - (high - large)};
}

Pair sum(double a, double b) {
  const double high = a + b;
  const double b_part = high - a;
  return {high, (a - (high - b_part)) + (b - b_part)};
}

// Veltkamp's split and Dekker's product: exact without a fused multiply-add.
Pair product(double a, double b) {
  const auto upper = [](double x) {
    const double shifted = x * 0x1.0000002p27;  // 2^27 + 1
    return shifted - (shifted - x);
  };
  const double a_high = upper(a), a_low = a - a_high;
  const double b_high = upper(b), b_low = b - b_high;
  const double high = a * b;
  return {high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

Pair product(Pair a, double b) {
  const Pair exact = product(a.high, b);
  return sum_ordered(exact.high, exact.low + a.low * b);
}

Pair product(Pair a, Pair b) {
  const Pair exact = product(a.high, b.high);
  return sum_ordered(exact.high, exact.low + (a.high * b.low + a.low * b.high));
}

Pair sum(Pair a, Pair b) {
  const Pair exact = sum(a.high, b.high);
  return sum_ordered(exact.high, exact.low + (a.low + b.low));
}

// x = 2^exponent fraction with fraction in [sqrt(1/2), sqrt(2)); x normal or subnormal, positive.
struct Split {
  double fraction;
  int exponent;
};

Split split(double x) {
  int exponent = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    exponent = -54;
  }
  constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  exponent += static_cast<int>(bits >> 52) - 1023;
  double fraction =
      std::bit_cast<double>((bits & kMantissa) | (std::uint64_t{1023} << 52));
  if (fraction > 0x1.6a09e667f3bcdp+0) {  // sqrt(2)
    fraction *= 0.5;
    ++exponent;
  }
  return {fraction, exponent};
}

// (2 atanh(s) - 2 s) / s with z = s^2 <= 0.0295.
double atanh_tail(double z) {
  constexpr double kTail[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                              2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
  return z * series(kTail, z);
}

// exponent log 2 + log(1 + excess) + correction, with 1 + excess a fraction as above.
//
//   s = f / (2 + f),  log(1 + f) = f - (f^2 / 2 - s (f^2 / 2 + tail(s^2)))
//
// written so that the leading term f is exact and all that is rounded is small beside it.
double log_of_parts(int exponent, double excess, double correction) {
  const double n = exponent;
  const double s = excess / (2.0 + excess);
  const double half_square = 0.5 * excess * excess;
  const double bent = s * (half_square + atanh_tail(s * s));
  return n * kLog2High + (excess - (half_square - (bent + (n * kLog2Low + correction))));
}

// Logarithm as a pair, relative error below 2^-64; x positive and finite.
Pair long_log(double x) {
  const auto [fraction, exponent] = split(x);
  const double excess = fraction - 1.0;  // exact
  const Pair denominator = sum(2.0, excess);
  const double s_high = excess / denominator.high;
  const Pair back = product(s_high, denominator.high);
  const double s_low =
      ((excess - back.high) - back.low - s_high * denominator.low) / denominator.high;
  const Pair s = sum_ordered(s_high, s_low);
  const Pair z = product(s, s);

  // 2 atanh(s) = s (2 + z (2/3 + z (2/5 + ...))), the first two coefficients as pairs.
  constexpr double kRest[] = {2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                              2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23, 2.0 / 25};
  const Pair two_thirds = {0x1.5555555555555p-1, 0x1.5555555555555p-55};
  const Pair inner = sum(two_thirds, {z.high * series(kRest, z.high), 0.0});
  const Pair log_fraction = product(s, sum({2.0, 0.0}, product(z, inner)));

  const double n = exponent;
  const Pair n_low = product(kLog2Low, n);
  const Pair log_power = sum(sum(n * kLog2High, n_low.high), {0.0, n_low.low + n * kLog2Lowest});
  return sum(log_power, log_fraction);
}

// e^x - 1 - x for |x| <= 0.35.
double exponential_tail(double x) {
  constexpr double kTail[] = {1.0 / 2,          1.0 / 6,           1.0 / 24,
                              1.0 / 120,        1.0 / 720,         1.0 / 5040,
                              1.0 / 40320,      1.0 / 362880,      1.0 / 3628800,
                              1.0 / 39916800,   1.0 / 479001600,   1.0 / 6227020800.0,
                              1.0 / 87178291200.0};
  return x * x * series(kTail, x);
}

// x + low = turns log 2 + high + rest, |high| <= 0.35; |x| <= 750.
struct Reduced {
  double high, rest;
  int turns;
};

Reduced reduce_by_log_2(double x, double low) {
  const double n = nearest_integer(x * 0x1.71547652b82fep+0);  // 1 / log 2
  const double shifted = x - n * kLog2High;                     // exact
  const Pair reduced = sum(shifted, low - n * kLog2Low);
  return {reduced.high, reduced.low, static_cast<int>(n)};
}

// e^(x + low), |low| below an ulp of x.
double exponential_of_pair(double x, double low) {
  if (!(x < 710.0)) return x != x ? kNan : kInfinity;
  if (x < -750.0) return 0.0;
  const Reduced r = reduce_by_log_2(x, low);
  const double small = r.high + (r.rest + exponential_tail(r.high));
  return scale(1.0 + small, r.turns);
}

}  // namespace

double natural_log(double x) {
  if (!(x > 0.0)) return x == 0.0 ? -kInfinity : kNan;
  if (x == kInfinity) return x;
  const auto [fraction, exponent] = split(x);
  return log_of_parts(exponent, fraction - 1.0, 0.0);
}

double log_one_plus(double x) {
  if (!(x > -1.0)) return x == -1.0 ? -kInfinity : kNan;
  if (x == kInfinity) return x;
  const double rounded = 1.0 + x;
  const auto [fraction, exponent] = split(rounded);
  if (exponent == 0) return log_of_parts(0, x, 0.0);
  // What the addition lost, as a share of what it kept.
  const double lost = x >= 1.0 ? 1.0 - (rounded - x) : x - (rounded - 1.0);
  return log_of_parts(exponent, fraction - 1.0, lost / rounded);
}

double exponential(double x) { return exponential_of_pair(x, 0.0); }

double exponential_minus_one(double x) {
  if (!(x < 710.0)) return x != x ? kNan : kInfinity;
  if (x < -40.0) return -1.0;
  const Reduced r = reduce_by_log_2(x, 0.0);
  const double tail = r.rest + (r.rest * r.high + exponential_tail(r.high));
  if (r.turns == 0) return r.high + tail;
  if (r.turns > 60) return scale(1.0 + (r.high + tail), r.turns);
  // 2^n (1 + small) - 1, with 2^n - 1 exact for n within 53 bits and the large part added last.
  const double factor = power_of_two(r.turns);
  const Pair leading = sum(factor - 1.0, factor * r.high);
  return leading.high + (leading.low + factor * tail);
}

double power(double base, double exponent) {
  if (exponent == 0.0) return 1.0;
  if (!(base >= 0.0) || exponent != exponent) return kNan;
  if (base == 1.0) return 1.0;
  if (base == 0.0) return exponent > 0.0 ? 0.0 : kInfinity;
  if (base == kInfinity) return exponent > 0.0 ? kInfinity : 0.0;
  const Pair log_base = long_log(base);
  const double rough = log_base.high * exponent;
  if (!(rough < 710.0)) return kInfinity;
  if (rough < -750.0) return 0.0;
  const Pair log_power = product(log_base, exponent);
  return exponential_of_pair(log_power.high, log_power.low);
}

void sine_cosine_of_turn(double turn, double& sine, double& cosine) {
  constexpr double kSine[] = {-1.0 / 6,         1.0 / 120,           -1.0 / 5040,
                              1.0 / 362880,     -1.0 / 39916800,     1.0 / 6227020800.0,
                              -1.0 / 1307674368000.0, 1.0 / 355687428096000.0};
  constexpr double kCosine[] = {1.0 / 24,           -1.0 / 720,        1.0 / 40320,
                                -1.0 / 3628800,     1.0 / 479001600,   -1.0 / 87178291200.0,
                                1.0 / 20922789888000.0, -1.0 / 6402373705728000.0};
  const double quarters = nearest_integer(turn * 4.0);
  const double rest = turn - quarters * 0.25;  // exact, within an eighth of 0
  const Pair angle = product(Pair{0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52}, rest);  // 2 pi
  const double square = angle.high * angle.high;
  const double s = angle.high + (angle.low + angle.high * square * series(kSine, square));
  const double c =
      1.0 - (0.5 * square - (square * square * series(kCosine, square) - angle.high * angle.low));
  switch (static_cast<std::int64_t>(quarters) & 3) {
    case 0: sine = s; cosine = c; break;
    case 1: sine = c; cosine = -s; break;
    case 2: sine = -s; cosine = -c; break;
    default: sine = -c; cosine = s; break;
  }
}

}  // namespace sim::base
