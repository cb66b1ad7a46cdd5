// optim/transpose.h: copies a transposed factor into a panel of matrix_product.
#pragma once

#include <cstddef>

namespace optim {

// Column j of a panel `width` floats wide is row j of `from` (count x depth, at stride), by tiles of
// 8 x 8; columns from `count` on are zero.
void pack_transposed(const float* from, std::size_t stride, std::size_t depth, std::size_t count,
                     std::size_t width, float* panel);

}  // namespace optim
