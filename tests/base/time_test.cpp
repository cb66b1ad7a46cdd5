// tests/base/time_test.cpp: seconds to nanoseconds and back, and printed.
//
// Goal:   no date moves by a nanosecond on its way through a double or a text.
// Method: hand values, edges, and a round trip over seeded dates.
// Teeth:  seen failing with truncation in place of rounding, with the product taken in one piece,
//         without the upper limit, without leading zeros and without the sign.
#include "sim/base/time.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>

#include "sim/base/random.h"

namespace sim::base {
namespace {

TEST_CASE("time: seconds round to the nearest nanosecond", "[unit][base]") {
  CHECK(from_seconds(1.5) == 1'500'000'000);
  CHECK(from_seconds(0.1) == 100'000'000);  // the double is 5.6e-18 above 0.1
  CHECK(from_seconds(1.4e-9) == 1);
  CHECK(from_seconds(1.6e-9) == 2);
  CHECK(from_seconds(0x1p-10) == 976'563);  // 976,562.5 ns exactly: a half goes up
  // 2^25 + 2^-27 s is 33,554,432 s and 7.45 ns. The product with 10^9 needs 55 bits and would be
  // rounded to a multiple of 4 ns.
  CHECK(from_seconds(0x1p25 + 0x1p-27) == 33'554'432'000'000'007);
}

TEST_CASE("time: dates outside the run are cut to its ends", "[unit][base]") {
  CHECK(from_seconds(-3.0) == 0);
  CHECK(from_seconds(-0.0) == 0);
  CHECK(from_seconds(1e300) == kNever);
  CHECK(from_seconds(std::numeric_limits<double>::infinity()) == kNever);
  CHECK(from_seconds(to_seconds(kNever)) == kNever);
  CHECK(from_seconds(2e9) == 2'000'000'000 * kSecond);  // 63 years: below kNever, 73 years
  CHECK_THROWS_WITH(from_seconds(std::numeric_limits<double>::quiet_NaN()),
                    "a duration in seconds must not be NaN");
}

TEST_CASE("time: a date below 97 days survives the trip through a double", "[property][base]") {
  // Below 2^23 s doubles lie 0.93 ns apart, so that half of it is below half a nanosecond.
  constexpr std::uint64_t kLimit = std::uint64_t{1 << 23} * 1'000'000'000;
  Stream stream(1, "dates");
  for (int i = 0; i < 2000; ++i) {
    const auto date = static_cast<Nanoseconds>(stream.next_below(kLimit));
    CAPTURE(date);
    REQUIRE(from_seconds(to_seconds(date)) == date);
  }
}

TEST_CASE("time: seconds print with nine decimals", "[unit][base]") {
  CHECK(format_seconds(1'500'000'000) == "1.500000000");
  CHECK(format_seconds(0) == "0.000000000");
  CHECK(format_seconds(7) == "0.000000007");
  CHECK(format_seconds(kDay + 1) == "86400.000000001");
  CHECK(format_seconds(-1) == "-0.000000001");
  CHECK(format_seconds(std::numeric_limits<Nanoseconds>::min()) == "-9223372036.854775808");
}

}  // namespace
}  // namespace sim::base
