// sim/base/random.cpp: see random.h for the contract and the source.
#include "sim/base/random.h"

#include <cmath>
#include <stdexcept>

#include "sim/base/elementary.h"

namespace sim::base {
namespace {

__extension__ using Wide = unsigned __int128;

// The output function of splitmix64: every input bit reaches every output bit.
std::uint64_t mix(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
  return word ^ (word >> 31);
}

constexpr std::uint64_t kWeyl = 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio

}  // namespace

Stream::Stream(std::uint64_t seed, std::string_view name) : key_(hash_name(seed, name)) {}

Stream Stream::at(std::uint64_t lane, std::uint64_t index) const {
  Stream moved = *this;
  moved.lane_ = lane;
  moved.index_ = index;
  return moved;
}

std::uint64_t Stream::word_at(std::uint64_t index) const {
  return philox_block({index, lane_}, key_)[0];
}

double Stream::next_uniform() {
  return static_cast<double>((next_word() >> 11) | 1u) * 0x1p-53;
}

std::uint64_t Stream::next_below(std::uint64_t bound) {
  if (bound == 0) throw std::invalid_argument("the bound of a random integer must be positive; got 0");
  return static_cast<std::uint64_t>((Wide{next_word()} * bound) >> 64);
}

double Stream::next_normal() {
  const double radius = std::sqrt(-2.0 * natural_log(next_uniform()));
  double sine, cosine;
  sine_cosine_of_turn(next_uniform(), sine, cosine);
  return radius * cosine;
}

std::uint64_t hash_name(std::uint64_t seed, std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return mix(mix(seed + kWeyl) ^ hash);
}

std::array<std::uint64_t, 2> philox_block(std::array<std::uint64_t, 2> counter,
                                          std::uint64_t key) {
  for (int round = 0; round < 10; ++round) {
    const Wide product = Wide{counter[0]} * 0xD2B74407B1CE6E93u;
    counter = {static_cast<std::uint64_t>(product >> 64) ^ key ^ counter[1],
               static_cast<std::uint64_t>(product)};
    key += kWeyl;
  }
  return counter;
}

}  // namespace sim::base
