// sim/tape/fact_code.h: the bytes of facts and of the shape of a run.
//
// A fact is its kind, its date as the distance from the fact before, and its fields in the order of
// fact.h. Dates inside a fact are distances from its own date.
#pragma once

#include "sim/tape/coder.h"
#include "sim/tape/fact.h"
#include "sim/tape/run_shape.h"

namespace sim::tape {

// Of a tape file; readers take this one and the one before.
constexpr std::uint64_t kTapeFormat = 3;

void encode(Encoder& encoder, const Fact& fact, Nanoseconds previous_at,
            std::uint64_t format = kTapeFormat);

// Contributors are put into `contributors`, to which the fact then points.
void decode(Decoder& decoder, Fact& fact, Nanoseconds previous_at,
            std::vector<Contributor>& contributors, std::uint64_t format = kTapeFormat);

// What an older format does not hold is left as it is.
void encode(Encoder& encoder, const RunShape& shape, std::uint64_t format = kTapeFormat);
void decode(Decoder& decoder, RunShape& shape, std::uint64_t format = kTapeFormat);

}  // namespace sim::tape
