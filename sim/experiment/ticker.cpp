// sim/experiment/ticker.cpp: see ticker.h.
#include "sim/experiment/ticker.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <system_error>
#include <vector>

namespace sim::experiment {

Ticker::Ticker(double every_s) : descriptor_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) {
  double whole_s = 0;
  const double rest_s = std::modf(every_s, &whole_s);
  const timespec every = {static_cast<time_t>(whole_s), static_cast<long>(rest_s * 1e9)};
  const itimerspec timer = {every, every};
  if (descriptor_ < 0 || timerfd_settime(descriptor_, 0, &timer, nullptr) != 0) {
    throw std::system_error(errno, std::generic_category(), "timerfd");
  }
}

Ticker::~Ticker() { close(descriptor_); }

void Ticker::wait(InterruptionWatch& watch) {
  std::vector<pollfd> descriptors = {{descriptor_, POLLIN, 0}};
  watch.wait(descriptors);
  std::uint64_t ticks = 0;
  if (descriptors[0].revents != 0 && read(descriptor_, &ticks, sizeof ticks) < 0) errno = 0;
}

}  // namespace sim::experiment
