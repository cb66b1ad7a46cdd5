// tests/base/elementary_test.cpp: our own elementary functions against 80-bit arithmetic.
//
// Goal:   every function within 2 ulp over the range of a double, its limits right, its bits the
//         same on every machine.
// Method: the C library's long double functions, whose own error is 1/1000 of an ulp of a double,
//         on dense grids with seeded offsets; exact values; one committed hash of result bits.
//         Worst seen in 10^6 points each: log 0.82, log1p 0.78, exp 0.83, expm1 1.06, pow 0.86,
//         sine 0.99, cosine 0.97 ulp.
// Teeth:  seen failing with two coefficients of exp or of the long log dropped, the low piece of
//         log 2 dropped, pow by way of exp(y log x), the long log's z^2 term in one double, the
//         correction of log1p dropped, cosine and sine swapped in one quadrant, and fused
//         multiply-add allowed (it breaks pow's exact products). A single last coefficient or the
//         rest of the reduction dropped stays below 2 ulp: only the hash of the bits sees those.
#include "sim/base/elementary.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sim/base/random.h"

namespace sim::base {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMaxUlp = 2.0;
constexpr int kPoints = 20'000;

// Distance in units of the last place of the true value.
double ulps_apart(double got, long double want) {
  const int exponent = std::ilogb(static_cast<double>(want));
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) *
                             std::scalbn(1.0L, 52 - exponent));
}

// Largest error over kPoints of (least, most), one seeded point in each of equal cells.
template <typename Ours, typename Theirs>
double worst_ulps(double least, double most, const Ours& ours, const Theirs& theirs) {
  Stream stream(1, "grid");
  double worst = 0.0;
  for (int i = 0; i < kPoints; ++i) {
    const double x = least + (most - least) * (i + stream.next_uniform()) / kPoints;
    const double apart = ulps_apart(ours(x), theirs(x));
    if (!(apart <= worst)) worst = apart;  // a NaN sticks
  }
  return worst;
}

TEST_CASE("elementary: log is within 2 ulp", "[property][base]") {
  const auto theirs = [](double x) { return std::log(static_cast<long double>(x)); };
  CHECK(worst_ulps(0.5, 2.0, natural_log, theirs) <= kMaxUlp);
  CHECK(worst_ulps(1.0 - 1e-6, 1.0 + 1e-6, natural_log, theirs) <= kMaxUlp);
  // All magnitudes, subnormal ones included: x = e^w.
  const auto wide = [](double w) { return static_cast<double>(std::exp(w)); };
  CHECK(worst_ulps(-740.0, 709.0, [&](double w) { return natural_log(wide(w)); },
                   [&](double w) { return theirs(wide(w)); }) <= kMaxUlp);
}

TEST_CASE("elementary: log1p is within 2 ulp", "[property][base]") {
  const auto theirs = [](double x) { return std::log1p(static_cast<long double>(x)); };
  CHECK(worst_ulps(-1.0, 2.0, log_one_plus, theirs) <= kMaxUlp);
  CHECK(worst_ulps(-1e-5, 1e-5, log_one_plus, theirs) <= kMaxUlp);
  CHECK(worst_ulps(2.0, 1e4, log_one_plus, theirs) <= kMaxUlp);
  const auto tiny = [](double w) { return -static_cast<double>(std::exp(w)); };
  CHECK(worst_ulps(-700.0, -0.1, [&](double w) { return log_one_plus(tiny(w)); },
                   [&](double w) { return theirs(tiny(w)); }) <= kMaxUlp);
}

TEST_CASE("elementary: exp is within 2 ulp", "[property][base]") {
  const auto theirs = [](double x) { return std::exp(static_cast<long double>(x)); };
  CHECK(worst_ulps(-708.0, 709.7, exponential, theirs) <= kMaxUlp);
  CHECK(worst_ulps(-2.0, 2.0, exponential, theirs) <= kMaxUlp);
}

TEST_CASE("elementary: expm1 is within 2 ulp", "[property][base]") {
  const auto theirs = [](double x) { return std::expm1(static_cast<long double>(x)); };
  CHECK(worst_ulps(-2.0, 2.0, exponential_minus_one, theirs) <= kMaxUlp);
  CHECK(worst_ulps(-1e-5, 1e-5, exponential_minus_one, theirs) <= kMaxUlp);
  CHECK(worst_ulps(-45.0, 709.7, exponential_minus_one, theirs) <= kMaxUlp);
}

TEST_CASE("elementary: pow is within 2 ulp, at large exponents too", "[property][base]") {
  Stream stream(1, "pow");
  double worst = 0.0;
  for (int i = 0; i < 2 * kPoints; ++i) {
    // Bases of all magnitudes, every third near 1; the logarithm of the result from -700 to 700.
    const double spread = i % 3 == 0 ? 0.01 : 80.0;
    const double base = std::exp(spread * (stream.next_uniform() - 0.5));
    const double exponent = 1400.0 * (stream.next_uniform() - 0.5) / std::log(base);
    const long double want =
        std::pow(static_cast<long double>(base), static_cast<long double>(exponent));
    const double apart = ulps_apart(power(base, exponent), want);
    if (!(apart <= worst)) worst = apart;
  }
  CHECK(worst <= kMaxUlp);
  CHECK(power(2.0, 10.0) == 1024.0);
  CHECK(power(10.0, 15.0) == 1e15);
  CHECK(power(2.25, 0.5) == 1.5);
}

