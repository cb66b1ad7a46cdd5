// tests/base/random_test.cpp: the generator, its streams and its three variates.
//
// Goal:   the words are Philox's own; a stream depends on seed and name and on nothing else; the
//         variates have their laws and their fixed cost in words.
// Method: the known-answer vectors published with Random123; identities; Kolmogorov and
//         chi-square bounds at the 0.1 % level, with fixed seeds.
// Teeth:  seen failing with nine rounds, the key schedule dropped, output words swapped, the seed or
//         the name left out of the hash, the lane ignored, an even multiple of 2^-53 allowed,
//         the modulus of the low bits in place of the product's high half, the normal's angle
//         over half a turn (the same law, other numbers) and its radius too small by 2.5 %.
#include "sim/base/random.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace sim::base {
namespace {

using Block = std::array<std::uint64_t, 2>;

// sup |empirical - law| over n draws; 0.1 % of samples exceed 1.95 / sqrt(n).
template <typename Law>
double kolmogorov_distance(std::vector<double> draws, const Law& law) {
  std::sort(draws.begin(), draws.end());
  const auto n = static_cast<double>(draws.size());
  double distance = 0.0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const double probability = law(draws[i]);
    const auto below = static_cast<double>(i);
    distance = std::max({distance, probability - below / n, (below + 1.0) / n - probability});
  }
  return distance;
}

TEST_CASE("random: blocks equal the published vectors of Philox 2x64-10", "[reference][base]") {
  CHECK(philox_block({0, 0}, 0) == Block{0xca00a0459843d731u, 0x66c24222c9a845b5u});
  CHECK(philox_block({~0ull, ~0ull}, ~0ull) == Block{0x65b021d60cd8310fu, 0x4d02f3222f86df20u});
  // Counter and key are the digits of pi.
  CHECK(philox_block({0x243f6a8885a308d3u, 0x13198a2e03707344u}, 0xa4093822299f31d0u) ==
        Block{0x0a5e742c2997341cu, 0xb0f883d38000de5du});
}

TEST_CASE("random: a word is a function of seed, name, lane and index", "[unit][base]") {
  const Stream west(7, "west");
  const std::uint64_t key = hash_name(7, "west");
  CHECK(west.word_at(0) == philox_block({0, 0}, key)[0]);
  CHECK(west.word_at(41) == philox_block({41, 0}, key)[0]);
  CHECK(west.at(5, 41).word_at(2) == philox_block({2, 5}, key)[0]);
  Stream moved = west.at(5, 41);
  CHECK(moved.next_word() == philox_block({41, 5}, key)[0]);
  CHECK(moved.index() == 42);
  CHECK(west.index() == 0);
}

TEST_CASE("random: seeds, names and lanes that differ share no word", "[property][base]") {
  std::set<std::uint64_t> words;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (int unit = 0; unit < 10; ++unit) {
      const Stream stream(seed, "west/" + std::to_string(unit));
      for (std::uint64_t lane = 0; lane < 10; ++lane) {
        for (std::uint64_t i = 0; i < 10; ++i) words.insert(stream.at(lane, i).next_word());
      }
    }
  }
  CHECK(words.size() == 10'000);  // two of 10^4 random words agree with probability 3e-12
}

TEST_CASE("random: drawing from one stream moves nothing in another", "[unit][base]") {
  Stream alone(1, "b");
  const std::uint64_t first = alone.next_word(), second = alone.next_word();
  Stream a(1, "a"), b(1, "b");
  for (int i = 0; i < 1000; ++i) a.next_word();
  CHECK(b.next_word() == first);
  a.next_normal();
  CHECK(b.next_word() == second);
}

TEST_CASE("random: neighbouring streams are uncorrelated", "[property][base]") {
  constexpr int kDraws = 10'000;
  const auto correlation = [](Stream a, Stream b) {
    double sum = 0.0;
    for (int i = 0; i < kDraws; ++i) sum += (a.next_uniform() - 0.5) * (b.next_uniform() - 0.5);
    return 12.0 * sum / kDraws;  // the variance of a uniform is 1/12
  };
  const Stream one(1, "slice-1");
  const double bound = 4.0 / std::sqrt(kDraws);  // four standard errors
  CHECK(std::abs(correlation(one, Stream(1, "slice-2"))) < bound);
  CHECK(std::abs(correlation(one, Stream(2, "slice-1"))) < bound);
  CHECK(std::abs(correlation(one, one.at(1, 0))) < bound);
  CHECK(std::abs(correlation(one, one.at(0, 1))) < bound);
}

