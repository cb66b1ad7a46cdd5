// sim/methods/donors.h: from whom a learner without state copies one.
#pragma once

#include <functional>

#include "sim/methods/replica.h"

namespace sim::methods {

// From region to region, for choosing the nearest: less than any delay inside a region.
Nanoseconds distance(const World& world, std::uint16_t source, std::uint16_t target);

// Of the learners that `may_give` and can reach the receiver: the nearest, then the first by name; null
// when there is none.
Replica* nearest_donor(const World& world, const Replicas& replicas, const Replica& receiver,
                       const std::function<bool(const Replica&)>& may_give);

// Somebody else of the receiver's region copies over the wide links: a region fetches once and fans
// out inside.
bool sibling_is_fetching(const Replicas& replicas, const Replica& receiver);

}  // namespace sim::methods
