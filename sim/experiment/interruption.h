// sim/experiment/interruption.h: SIGINT and SIGTERM as a value that is looked at, not a jump.
//
// While a watch lives, both signals are blocked; they are let in only inside wait(), which the
// child pool calls between events. So no file operation is ever cut in half, and whoever holds a
// half-written folder gets to remove it.
#pragma once

#include <poll.h>
#include <signal.h>

#include <vector>

namespace sim::experiment {

class InterruptionWatch {
 public:
  InterruptionWatch();
  ~InterruptionWatch();  // restores handlers and mask as they were
  InterruptionWatch(const InterruptionWatch&) = delete;

  // poll() without a time limit, during which the signals may arrive. Returns early, with no
  // descriptor ready, when one did.
  void wait(std::vector<pollfd>& descriptors);

  // SIGINT or SIGTERM once one has arrived, else 0. Sees one that is still blocked, too.
  int signal_number() const;

 private:
  sigset_t previous_mask_;
  struct sigaction previous_interrupt_, previous_terminate_;
};

// 128 + number: 130 and 143, as shells write it.
int exit_code_of_signal(int signal_number);

}  // namespace sim::experiment
