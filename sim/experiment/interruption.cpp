// sim/experiment/interruption.cpp: see interruption.h.
#include "sim/experiment/interruption.h"

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace sim::experiment {
namespace {

volatile sig_atomic_t arrived_signal = 0;

void remember(int signal_number) { arrived_signal = signal_number; }

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

InterruptionWatch::InterruptionWatch() {
  arrived_signal = 0;
  const sigset_t watched = watched_signals();
  sigprocmask(SIG_BLOCK, &watched, &previous_mask_);
  struct sigaction action = {};
  action.sa_handler = remember;
  sigaction(SIGINT, &action, &previous_interrupt_);
  sigaction(SIGTERM, &action, &previous_terminate_);
}

InterruptionWatch::~InterruptionWatch() {
  // One that is pending was asked for while we were busy, and the caller has had its say through
  // signal_number(): taking it now would only kill the clean-up that follows.
  if (signal_number() != 0) {
    sigset_t pending;
    sigpending(&pending);
    for (const int number : {SIGINT, SIGTERM}) {
      if (sigismember(&pending, number) == 1) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, number);
        int taken = 0;
        sigwait(&one, &taken);
      }
    }
  }
  sigaction(SIGINT, &previous_interrupt_, nullptr);
  sigaction(SIGTERM, &previous_terminate_, nullptr);
  sigprocmask(SIG_SETMASK, &previous_mask_, nullptr);
}

void InterruptionWatch::wait(std::vector<pollfd>& descriptors) {
  const int ready =
      ppoll(descriptors.data(), static_cast<nfds_t>(descriptors.size()), nullptr, &previous_mask_);
  if (ready >= 0) return;
  for (pollfd& descriptor : descriptors) descriptor.revents = 0;
  if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "ppoll");
}

int InterruptionWatch::signal_number() const {
  if (arrived_signal != 0) return arrived_signal;
  sigset_t pending;
  sigpending(&pending);
  if (sigismember(&pending, SIGINT) == 1) return SIGINT;
  if (sigismember(&pending, SIGTERM) == 1) return SIGTERM;
  return 0;
}

int exit_code_of_signal(int signal_number) { return 128 + signal_number; }

}  // namespace sim::experiment
