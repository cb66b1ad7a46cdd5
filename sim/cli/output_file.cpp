// sim/cli/output_file.cpp: see output_file.h.
#include "sim/cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "sim/cli/output.h"

namespace sim::cli {

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  struct stat there {};
  const bool exists = lstat(path_.c_str(), &there) == 0;
  const bool replaced = !exists || S_ISREG(there.st_mode);
  if (replaced) beside_ = fmt::format("{}.part-{}", path_, getpid());
  constexpr mode_t kMode = 0666;  // less what the user's mask takes
  descriptor_ = replaced ? open(beside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, exists ? there.st_mode : kMode)
                         : open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode);
  // A file that was made read-only is not replaced either.
  const int error = descriptor_ < 0 || (exists && replaced && access(path_.c_str(), W_OK) != 0) ? errno : 0;
  if (error != 0) open_ = failed(error);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!beside_.empty()) unlink(beside_.c_str());
}

bool OutputFile::write(const std::string& text) {
  if (path_.empty()) return true;
  if (beside_.empty() && ftruncate(descriptor_, 0) != 0 && errno != EINVAL) return failed(errno);  // EINVAL: no file
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) return failed(errno);
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (close(std::exchange(descriptor_, -1)) != 0) return failed(errno);
  if (beside_.empty()) return true;
  if (std::rename(beside_.c_str(), path_.c_str()) != 0) return failed(errno);
  beside_.clear();
  return true;
}

bool OutputFile::failed(int error) {
  print_error(fmt::format("{}: error: cannot be written: {}\n", path_, std::strerror(error)));
  return false;
}

}  // namespace sim::cli
