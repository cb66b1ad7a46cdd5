// sim/tape/tape.cpp: order checks before anything reads a fact.
#include "sim/tape/tape.h"

#include <fmt/format.h>

#include <stdexcept>

namespace sim::tape {
namespace {

constexpr std::uint64_t kFactsAtOneDateMax = 1'000'000;

}  // namespace

void Tape::append(const Fact& fact) {
  if (fact.at < last_at_) {
    throw std::logic_error(fmt::format("time went backwards on the tape: fact {} at {} ns after {} ns",
                                       fact_count_, fact.at, last_at_));
  }
  facts_at_date_ = fact.at == last_at_ ? facts_at_date_ + 1 : 1;
  if (facts_at_date_ >= kFactsAtOneDateMax) {
    throw std::logic_error(
        fmt::format("{} facts at {} ns: the world writes without end while time stands still",
                    facts_at_date_, fact.at));
  }
  last_at_ = fact.at;
  ++fact_count_;
  hash_.on(fact);
  for (Reader* reader : readers_) reader->on(fact);
}

}  // namespace sim::tape
