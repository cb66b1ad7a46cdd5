// sim/readers/fault_log.h: the concrete faults that a run met, in the order met.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/tape/reader.h"
#include "sim/tape/run_shape.h"

namespace sim::readers {

using base::Nanoseconds;

struct MetFault {
  tape::FaultStarted fault;
  Nanoseconds at;
  Nanoseconds ended_at;  // kNever while it lasts
};

std::string_view fault_kind_name(tape::FaultKind kind);      // kill, rate-cut, partition
std::string_view target_kind_name(tape::TargetKind kind);    // chip, slice, island, ...

// Name of what a fault hit: the slice's (also for a chip), island's or region's name, for a link
// "a--b", for a syncer its learner's name (its number where no learner has it) or "central".
std::string fault_target_name(const tape::RunShape& shape, tape::TargetKind kind,
                              std::uint32_t target);

class FaultLog : public tape::Reader {
 public:
  // Throws std::logic_error when a fault ends that did not start, or ends twice.
  void on(const tape::Fact& fact) override;

  const std::vector<MetFault>& faults() const { return faults_; }
  std::size_t met_count() const { return faults_.size(); }
  std::size_t scripted_count() const { return scripted_count_; }

 private:
  struct Lasting {
    std::uint32_t fault;
    std::size_t index;  // into faults_
  };
  std::vector<MetFault> faults_;
  std::vector<Lasting> lasting_;  // few at a time
  std::size_t scripted_count_ = 0;
};

}  // namespace sim::readers
