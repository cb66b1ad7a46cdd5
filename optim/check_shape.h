// optim/check_shape.h: one sentence for every wrong shape: what, its size, the size it should have.
#pragma once

#include <cstddef>
#include <string_view>

namespace optim {

// Throws std::invalid_argument "<what> has <got> <unit>, expected <expected>" unless equal.
void check_size(std::string_view what, std::size_t got, std::size_t expected,
                std::string_view unit = "floats");

}  // namespace optim
