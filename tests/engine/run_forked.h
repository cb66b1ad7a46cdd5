// tests/engine/run_forked.h: runs a piece of a test in a child process of its own.
//
// SimGrid allows one engine per process. The child returns one trivially copyable value through a
// pipe; a child that crashes, throws or exits early fails the test with the reason.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace sim::engine {

namespace detail {

// Writes all of it; false when the pipe is broken.
inline bool write_all(int pipe_end, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = write(pipe_end, at, size);
    if (written <= 0) return false;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

inline std::size_t read_all(int pipe_end, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  std::size_t got = 0;
  while (got < size) {
    const ssize_t count = read(pipe_end, at + got, size - got);
    if (count <= 0) break;
    got += static_cast<std::size_t>(count);
  }
  return got;
}

}  // namespace detail

// What `body` returns, computed in a forked child.
// Errors: std::runtime_error when the child dies or throws; its text then stands on stderr.
template <class Body>
auto run_forked(Body body) -> decltype(body()) {
  using Result = decltype(body());
  static_assert(std::is_trivially_copyable_v<Result>);
  std::array<int, 2> ends;
  if (pipe(ends.data()) != 0) throw std::runtime_error("run_forked: no pipe");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("run_forked: no child");
  if (child == 0) {
    close(ends[0]);
    int code = 0;
    try {
      const Result result = body();
      if (!detail::write_all(ends[1], &result, sizeof result)) code = 4;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "forked child: %s\n", error.what());
      code = 3;
    }
    std::fflush(nullptr);
    _exit(code);
  }
  close(ends[1]);
  Result result;
  const std::size_t got = detail::read_all(ends[0], &result, sizeof result);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    throw std::runtime_error("forked child: signal " + std::to_string(WTERMSIG(status)));
  }
  if (WEXITSTATUS(status) != 0 || got != sizeof result) {
    throw std::runtime_error("forked child: exit code " + std::to_string(WEXITSTATUS(status)));
  }
  return result;
}

}  // namespace sim::engine
