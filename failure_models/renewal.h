// failure_models/renewal.h: when a unit fails: its next failure, again and again.
//
// A unit is what fails as one: a slice (of `chips` chips), an island, a region, a link. For the
// exponential law a slice of n chips is one superposed stream at rate n / mean, which is exact. For
// other laws either each chip is a renewal stream of its own (a queue of n dates), or the unit is
// declared to be the slice.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "failure_models/distribution.h"
#include "sim/base/random.h"

namespace failure_models {

enum class Age : std::uint8_t { kEquilibrium, kNew, kGiven };

struct RenewalOptions {
  DistributionOptions life;     // of one chip (or of the unit when members == 1); mean > 0
  std::int64_t members;         // chips in the unit, from 1 to 2^32 - 1
  Age age;
  double age_s;                 // for kGiven, >= 0
};

// The unit's failure dates in seconds on its clock, ascending, unbounded. A failure renews the
// failed chip only.
//
// Random: stream name + "/life". Exponential: word i of lane 0 is the gap before failure i. Other
//         laws: word j of lane c is life j of chip c, so no chip's dates depend on the others or on
//         how many there are.
// Memory: 16 bytes per chip (none for the exponential).
class RenewalStream {
 public:
  // Requires: options in the ranges above; else std::invalid_argument.
  RenewalStream(const RenewalOptions& options, std::uint64_t seed, const std::string& name);

  double next_s() const { return next_s_; }
  // Moves to the failure after next_s().
  void advance();

 private:
  // A chip that has not failed yet, by the uniform of its first life. First dates grow with their
  // uniforms, so the queue needs no dates: the costly inverse is taken for the front chip only.
  struct FirstLife {
    double uniform;
    std::uint32_t chip;
    bool operator>(const FirstLife& other) const {
      return uniform != other.uniform ? uniform > other.uniform : chip > other.chip;
    }
  };
  struct LaterLife {
    double end_s;
    std::uint32_t chip;
    std::uint32_t number;  // of the life, from 1
    bool operator>(const LaterLife& other) const {
      return end_s != other.end_s ? end_s > other.end_s : chip > other.chip;
    }
  };
  template <typename Life>
  using Queue = std::priority_queue<Life, std::vector<Life>, std::greater<>>;

  void queue_first_lives();
  double first_end_s(double uniform) const;
  void find_next();
  void renew(std::uint32_t chip, std::uint32_t number);

  RenewalOptions options_;
  Distribution life_;
  sim::base::Stream stream_;
  double next_s_ = 0;
  double front_first_s_ = 0;  // date of first_.top(), infinity when empty
  Queue<FirstLife> first_;
  Queue<LaterLife> later_;
};

}  // namespace failure_models
