// tests/experiment/sweep_folder_test.cpp: whose a sweep's folder is, on a disk and in moments of ill will.
//
// What the kernel answers is made by a filter of system calls in a child of its own.
// Teeth:  seen failing with sweep.toml removed before the rest, with every trouble of a lock taken for another
//         sweep's, and with shard 0/3 read.
#include "sim/experiment/sweep_folder.h"

#include <catch2/catch.hpp>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "tests/cli/run_command.h"

namespace sim::experiment {
namespace {

namespace fs = std::filesystem;

using tests_cli::Place;

// From now on this process gets `answer` for the call.
void filter_call(unsigned number, unsigned answer) {
  sock_filter lines[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, answer),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {4, lines};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(99);
}

// Status of a child that does this.
int in_child(const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

const SweepRecord kOld = {"1", "old text\n", {}}, kNew = {"1", "new text\n", {}};

// Removing a folder's content is the call unlinkat, a file's unlink: the child dies at the first folder.
TEST_CASE("sweep folder: one whose replacement was killed is still a sweep's", "[unit]") {
  const Place place;
  const std::string path = (place.root / "x.sweep").string();
  REQUIRE_FALSE(SweepFolder(path).open(kOld, SweepStart::kFresh));
  fs::create_directories(path + "/kept/point-0");
  std::ofstream(path + "/kept/point-0/summary.json") << "{}";
  const int status = in_child([&] {
    filter_call(SYS_unlinkat, SECCOMP_RET_KILL_PROCESS);
    return SweepFolder(path).open(kNew, SweepStart::kForce) ? 1 : 0;
  });
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(WTERMSIG(status) == SIGSYS);
  CHECK_FALSE(SweepFolder(path).open(kOld, SweepStart::kResume));
  const auto other = SweepFolder(path).open(kNew, SweepStart::kResume);
  REQUIRE(other);
  CHECK(other->message == path + ": error: holds another sweep\n"
                                 "  hint: --force replaces it, --results DIR writes elsewhere");
  CHECK_FALSE(SweepFolder(path).open(kNew, SweepStart::kForce));
  CHECK_FALSE(fs::exists(path + "/kept"));
}

TEST_CASE("sweep folder: a file system without locks is named, not taken for another sweep", "[unit]") {
  const Place place;
  const std::string path = (place.root / "x.sweep").string(), said = (place.root / "said").string();
  const int status = in_child([&] {
    filter_call(SYS_flock, SECCOMP_RET_ERRNO | ENOLCK);
    const auto trouble = SweepFolder(path).open(kNew, SweepStart::kFresh);
    std::ofstream(said) << (trouble ? trouble->message : "no trouble");
    return trouble && trouble->kind == FolderTrouble::Kind::kFileSystem ? 0 : 1;
  });
  CHECK(status == 0);
  std::string message;
  std::getline(std::ifstream(said), message, '\0');
  CHECK(message == path + "/lock: error: cannot be locked: No locks available\n"
                          "  hint: a sweep needs a file system with locks (flock); --results DIR writes elsewhere");
}

TEST_CASE("sweep folder: a record tells its shard, or is none", "[unit]") {
  const Place place;
  const std::string path = place.root.string();
  const auto shard_of = [&](const std::string& line) {
    std::ofstream(path + "/sweep.toml") << "# version: 1\n# shard: " << line << "\ntext";
    return read_record(path);
  };
  CHECK(shard_of("2/3") == SweepRecord{"1", "text", {2, 3}});
  for (const char* wrong : {"0/3", "4/3", "2/3x", "2", "x/3", ""}) {
    CAPTURE(wrong);
    CHECK_FALSE(shard_of(wrong));
  }
}

}  // namespace
}  // namespace sim::experiment
