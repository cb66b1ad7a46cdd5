// sim/tape/reader.h: whoever folds a tape into something: ledgers, trainer, checkers, writers.
#pragma once

#include "sim/tape/fact.h"

namespace sim::tape {

class Reader {
 public:
  virtual ~Reader() = default;
  // One fact, in tape order. Spans inside it are valid during the call only.
  virtual void on(const Fact& fact) = 0;
};

}  // namespace sim::tape
