// sim/experiment/child_process.cpp: see child_process.h. Frames on the pipe: one letter, eight
// bytes of length, then the payload; p progress, t part, r result, f file trouble, x exception.
#include "sim/experiment/child_process.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <system_error>

// Present only in a build that measures coverage.
extern "C" void __gcov_dump() __attribute__((weak));

namespace sim::experiment {
namespace {

struct Child {
  pid_t pid = -1;
  int pipe = -1;
  std::size_t body = 0;
  std::string received;
  std::optional<ChildEnding> told;  // what it said about itself before it left
  double share = 0.0;
};

constexpr std::size_t kFrameHead = 1 + sizeof(std::uint64_t);

[[noreturn]] void throw_system(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// --- in the child -------------------------------------------------------------------------------

void write_all(int descriptor, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = write(descriptor, bytes, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      _exit(1);  // the parent is gone
    }
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

void send_frame(int descriptor, char letter, const std::string& payload) {
  std::string frame(1, letter);
  const std::uint64_t size = payload.size();
  frame.append(reinterpret_cast<const char*>(&size), sizeof size);
  frame += payload;
  write_all(descriptor, frame.data(), frame.size());
}

std::string bytes_of(double value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

// A crash must end the child by its signal, whatever the program around us installed.
void let_crashes_through() {
  for (const int number : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV}) signal(number, SIG_DFL);
}

[[noreturn]] void live_as_child(const ChildBody& body, int descriptor, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  let_crashes_through();
  if (getppid() != parent) _exit(1);  // it died before we asked to die with it
  try {
    const std::string result = body(ParentLink(descriptor));
    send_frame(descriptor, 'r', result);
  } catch (const std::system_error& error) {
    send_frame(descriptor, 'f', error.what());
  } catch (const std::exception& error) {
    send_frame(descriptor, 'x', error.what());
  } catch (...) {
    send_frame(descriptor, 'x', "an exception that is no std::exception");
  }
  std::cout.flush();
  std::fflush(nullptr);
  if (__gcov_dump != nullptr) __gcov_dump();
  _exit(0);
}

// --- in the parent ------------------------------------------------------------------------------

Child start(const ChildBody& body, std::size_t index) {
  std::array<int, 2> ends = {};
  if (pipe(ends.data()) != 0) throw_system("pipe");
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);  // else both processes would write what is buffered
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw_system("fork");
  if (pid == 0) {
    close(ends[0]);
    live_as_child(body, ends[1], parent);
  }
  close(ends[1]);
  Child child;
  child.pid = pid;
  child.pipe = ends[0];
  child.body = index;
  return child;
}

using PartSink = std::function<void(std::size_t body, const std::string& part)>;

void take_frame(Child& child, char letter, std::string payload, const PartSink& on_part) {
  switch (letter) {
    case 'p': std::memcpy(&child.share, payload.data(), sizeof child.share); break;
    case 't': on_part(child.body, payload); break;
    case 'r': child.told = {EndingKind::kReturned, std::move(payload), ""}; break;
    case 'f': child.told = {EndingKind::kFileTrouble, "", std::move(payload)}; break;
    default: child.told = {EndingKind::kBug, "", std::move(payload)};
  }
}

void take_frames(Child& child, const PartSink& on_part) {
  std::size_t offset = 0;
  while (child.received.size() - offset >= kFrameHead) {
    std::uint64_t size = 0;
    std::memcpy(&size, child.received.data() + offset + 1, sizeof size);
    if (child.received.size() - offset - kFrameHead < size) break;
    const char letter = child.received[offset];
    take_frame(child, letter, child.received.substr(offset + kFrameHead, size), on_part);
    offset += kFrameHead + size;
  }
  child.received.erase(0, offset);
}

// False once the child has closed its end.
bool read_some(Child& child, const PartSink& on_part) {
  std::array<char, 65536> buffer;
  const ssize_t got = read(child.pipe, buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  child.received.append(buffer.data(), static_cast<std::size_t>(got));
  take_frames(child, on_part);
  return true;
}

ChildEnding ending_of(const Child& child, int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const char* hint = number == SIGKILL ? ", perhaps for want of memory" : "";
    return {EndingKind::kBug, "",
            fmt::format("the run was ended by signal {} ({}){}", number, strsignal(number), hint)};
  }
  if (WEXITSTATUS(status) != 0 || !child.told) {
    return {EndingKind::kBug, "",
            fmt::format("the run left with status {} and no result", WEXITSTATUS(status))};
  }
  return *child.told;
}

int wait_for(const Child& child) {
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0) {
    if (errno != EINTR) throw_system("waitpid");
  }
  close(child.pipe);
  return status;
}

class Pool {
 public:
  Pool(const std::vector<ChildBody>& bodies, const ChildPoolOptions& options,
       InterruptionWatch& watch)
      : bodies_(bodies), options_(options), watch_(watch), endings_(bodies.size()) {}

  ~Pool() { kill_all(); }

  std::vector<ChildEnding> run() {
    while (watch_.signal_number() == 0 && !failed_) {
      while (next_ < bodies_.size() && running_.size() < options_.at_a_time) {
        running_.push_back(start(bodies_[next_], next_));
        ++next_;
      }
      if (running_.empty()) break;
      listen();
    }
    kill_all();
    return std::move(endings_);
  }

 private:
  void listen() {
    std::vector<pollfd> descriptors;
    for (const Child& child : running_) descriptors.push_back({child.pipe, POLLIN, 0});
    watch_.wait(descriptors);
    for (std::size_t i = descriptors.size(); i-- > 0;) {
      if (descriptors[i].revents != 0 && !read_some(running_[i], options_.on_part)) finish(i);
    }
    tell_progress();
  }

  void finish(std::size_t position) {
    const Child child = std::move(running_[position]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(position));
    ChildEnding& ending = endings_[child.body];
    ending = ending_of(child, wait_for(child));
    finished_ += 1.0;
    if (ending.kind != EndingKind::kReturned) failed_ = true;
    if (options_.on_end) options_.on_end(child.body, ending);
  }

  void tell_progress() {
    if (!options_.on_progress) return;
    double done = finished_;
    for (const Child& child : running_) done += child.share;
    options_.on_progress(done / static_cast<double>(bodies_.size()));
  }

  void kill_all() {
    for (const Child& child : running_) kill(child.pid, SIGKILL);
    for (const Child& child : running_) wait_for(child);
    running_.clear();
  }

  const std::vector<ChildBody>& bodies_;
  const ChildPoolOptions& options_;
  InterruptionWatch& watch_;
  std::vector<ChildEnding> endings_;
  std::vector<Child> running_;
  std::size_t next_ = 0;
  double finished_ = 0.0;
  bool failed_ = false;
};

}  // namespace

// At most one report per thousandth.
void ParentLink::operator()(double share) const {
  if (share < last_share_ + 0.001) return;
  last_share_ = share;
  send_frame(descriptor_, 'p', bytes_of(share));
}

void ParentLink::send(const std::string& part) const { send_frame(descriptor_, 't', part); }

std::vector<ChildEnding> run_children(const std::vector<ChildBody>& bodies,
                                      const ChildPoolOptions& options, InterruptionWatch& watch) {
  if (options.at_a_time == 0) throw std::invalid_argument("at_a_time must be at least 1; got 0");
  return Pool(bodies, options, watch).run();
}

}  // namespace sim::experiment
