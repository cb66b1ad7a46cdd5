// failure_models/renewal.h: when a unit fails: its next failure, again and again.
//
// A unit is what fails as one: a slice (of `chips` chips), an island, a region, a link. For the
// exponential law a slice of n chips is one superposed stream at rate n / mean, which is exact. For
// other laws either each chip is a renewal stream of its own (a queue of n dates), or the unit is
// declared to be the slice.
#pragma once

#include <cstdint>
#include <queue>
#include <string>
#include <vector>

#include "failure_models/distribution.h"
#include "sim/base/random.h"

namespace failure_models {

enum class Age : std::uint8_t { kEquilibrium, kNew, kGiven };

struct RenewalOptions {
  DistributionOptions life;     // of one chip (or of the unit when members == 1)
  std::int64_t members;         // chips in the unit
  Age age;
  double age_s;                 // for kGiven
};

// The unit's failure dates in seconds on its clock, ascending, unbounded. A failure renews the
// failed chip only.
class RenewalStream {
 public:
  // Stream names: name + "/life" for lives.
  RenewalStream(const RenewalOptions& options, std::uint64_t seed, const std::string& name);

  double next_s() const { return next_s_; }
  // Moves to the failure after next_s().
  void advance();

 private:
  struct Chip {
    double date_s;
    std::uint32_t index;
    bool operator>(const Chip& other) const {
      return date_s != other.date_s ? date_s > other.date_s : index > other.index;
    }
  };
  Distribution life_;
  bool superposed_;
  double next_s_ = 0;
  sim::base::Stream stream_;
  std::priority_queue<Chip, std::vector<Chip>, std::greater<>> chips_;
};

}  // namespace failure_models
