// sim/tape/tape.h: the stream of facts: checks its order, hashes it, hands it to the readers.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/tape/reader.h"
#include "sim/tape/trace_hash.h"

namespace sim::tape {

class Tape {
 public:
  // Readers are called in the order added, for every fact; they outlive the tape's last append.
  void add(Reader& reader) { readers_.push_back(&reader); }

  // Requires: fact.at not before the last one; else std::logic_error (time went backwards).
  // Requires: fewer than 10^6 facts at one date; else std::logic_error (our bug: a world that
  // writes without end while time stands still, design section 7).
  void append(const Fact& fact);

  std::uint64_t fact_count() const { return fact_count_; }
  // 64 bits over the encoding of all facts with stretches split into single steps.
  std::uint64_t trace_hash() const { return hash_.value(); }

 private:
  std::vector<Reader*> readers_;
  TraceHash hash_;
  Nanoseconds last_at_ = 0;
  std::uint64_t fact_count_ = 0;
  std::uint64_t facts_at_date_ = 0;
};

}  // namespace sim::tape
