// sim/base/random.h: named, counter-based streams of random words.
//
// A stream is a pure function of (seed, name): word i is a Philox 2x64-10 block keyed by the hash
// of both. Adding a stream, or drawing from one, therefore re-draws nothing elsewhere (law 2).
//
// Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3", Philox-2x64-10.
#pragma once

#include <cstdint>
#include <string_view>

namespace sim::base {

class Stream {
 public:
  Stream(std::uint64_t seed, std::string_view name);

  std::uint64_t word_at(std::uint64_t index) const;  // random access, does not advance
  std::uint64_t next_word() { return word_at(index_++); }

  // Uniform in the open interval (0, 1), 53 bits; one word.
  double next_uniform();
  // Uniform integer in [0, bound); bound > 0. Multiply-shift, one word (bias below 2^-40 here).
  std::uint64_t next_below(std::uint64_t bound);
  // Standard normal; exactly two words (Box-Muller with our own log and sincos; the second half
  // is thrown away so that every variate costs the same number of words).
  double next_normal();

  std::uint64_t index() const { return index_; }

 private:
  std::uint64_t key_;
  std::uint64_t index_ = 0;
};

// 64-bit FNV-1a of `text`, then mixed with `seed`; also used for scenario and trace hashes.
std::uint64_t hash_name(std::uint64_t seed, std::string_view text);

}  // namespace sim::base
