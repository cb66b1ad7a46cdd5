// sim/experiment/command.cpp: see command.h.
#include "sim/experiment/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace sim::experiment {
namespace {

// One end to read here, one to write in the program.
struct Pipe {
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  }
  Pipe(const Pipe&) = delete;
  ~Pipe() {
    for (const int end : ends) {
      if (end >= 0) close(end);
    }
  }
  void close_write_end() {
    close(ends[1]);
    ends[1] = -1;
  }

  std::array<int, 2> ends = {-1, -1};
};

[[noreturn]] void become(const std::vector<std::string>& words, const Pipe& output, const Pipe& errors) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(output.ends[1], STDOUT_FILENO);
  dup2(errors.ends[1], STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

// False at the end of what there is to read.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 4096> buffer;
  const ssize_t got = read(descriptor, buffer.data(), buffer.size());
  if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

// Both at once: a program that fills one pipe waits until somebody reads it.
void read_both(const Pipe& output, const Pipe& errors, CommandResult& result) {
  std::array<pollfd, 2> open = {{{output.ends[0], POLLIN, 0}, {errors.ends[0], POLLIN, 0}}};
  std::array<std::string*, 2> texts = {&result.output, &result.errors};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    if (poll(open.data(), open.size(), -1) < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "poll");
    }
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i].revents != 0 && !read_some(open[i].fd, *texts[i])) open[i].fd = -1;
      open[i].revents = 0;
    }
  }
  for (std::string* text : texts) {
    while (text->ends_with('\n')) text->pop_back();
  }
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& words) {
  Pipe output, errors;
  const pid_t pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid == 0) become(words, output, errors);
  output.close_write_end();
  errors.close_write_end();
  CommandResult result{0, "", ""};
  read_both(output, errors, result);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

std::string shell_quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace sim::experiment
