// optim/check_shape.cpp: see check_shape.h.
#include "optim/check_shape.h"

#include <fmt/format.h>

#include <stdexcept>

namespace optim {

void check_size(std::string_view what, std::size_t got, std::size_t expected,
                std::string_view unit) {
  if (got == expected) return;
  throw std::invalid_argument(fmt::format("{} has {} {}, expected {}", what, got, unit, expected));
}

}  // namespace optim
