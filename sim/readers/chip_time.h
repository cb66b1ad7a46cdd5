// sim/readers/chip_time.h: chip-nanoseconds, exact for any fleet and any run.
//
// A million chips for 90 days are 7.8e21 chip-nanoseconds: more than 64 bits hold.
#pragma once

#include "sim/base/time.h"

namespace sim::readers {

using base::Nanoseconds;

__extension__ using ChipNanoseconds = unsigned __int128;

inline ChipNanoseconds chip_time(std::int64_t chips, Nanoseconds duration) {
  return static_cast<ChipNanoseconds>(chips) * static_cast<ChipNanoseconds>(duration);
}

inline double to_chip_seconds(ChipNanoseconds time) { return static_cast<double>(time) / 1e9; }

}  // namespace sim::readers
