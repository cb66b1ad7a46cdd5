// sim/experiment/sweep_axis.h: the values of one axis, and how a table shows them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/schema.h"
#include "sim/base/value.h"
#include "sim/scenario/sweep_options.h"

namespace sim::experiment {

struct Axis {
  std::string key;
  std::vector<base::Value> values;
  // Column of the tables: the key, and a unit where the values have one ("failure.chips.mtbi_s").
  std::string column;
  std::vector<std::string> cells;  // one per value: "31557600"
};

enum class Repeats { kRefuse, kAllow };

// The list, or the range counted out. Ends are exact; values between keep six significant digits,
// so that a table's column is not full of rounding noise. With `whole` all are rounded, the ends too.
//
//   linear:  from + (to - from) i / (count - 1)
//   log:     from (to / from)^(i / (count - 1))
//
// Errors: ends of unlike units; a logarithmic range that is not above 0; with Repeats::kRefuse equal
//         values after rounding; a problem is added and the axis has no values. Axes in step may repeat
//         a value: points are not alike for that.
Axis make_axis(const scenario::AxisOptions& options, Repeats repeats, base::Problems& problems);

// `samples` values of the axis, one in each of as many equal strata of its range (of its list: the
// values by turns), in random order.
//
// Random: stream ("sweep/" + key) of `design_seed`: samples - 1 words for the order, then one per
//         sample of a range.
// Source: McKay, Beckman and Conover 1979, Latin hypercube sampling.
Axis sample_axis(const scenario::AxisOptions& options, std::int64_t samples,
                 std::uint64_t design_seed, base::Problems& problems);

// "KEY=VALUE" as --set takes it.
std::string as_set(const std::string& key, const base::Value& value);

}  // namespace sim::experiment
