// tests/optim/aligned_block_test.cpp: alignment, zeroes and deep copies.
//
// Teeth: seen failing with std::allocator in place of LineAllocator, and with set_zero emptied.
#include "optim/aligned_block.h"

#include <catch2/catch.hpp>
#include <cstdint>

namespace optim {
namespace {

TEST_CASE("aligned block: every base lies on a cache line", "[unit][optim]") {
  for (std::size_t floats = 1; floats < 100; ++floats) {
    const AlignedBlock block(floats);
    CAPTURE(floats);
    CHECK(block.size() == floats);
    CHECK(reinterpret_cast<std::uintptr_t>(block.data()) % 64 == 0);
  }
}

TEST_CASE("aligned block: starts at zero and copies deeply", "[unit][optim]") {
  AlignedBlock block(5);
  for (const float value : block) CHECK(value == 0.0f);
  block[2] = 3.0f;
  AlignedBlock copy = block;
  CHECK(copy == block);
  copy[2] = 4.0f;
  CHECK(block[2] == 3.0f);
  CHECK_FALSE(copy == block);
  block.set_zero();
  CHECK(block == AlignedBlock(5));
}

TEST_CASE("aligned block: padding goes to the next 16 floats", "[unit][optim]") {
  CHECK(padded(0) == 0);
  CHECK(padded(1) == 16);
  CHECK(padded(16) == 16);
  CHECK(padded(17) == 32);
}

}  // namespace
}  // namespace optim
