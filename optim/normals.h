// optim/normals.h: standard normals two at a time.
#pragma once

#include <cmath>
#include <span>

#include "sim/base/elementary.h"
#include "sim/base/random.h"

namespace optim {

// Sets `values` to independent standard normals (Box-Muller, both halves used: one word each, and
// one more when the number is odd). Half the price of Stream::next_normal.
inline void set_normals(sim::base::Stream& stream, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const double radius = std::sqrt(-2.0 * sim::base::natural_log(stream.next_uniform()));
    double sine, cosine;
    sim::base::sine_cosine_of_turn(stream.next_uniform(), sine, cosine);
    values[i] = static_cast<float>(radius * cosine);
    if (i + 1 < values.size()) values[i + 1] = static_cast<float>(radius * sine);
  }
}

}  // namespace optim
