// tests/cli/run_command.h: runs the real program as a user would, and keeps what came out.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tests_cli {

namespace fs = std::filesystem;

inline std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// A folder of one's own that is gone afterwards.
class Place {
 public:
  Place() {
    std::string name = (fs::temp_directory_path() / "atoll-cli-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    root = name;
  }
  Place(const Place&) = delete;
  ~Place() { fs::remove_all(root); }

  std::string path(const std::string& below) const { return (root / below).string(); }
  std::string write(const std::string& below, const std::string& text) const {
    fs::create_directories((root / below).parent_path());
    std::ofstream(root / below, std::ios::binary) << text;
    return path(below);
  }

  fs::path root;
};

struct Outcome {
  int exit_code = -1;  // 128 + signal when it was ended by one, as a shell says it
  std::string out, err;
};

// The program, started and not yet waited for. Arguments are words, no shell is involved.
class Started {
 public:
  Started(const std::vector<std::string>& words, const fs::path& folder) {
    out_ = place_.path("out");
    err_ = place_.path("err");
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ == 0) become(words, folder);
  }

  void send(int number) const { kill(pid_, number); }

  Outcome wait() const {
    int status = 0;
    waitpid(pid_, &status, 0);
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return {code, text_of(out_), text_of(err_)};
  }

 private:
  [[noreturn]] void become(const std::vector<std::string>& words, const fs::path& folder) const {
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const int out = open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int err = open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    if (chdir(folder.c_str()) != 0) _exit(126);
    execvp(argv[0], argv.data());
    _exit(127);
  }

  Place place_;
  std::string out_, err_;
  pid_t pid_ = -1;
};

inline std::string program() { return std::string(ATOLL_BUILD_DIR) + "/sim/atoll"; }

// atoll WORDS..., run in `folder`.
inline Outcome atoll(std::vector<std::string> words, const fs::path& folder) {
  words.insert(words.begin(), program());
  return Started(words, folder).wait();
}

// A line for bash, with `atoll` on its path, run in `folder`.
inline Outcome shell(const std::string& line, const fs::path& folder) {
  const std::string path = "PATH=" + fs::path(program()).parent_path().string() + ":$PATH; ";
  return Started({"/bin/bash", "-c", path + line}, folder).wait();
}

}  // namespace tests_cli
