// sim/experiment/interruption.h: SIGINT, SIGTERM and SIGHUP as a value that is looked at, not a jump.
//
// While a watch lives, these signals are blocked; they are let in only inside wait(), which the
// child pool calls between events. So no file operation is ever cut in half, and whoever holds a
// half-written folder gets to remove it. A SIGHUP that is ignored (nohup) stays ignored.
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

  // The signal once one has arrived, else 0. Sees one that is still blocked, too.
  int signal_number() const;

 private:
  struct Watched {
    int number;
    struct sigaction previous;
  };
  std::vector<Watched> watched_;
  sigset_t previous_mask_;
};

// 128 + number: 129, 130 and 143, as shells write it.
int exit_code_of_signal(int signal_number);

}  // namespace sim::experiment
