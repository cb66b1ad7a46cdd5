// sim/trainer/fragment_copy.h: between a model's flat block and a fragment packed without gaps.
//
// Shapes: flat (block_size), packed (fragment.size), pieces one after another.
#pragma once

#include <algorithm>
#include <span>

#include "optim/fragments.h"

namespace sim::trainer {

inline void pack(const optim::Fragment& fragment, std::span<const float> flat,
                 std::span<float> packed) {
  auto place = packed.begin();
  for (const optim::Piece& piece : fragment.pieces) {
    place = std::ranges::copy(flat.subspan(piece.offset, piece.size), place).out;
  }
}

inline void unpack(const optim::Fragment& fragment, std::span<const float> packed,
                   std::span<float> flat) {
  std::size_t taken = 0;
  for (const optim::Piece& piece : fragment.pieces) {
    std::ranges::copy(packed.subspan(taken, piece.size),
                      flat.subspan(piece.offset, piece.size).begin());
    taken += piece.size;
  }
}

// flat = mixing * flat + (1 - mixing) * packed, in double; a mixing of 0 copies the bits.
inline void adopt(const optim::Fragment& fragment, double mixing, std::span<const float> packed,
                  std::span<float> flat) {
  if (mixing == 0) return unpack(fragment, packed, flat);
  std::size_t taken = 0;
  for (const optim::Piece& piece : fragment.pieces) {
    for (float& local : flat.subspan(piece.offset, piece.size)) {
      local = static_cast<float>(mixing * double{local} + (1 - mixing) * double{packed[taken++]});
    }
  }
}

}  // namespace sim::trainer
