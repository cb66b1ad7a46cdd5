// sim/base/random.h: named, counter-based streams of random words.
//
// A stream is a pure function of (seed, name): word i of lane j is the first half of the Philox
// 2x64-10 block with counter (i, j), keyed by the hash of seed and name. Adding a stream, or
// drawing from one, therefore re-draws nothing elsewhere (law 2). A lane is a stream of its own
// under the same name: a unit of 37,500 chips needs no 37,500 names.
//
// Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3", Philox-2x64-10.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sim::base {

class Stream {
 public:
  // Lane 0, word 0.
  Stream(std::uint64_t seed, std::string_view name);

  // The same name and seed, at any place: lane `lane`, next word `index`.
  Stream at(std::uint64_t lane, std::uint64_t index) const;

  std::uint64_t word_at(std::uint64_t index) const;  // of this lane; does not advance
  std::uint64_t next_word() { return word_at(index_++); }

  // Uniform in the open interval (0, 1): an odd multiple of 2^-53 (52 random bits), so that 0 and
  // 1 cannot occur, u and 1 - u have the same law, and 1 - u is exact; one word.
  double next_uniform();
  // Uniform integer in [0, bound). Multiply-shift, one word; a value is off its share by less than
  // bound / 2^64.
  //
  // Requires: bound > 0; else std::invalid_argument.
  std::uint64_t next_below(std::uint64_t bound);
  // Standard normal; exactly two words (Box-Muller with our own log and sincos; the second half
  // is thrown away so that every variate costs the same number of words).
  double next_normal();

  std::uint64_t index() const { return index_; }

 private:
  std::uint64_t key_;
  std::uint64_t lane_ = 0;
  std::uint64_t index_ = 0;
};

// 64-bit FNV-1a of `text`, then mixed with `seed`; also used for scenario and trace hashes.
std::uint64_t hash_name(std::uint64_t seed, std::string_view text);

// One block of the generator: ten rounds of multiply and swap, the key growing by a Weyl sequence.
std::array<std::uint64_t, 2> philox_block(std::array<std::uint64_t, 2> counter, std::uint64_t key);

}  // namespace sim::base
