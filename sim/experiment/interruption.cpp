// sim/experiment/interruption.cpp: see interruption.h.
#include "sim/experiment/interruption.h"

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace sim::experiment {
namespace {

volatile sig_atomic_t arrived_signal = 0;

void remember(int signal_number) { arrived_signal = signal_number; }

sigset_t only(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return set;
}

}  // namespace

InterruptionWatch::InterruptionWatch() {
  arrived_signal = 0;
  sigprocmask(SIG_SETMASK, nullptr, &previous_mask_);
  struct sigaction action = {};
  action.sa_handler = remember;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction previous = {};
    sigaction(number, nullptr, &previous);
    // Blocked, it would wait for us although it is to be ignored.
    if (number == SIGHUP && previous.sa_handler == SIG_IGN) continue;
    const sigset_t one = only(number);
    sigprocmask(SIG_BLOCK, &one, nullptr);
    sigaction(number, &action, nullptr);
    watched_.push_back({number, previous});
  }
}

InterruptionWatch::~InterruptionWatch() {
  // One that is pending was asked for while we were busy, and the caller has had its say through
  // signal_number(): taking it now would only kill the clean-up that follows.
  if (signal_number() != 0) {
    sigset_t pending;
    sigpending(&pending);
    for (const Watched& watched : watched_) {
      if (sigismember(&pending, watched.number) != 1) continue;
      const sigset_t one = only(watched.number);
      int taken = 0;
      sigwait(&one, &taken);
    }
  }
  for (const Watched& watched : watched_) sigaction(watched.number, &watched.previous, nullptr);
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
  for (const Watched& watched : watched_) {
    if (sigismember(&pending, watched.number) == 1) return watched.number;
  }
  return 0;
}

int exit_code_of_signal(int signal_number) { return 128 + signal_number; }

}  // namespace sim::experiment
