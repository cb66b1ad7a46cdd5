// sim/experiment/results_folder.cpp: see results_folder.h.
#include "sim/experiment/results_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "sim/scenario/load.h"

namespace sim::experiment {
namespace {

namespace fs = std::filesystem;

FolderTrouble file_trouble(const std::string& path, const std::error_code& error) {
  return {FolderTrouble::Kind::kFileSystem,
          fmt::format("{}: error: cannot be written: {}", path, error.message())};
}

std::optional<std::string> text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::optional<FolderTrouble> refusal(const std::string& path, const std::string& resolved) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return std::nullopt;
  if (error) return file_trouble(path, error);
  if (!fs::is_directory(status)) {
    return FolderTrouble{FolderTrouble::Kind::kFileSystem, path + ": error: is not a folder"};
  }
  if (fs::is_empty(path, error)) return std::nullopt;
  const std::optional<std::string> held = text_of(fs::path(path) / "scenario.toml");
  if (held && scenario::identity_in(*held) == scenario::identity_in(resolved)) return std::nullopt;
  const char* what = held ? "holds another scenario" : "holds something else than results";
  return FolderTrouble{FolderTrouble::Kind::kHoldsAnother,
                       fmt::format("{}: error: {}\n  hint: --force replaces it, --results DIR writes "
                                   "elsewhere",
                                   path, what)};
}

// Hidden folders of writers that were killed outright.
void remove_orphans(const fs::path& parent, const std::string& prefix) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const long pid = std::strtol(name.c_str() + prefix.size(), nullptr, 10);
    const bool writer_lives = pid > 0 && (kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM);
    std::error_code ignored;
    if (!writer_lives) fs::remove_all(entry->path(), ignored);
  }
}

std::optional<std::error_code> write_text(const fs::path& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return std::nullopt;
  return std::error_code(errno != 0 ? errno : EIO, std::generic_category());
}

}  // namespace

ResultsFolder::ResultsFolder(std::string path) : path_(std::move(path)) {}

ResultsFolder::ResultsFolder(ResultsFolder&& other) noexcept
    : path_(std::move(other.path_)),
      hidden_path_(std::exchange(other.hidden_path_, {})),
      made_parents_(std::exchange(other.made_parents_, {})) {}

ResultsFolder::~ResultsFolder() {
  std::error_code ignored;
  if (!hidden_path_.empty()) fs::remove_all(hidden_path_, ignored);
  for (std::size_t i = made_parents_.size(); i-- > 0;) rmdir(made_parents_[i].c_str());
}

std::optional<FolderTrouble> ResultsFolder::open(const std::string& resolved,
                                                 Overwrite overwrite) {
  if (std::optional<FolderTrouble> trouble = refusal(path_, resolved)) {
    const bool forced = overwrite == Overwrite::kForce &&
                        trouble->kind == FolderTrouble::Kind::kHoldsAnother;
    if (!forced) return trouble;
  }
  const fs::path target(path_);
  const fs::path parent = target.parent_path();
  std::error_code error;
  for (fs::path up = parent; !up.empty() && !fs::exists(up, error); up = up.parent_path()) {
    made_parents_.insert(made_parents_.begin(), up.string());
    if (up == up.parent_path()) break;
  }
  if (!parent.empty()) fs::create_directories(parent, error);
  if (error) return file_trouble(path_, error);

  const std::string prefix = fmt::format(".{}.writing-", target.filename().string());
  remove_orphans(parent.empty() ? fs::path(".") : parent, prefix);
  const fs::path hidden = parent / (prefix + std::to_string(getpid()));
  fs::create_directory(hidden, error);
  if (error) return file_trouble(path_, error);
  hidden_path_ = hidden.string();
  if (const auto failure = write_text(hidden / "scenario.toml", resolved)) {
    return file_trouble(path_, *failure);
  }
  return std::nullopt;
}

std::optional<FolderTrouble> ResultsFolder::publish() {
  std::error_code error;
  if (rename(hidden_path_.c_str(), path_.c_str()) != 0) {
    // There are old results: change places, then remove them under the hidden name.
    if (renameat2(AT_FDCWD, hidden_path_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
      fs::remove_all(hidden_path_, error);
    } else {
      // A file system without exchange: for a moment there are no results, but never mixed ones.
      const std::string old = hidden_path_ + ".old";
      fs::rename(path_, old, error);
      if (!error) fs::rename(hidden_path_, path_, error);
      if (error) return file_trouble(path_, error);
      fs::remove_all(old, error);
    }
  }
  hidden_path_.clear();
  made_parents_.clear();
  return std::nullopt;
}

}  // namespace sim::experiment
