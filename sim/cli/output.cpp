// sim/cli/output.cpp: see output.h.
#include "sim/cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sim::cli {
namespace {

// 0, or the error number.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

void prepare_streams() {
  signal(SIGPIPE, SIG_IGN);
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) < 0) open("/dev/null", O_RDWR);  // takes the lowest free number
  }
}

bool print_result(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0 || error == EPIPE) return true;
  print_error(fmt::format("stdout: error: cannot be written: {}\n", std::strerror(error)));
  return false;
}

void print_error(std::string_view text) { write_all(STDERR_FILENO, text); }

}  // namespace sim::cli
