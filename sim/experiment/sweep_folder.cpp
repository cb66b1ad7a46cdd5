// sim/experiment/sweep_folder.cpp: see sweep_folder.h.
#include "sim/experiment/sweep_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace sim::experiment {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVersionLead = "# version: ", kShardLead = "# shard: ";

FolderTrouble file_trouble(const std::string& path, int number) {
  return {FolderTrouble::Kind::kFileSystem,
          fmt::format("{}: error: cannot be written: {}", path, std::strerror(number))};
}

FolderTrouble refused(const std::string& path, const std::string& what, const char* hint) {
  return {FolderTrouble::Kind::kHoldsAnother, fmt::format("{}: error: {}\n  hint: {}", path, what, hint)};
}

std::string with_header(const SweepRecord& record) {
  return fmt::format("{}{}\n{}{}/{}\n{}", kVersionLead, record.version, kShardLead, record.shard.number,
                     record.shard.count, record.text);
}

// What shards, Slurm and plots put beside a sweep is nobody else's.
bool is_ours(const std::string& name) {
  return name == "lock" || name == "slurm" || name == "plots" || name.starts_with("shard-");
}

void remove_sweep(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : {"runs.csv", "points.csv", "sweep.toml"}) fs::remove(folder / name, ignored);
  fs::remove_all(folder / "journal", ignored);
  fs::remove_all(folder / "kept", ignored);
}

// Through a hidden sibling, and on the disk before it has its name.
std::optional<FolderTrouble> replace_file(const std::string& folder, const std::string& name,
                                          const std::function<void(std::ostream&)>& content) {
  const std::string hidden = fmt::format("{}/.{}.writing", folder, name);
  const std::string target = folder + "/" + name;
  errno = 0;
  std::ofstream out(hidden, std::ios::binary);
  if (out) content(out);
  out.close();
  bool written = static_cast<bool>(out);
  int number = errno != 0 ? errno : EIO;
  if (written) {
    const int descriptor = open(hidden.c_str(), O_WRONLY | O_CLOEXEC);
    written = descriptor >= 0 && fsync(descriptor) == 0;
    if (!written) number = errno;
    if (descriptor >= 0) close(descriptor);
  }
  if (written) {
    written = rename(hidden.c_str(), target.c_str()) == 0;
    if (!written) number = errno;
  }
  if (written) return std::nullopt;
  unlink(hidden.c_str());
  return file_trouble(target, number);
}

}  // namespace

std::optional<SweepRecord> read_record(const std::string& folder) {
  std::ifstream file(folder + "/sweep.toml", std::ios::binary);
  std::string version, shard;
  if (!std::getline(file, version) || !std::getline(file, shard)) return std::nullopt;
  if (!version.starts_with(kVersionLead) || !shard.starts_with(kShardLead)) return std::nullopt;
  SweepRecord record;
  record.version = version.substr(kVersionLead.size());
  const char* const end = shard.data() + shard.size();
  const auto first = std::from_chars(shard.data() + kShardLead.size(), end, record.shard.number);
  if (first.ptr == end || *first.ptr != '/') return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, record.shard.count).ec != std::errc()) return std::nullopt;
  record.text = std::string(std::istreambuf_iterator<char>(file), {});
  return record;
}

SweepFolder::~SweepFolder() {
  if (lock_ >= 0) close(lock_);
}

void SweepFolder::forget_lock() {
  if (lock_ >= 0) close(lock_);
  lock_ = -1;
}

std::optional<FolderTrouble> SweepFolder::lock() {
  const std::string path = path_ + "/lock";
  lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0) return file_trouble(path, errno);
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    std::array<char, 32> holder = {};
    const ssize_t got = read(lock_, holder.data(), holder.size() - 1);
    const std::string who = got > 0 ? fmt::format(" (process {})", holder.data()) : "";
    return refused(path_, "another sweep is at work here" + who, "wait for it, or --results DIR writes elsewhere");
  }
  const std::string number = std::to_string(getpid());
  // Who holds it is for the message only: a disk that is full now will be told by what needs it.
  if (ftruncate(lock_, 0) != 0 || pwrite(lock_, number.data(), number.size(), 0) < 0) return std::nullopt;
  return std::nullopt;
}

std::optional<FolderTrouble> SweepFolder::refusal(const SweepRecord& record, SweepStart start) const {
  const auto held = read_record(path_);
  if (!held) {
    std::error_code error;
    for (fs::directory_iterator entry(path_, error), end; !error && entry != end; entry.increment(error)) {
      if (is_ours(entry->path().filename().string()) || entry->path().filename() == ".sweep.toml.writing") continue;
      return refused(path_, "holds something else than a sweep",
                     "--force writes into it all the same, --results DIR writes elsewhere");
    }
    return std::nullopt;
  }
  if (held->text != record.text) {
    return refused(path_, "holds another sweep", "--force replaces it, --results DIR writes elsewhere");
  }
  if (held->shard != record.shard) {
    return refused(path_,
                   fmt::format("holds shard {}/{} of this sweep; this is {}/{}", held->shard.number,
                               held->shard.count, record.shard.number, record.shard.count),
                   "--force replaces it, --results DIR writes elsewhere");
  }
  if (held->version != record.version) {
    return refused(path_, fmt::format("was begun by version {}; this is {}", held->version, record.version),
                   "go on with that version, or --force begins again");
  }
  if (start == SweepStart::kResume) return std::nullopt;
  return refused(path_, "holds this sweep already", "--resume goes on with it, --force begins again");
}

std::optional<FolderTrouble> SweepFolder::open(const SweepRecord& record, SweepStart start) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) return file_trouble(path_, error.value());
  if (auto trouble = lock()) return trouble;
  if (auto trouble = refusal(record, start)) {
    if (start != SweepStart::kForce) return trouble;
    remove_sweep(path_);
  }
  if (!read_record(path_)) {
    // Rows without a sweep.toml would be of a sweep that nobody knows.
    remove_sweep(path_);
    const auto content = [&](std::ostream& out) { out << with_header(record); };
    if (auto trouble = replace_file(path_, "sweep.toml", content)) return trouble;
  }
  fs::create_directories(journals(), error);
  if (error) return file_trouble(journals(), error.value());
  return std::nullopt;
}

std::optional<FolderTrouble> SweepFolder::write_table(
    const std::string& name, const std::function<void(std::ostream&)>& content) const {
  return replace_file(path_, name, content);
}

}  // namespace sim::experiment
