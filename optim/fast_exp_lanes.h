// optim/fast_exp_lanes.h: exp of sixteen floats, with the bits of fast_exp.h.
#pragma once

#include <initializer_list>

#include "optim/lanes.h"

namespace optim {

// The steps of fast_exp.h, constant by constant.
inline Lanes fast_exp(Lanes x) {
  x = smaller(all_of(88.0f), larger(all_of(-87.0f), x));
  const Lanes rounder = all_of(12582912.0f);
  const Lanes shifted = fused(x, all_of(1.44269504f), rounder);
  const Lanes n = shifted - rounder;
  const Lanes r = fused(n, all_of(-1.42860677e-6f), fused(n, all_of(-0.693145752f), x));
  Lanes sum = all_of(1.0f / 5040.0f);
  for (const float term : {1.0f / 720.0f, 1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f, 0.5f, 1.0f,
                           1.0f}) {
    sum = fused(sum, r, all_of(term));
  }
  return sum * power_of_two(shifted);
}

}  // namespace optim
