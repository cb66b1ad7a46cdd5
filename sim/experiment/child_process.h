// sim/experiment/child_process.h: runs functions in forked children, some at a time.
//
// The network engine exists once per process and a bug of ours may abort it, so every run is a
// child; the parent has neither engine nor threads. A child dies with its parent, gives its result
// back as bytes through a pipe, and leaves by _exit after flushing. SIGINT and SIGTERM stay
// blocked in it: the parent is the one that decides, and ends its children before it cleans up.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sim/experiment/interruption.h"

namespace sim::experiment {

// What a child can tell while it works.
class ParentLink {
 public:
  explicit ParentLink(int descriptor) : descriptor_(descriptor) {}
  // Share of the work done, in [0, 1]; cheap, may be called often.
  void operator()(double share) const;
  // A part of the result. The parent has all parts sent before the child's end, however it ends.
  void send(const std::string& part) const;

 private:
  int descriptor_;
  mutable double last_share_ = 0.0;
};

// Runs in the child; returns the result's bytes. A std::system_error that leaves it (a full disk,
// say) is the user's trouble; every other exception is our bug.
using ChildBody = std::function<std::string(const ParentLink& parent)>;

enum class EndingKind {
  kReturned,     // bytes hold the result
  kFileTrouble,  // reason says which
  kBug,          // an exception, a signal or an early exit; reason says which
  kStopped,      // ended or never started because of an interruption or of another's failure
};

struct ChildEnding {
  EndingKind kind = EndingKind::kStopped;
  std::string bytes;
  std::string reason;
};

struct ChildPoolOptions {
  std::size_t at_a_time;                            // at least 1
  std::function<void(double share)> on_progress;    // of all bodies together; may be empty
  std::function<void(std::size_t body, const ChildEnding&)> on_end;  // in order of ending; may be empty
  // Needed where a body sends parts; what it throws leaves run_children, which ends the children.
  std::function<void(std::size_t body, const std::string& part)> on_part = nullptr;
};

// Runs all bodies and returns their endings in the order of the bodies. After the first that is
// not kReturned, or once `watch` has a signal, no more are started and those that run are killed.
std::vector<ChildEnding> run_children(const std::vector<ChildBody>& bodies,
                                      const ChildPoolOptions& options, InterruptionWatch& watch);

}  // namespace sim::experiment