TEST_CASE("random: every bit of a word is one half of the time", "[property][base]") {
  constexpr int kWords = 10'000;
  std::array<int, 64> ones{};
  Stream stream(3, "bits");
  for (int i = 0; i < kWords; ++i) {
    const std::uint64_t word = stream.next_word();
    for (std::size_t bit = 0; bit < 64; ++bit) ones[bit] += static_cast<int>(word >> bit & 1);
  }
  // Standard error 50; the largest of 64 exceeds 4.5 of them with probability 4e-4.
  for (const int count : ones) CHECK(std::abs(count - kWords / 2) < 225);
}

TEST_CASE("random: uniforms are odd multiples of 2^-53 and uniform", "[property][base]") {
  constexpr int kDraws = 10'000;
  Stream stream(1, "uniform");
  std::vector<double> draws;
  for (int i = 0; i < kDraws; ++i) {
    draws.push_back(stream.next_uniform());
    const auto multiple = static_cast<std::uint64_t>(draws.back() * 0x1p53);
    REQUIRE(multiple % 2 == 1);
    REQUIRE(static_cast<double>(multiple) * 0x1p-53 == draws.back());
    // The top 52 bits of the word are the number: nothing else is used, nothing is lost.
    REQUIRE(multiple >> 1 == stream.word_at(stream.index() - 1) >> 12);
  }
  CHECK(stream.index() == kDraws);
  CHECK(kolmogorov_distance(draws, [](double u) { return u; }) < 1.95 / std::sqrt(kDraws));
}

TEST_CASE("random: integers below a bound are equally likely", "[property][base]") {
  constexpr int kDraws = 10'000;
  Stream stream(1, "below");
  std::array<int, 10> counts{};
  for (int i = 0; i < kDraws; ++i) ++counts.at(stream.next_below(10));
  CHECK(stream.index() == kDraws);
  double chi_square = 0.0;
  for (const int count : counts) chi_square += std::pow(count - 1000.0, 2) / 1000.0;
  CHECK(chi_square < 27.88);  // 99.9 % quantile at 9 degrees of freedom
  CHECK(stream.next_below(1) == 0);
  // High bits decide: the word times the bound over 2^64, rounded down.
  const std::uint64_t word = stream.word_at(stream.index());
  CHECK(stream.next_below(std::uint64_t{1} << 32) == word >> 32);
  CHECK_THROWS_WITH(stream.next_below(0), "the bound of a random integer must be positive; got 0");
}

TEST_CASE("random: normals are normal and cost two words", "[property][base]") {
  constexpr int kDraws = 10'000;
  Stream stream(1, "normal");
  std::vector<double> draws;
  double sum = 0.0, squares = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = stream.at(0, stream.index()).next_uniform();
    const double v = stream.at(0, stream.index() + 1).next_uniform();
    draws.push_back(stream.next_normal());
    // Box and Muller by the C library; both factors round a few times, the radius is below 9.
    const double by_library =
        std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * 3.14159265358979324 * v);
    REQUIRE_THAT(draws.back(), Catch::Matchers::WithinAbs(by_library, 1e-14));
    sum += draws.back();
    squares += draws.back() * draws.back();
  }
  CHECK(stream.index() == 2 * kDraws);
  const auto law = [](double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); };
  CHECK(kolmogorov_distance(draws, law) < 1.95 / std::sqrt(kDraws));
  CHECK(std::abs(sum / kDraws) < 4.0 / std::sqrt(kDraws));
  CHECK(std::abs(squares / kDraws - 1.0) < 4.0 * std::sqrt(2.0 / kDraws));  // var of z^2 is 2
}

}  // namespace
}  // namespace sim::base