TEST_CASE("elementary: sine and cosine of a turn are within 2 ulp", "[property][base]") {
  // Independent of our quadrants: the angle is folded to its distance from the nearest zero,
  // which is exact for a turn in [0, 1], before the library sees it.
  const auto sine_by_library = [](double turn) {
    const long double two_pi = 6.283185307179586476925286766559L;
    const long double t = turn;
    if (t > 0.75L) return std::sin(two_pi * (t - 1.0L));
    if (t > 0.25L) return -std::sin(two_pi * (t - 0.5L));
    return std::sin(two_pi * t);
  };
  const auto cosine_by_library = [&](double turn) {
    const long double two_pi = 6.283185307179586476925286766559L;
    const long double t = turn;
    return t <= 0.5L ? -std::sin(two_pi * (t - 0.25L)) : std::sin(two_pi * (t - 0.75L));
  };
  const auto sine = [](double turn) {
    double s, c;
    sine_cosine_of_turn(turn, s, c);
    return s;
  };
  const auto cosine = [](double turn) {
    double s, c;
    sine_cosine_of_turn(turn, s, c);
    return c;
  };
  CHECK(worst_ulps(0.0, 1.0, sine, sine_by_library) <= kMaxUlp);
  CHECK(worst_ulps(0.0, 1.0, cosine, cosine_by_library) <= kMaxUlp);
  CHECK(worst_ulps(0.4999, 0.5001, sine, sine_by_library) <= kMaxUlp);
  CHECK(worst_ulps(0.2499, 0.2501, cosine, cosine_by_library) <= kMaxUlp);
  for (int quarter = 0; quarter <= 4; ++quarter) {
    CAPTURE(quarter);
    const double sines[] = {0, 1, 0, -1, 0}, cosines[] = {1, 0, -1, 0, 1};
    CHECK(sine(0.25 * quarter) == sines[quarter]);
    CHECK(cosine(0.25 * quarter) == cosines[quarter]);
  }
}

TEST_CASE("elementary: ends of the domain give limits, outside gives NaN", "[unit][base]") {
  CHECK(natural_log(0.0) == -kInfinity);
  CHECK(natural_log(1.0) == 0.0);
  CHECK(natural_log(kInfinity) == kInfinity);
  CHECK(std::isnan(natural_log(-1.0)));
  CHECK(log_one_plus(-1.0) == -kInfinity);
  CHECK(log_one_plus(0.0) == 0.0);
  CHECK(std::isnan(log_one_plus(-1.5)));
  CHECK(exponential(0.0) == 1.0);
  CHECK(exponential(-kInfinity) == 0.0);
  CHECK(exponential(709.79) == kInfinity);  // log of the largest double is 709.7827
  CHECK(exponential(-745.2) == 0.0);        // log of half the smallest is -745.13
  CHECK(exponential(-745.0) == std::numeric_limits<double>::denorm_min());
  CHECK(exponential_minus_one(-kInfinity) == -1.0);
  CHECK(exponential_minus_one(kInfinity) == kInfinity);
  CHECK(exponential_minus_one(0.0) == 0.0);
  CHECK(power(0.0, 0.0) == 1.0);
  CHECK(power(0.0, 2.5) == 0.0);
  CHECK(power(0.0, -1.0) == kInfinity);
  CHECK(power(kInfinity, -1.0) == 0.0);
  CHECK(power(1.0, kInfinity) == 1.0);
  CHECK(power(0.5, kInfinity) == 0.0);
  CHECK(power(2.0, 1e300) == kInfinity);
  CHECK(std::isnan(power(-1.0, 2.5)));
  for (const double result : {natural_log(kNan), log_one_plus(kNan), exponential(kNan),
                              exponential_minus_one(kNan), power(kNan, 2.0), power(2.0, kNan)}) {
    CHECK(std::isnan(result));
  }
}

TEST_CASE("elementary: the bits are the same on every machine", "[golden][base]") {
  Stream stream(1, "bits");
  std::uint64_t hash = 0;
  const auto add = [&hash](double x) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(x)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  };
  for (int i = 0; i < 10'000; ++i) {
    const double u = stream.next_uniform(), v = stream.next_uniform();
    add(natural_log(1e6 * u));
    add(log_one_plus(-u));
    add(exponential(100.0 * (u - v)));
    add(exponential_minus_one(u - v));
    add(power(50.0 * u, 20.0 * (v - 0.5)));
    double sine, cosine;
    sine_cosine_of_turn(u, sine, cosine);
    add(sine);
    add(cosine);
  }
  CHECK(hash == 0x29d7535b31963672u);  // GCC 12, -O0 to -O3, x86-64 and x86-64-v3; clang 14
}

}  // namespace
}  // namespace sim::base
