// tests/scenario/units_test.cpp: text with a unit to a number and back.
//
// Teeth: seen failing with a factor of 1e-3 in place of a division by 1e3 (36 ms), and with the
// rest of the text after a unit unread.
#include <catch2/catch.hpp>

#include <random>
#include <string>

#include "sim/base/units.h"

using namespace sim::base;

namespace {

double value_of(const std::string& text, Dimension dimension) {
  const QuantityResult result = parse_quantity(text, dimension);
  INFO(text << ": " << result.error);
  REQUIRE(result.error.empty());
  return result.value;
}

}  // namespace

TEST_CASE("units: the doubles nearest to what the text says") {
  CHECK(value_of("6 h", Dimension::kTime) == 21600.0);
  CHECK(value_of("36 ms", Dimension::kTime) == 0.036);
  CHECK(value_of("50us", Dimension::kTime) == 0.00005);
  CHECK(value_of("1 y", Dimension::kTime) == 31557600.0);  // 365.25 x 86,400
  CHECK(value_of("5 Gbps", Dimension::kRate) == 625e6);    // 5e9 / 8
  CHECK(value_of("2 Gbit/s", Dimension::kRate) == 250e6);
  CHECK(value_of("400 GB/s", Dimension::kRate) == 400e9);
  CHECK(value_of("918 TFLOP/s", Dimension::kCompute) == 918e12);
  CHECK(value_of("2 GiB", Dimension::kData) == 2147483648.0);
  CHECK(value_of("2 kWh", Dimension::kEnergy) == 7.2e6);
}

TEST_CASE("units: what is not a number with a unit of that dimension says so") {
  CHECK(parse_quantity("6", Dimension::kTime).error == "needs a unit; got \"6\"");
  CHECK(parse_quantity("6 h!", Dimension::kTime).error == "unknown unit 'h!' in \"6 h!\"");
  CHECK(parse_quantity("6 m", Dimension::kTime).hint == "minutes are 'min', milliseconds 'ms'");
  CHECK(parse_quantity("2 Gb", Dimension::kRate).hint == "bits are 'Gbps' or 'Gbit/s', bytes 'GB/s'");
  CHECK(parse_quantity("nan s", Dimension::kTime).error ==
        "must be a finite number with a unit; got \"nan s\"");
  CHECK_FALSE(parse_quantity("inf s", Dimension::kTime).error.empty());
  CHECK_FALSE(parse_quantity("", Dimension::kTime).error.empty());
  CHECK_FALSE(parse_quantity("h", Dimension::kTime).error.empty());
}

TEST_CASE("units: every number written is read back exactly", "[property]") {
  std::mt19937_64 words(1);
  for (int i = 0; i < 500; ++i) {
    const double value = static_cast<double>(words()) / 1e9 / static_cast<double>(1 + words() % 1000);
    CAPTURE(i, value);
    CHECK(value_of(format_quantity(value, Dimension::kRate), Dimension::kRate) == value);
    CHECK(value_of(format_quantity(value, Dimension::kTime), Dimension::kTime) == value);
  }
}

TEST_CASE("units: durations are written in the largest unit that divides them") {
  CHECK(format_duration(6 * kHour) == "6 h");
  CHECK(format_duration(90 * kMinute) == "90 min");
  CHECK(format_duration(36 * kMillisecond) == "36 ms");
  CHECK(format_duration(1'500'001) == "1500001 ns");
  CHECK(format_duration(0) == "0 s");
}
