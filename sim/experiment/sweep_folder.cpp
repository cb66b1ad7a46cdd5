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

FolderTrouble refused(const std::string& path, const std::string& what, const std::string& hint) {
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

// Last the file that says whose the folder is: what a kill leaves half removed is still that sweep's.
void remove_sweep(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : {"runs.csv", "points.csv", "slurm/jobs"}) fs::remove(folder / name, ignored);
  for (const char* name : {"kept", "journal"}) fs::remove_all(folder / name, ignored);
  fs::remove(folder / "sweep.toml", ignored);
}

bool has_journals(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".journal") return true;
  }
  return false;
}

// Through a hidden sibling, and on the disk before it has its name.
std::optional<FolderTrouble> replace_file(const std::string& target,
                                          const std::function<void(std::ostream&)>& content) {
  const fs::path path(target);
  const std::string hidden = (path.parent_path() / fmt::format(".{}.writing", path.filename().string())).string();
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
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '/') return std::nullopt;
  const auto last = std::from_chars(first.ptr + 1, end, record.shard.count);
  if (last.ec != std::errc() || last.ptr != end) return std::nullopt;
  if (record.shard.number < 1 || record.shard.number > record.shard.count) return std::nullopt;
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

std::string SweepFolder::hint_elsewhere(const char* of_force) const {
  return fmt::format("--force {}, {} writes elsewhere", of_force, hints_.elsewhere);
}

std::optional<FolderTrouble> SweepFolder::make_folder(const std::string& path) const {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return std::nullopt;
  FolderTrouble trouble = file_trouble(path, error.value());
  trouble.message += fmt::format("\n  hint: {} writes elsewhere", hints_.elsewhere);
  return trouble;
}

std::optional<FolderTrouble> SweepFolder::lock() {
  const std::string path = path_ + "/lock";
  lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0) return file_trouble(path, errno);
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    const int number = errno;
    if (number != EWOULDBLOCK) {
      return FolderTrouble{FolderTrouble::Kind::kFileSystem,
                           fmt::format("{}: error: cannot be locked: {}\n  hint: a sweep needs a file system with "
                                       "locks (flock); {} writes elsewhere",
                                       path, std::strerror(number), hints_.elsewhere)};
    }
    std::array<char, 32> holder = {};
    const ssize_t got = read(lock_, holder.data(), holder.size() - 1);
    const std::string who = got > 0 ? fmt::format(" (process {})", holder.data()) : "";
    return refused(path_, "another sweep is at work here" + who,
                   fmt::format("wait for it, or {} writes elsewhere", hints_.elsewhere));
  }
  const std::string number = std::to_string(getpid());
  // Who holds it is for the message only: a disk that is full now will be told by what needs it.
  if (ftruncate(lock_, 0) != 0 || pwrite(lock_, number.data(), number.size(), 0) < 0) return std::nullopt;
  return std::nullopt;
}

std::optional<FolderTrouble> SweepFolder::foreign() const {
  if (read_record(path_)) return std::nullopt;
  std::error_code error;
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end; entry.increment(error)) {
    if (is_ours(entry->path().filename().string()) || entry->path().filename() == ".sweep.toml.writing") continue;
    return refused(path_, "holds something else than a sweep", hint_elsewhere("writes into it all the same"));
  }
  return std::nullopt;
}

std::optional<FolderTrouble> SweepFolder::rows_elsewhere() const {
  std::error_code error;
  if (has_journals(journals())) return std::nullopt;
  if (fs::exists(path_ + "/slurm/jobs", error)) {
    return refused(path_, "holds this sweep as a job array of Slurm",
                   "--executor slurm --resume goes on with it, --force begins again");
  }
  if (fs::exists(path_ + "/points.csv", error)) {
    return refused(path_, "was merged from shards, which hold its runs",
                   "--resume goes on with each --shard, then merge again; --force begins again");
  }
  return std::nullopt;
}

std::optional<FolderTrouble> SweepFolder::refusal(const SweepRecord& record, SweepStart start, RowsIn rows) const {
  const auto held = read_record(path_);
  if (!held) return foreign();
  if (held->text != record.text) return refused(path_, "holds another sweep", hint_elsewhere("replaces it"));
  if (held->shard != record.shard) {
    return refused(path_,
                   fmt::format("holds shard {}/{} of this sweep; this is {}/{}", held->shard.number,
                               held->shard.count, record.shard.number, record.shard.count),
                   hint_elsewhere("replaces it"));
  }
  if (held->version != record.version) {
    return refused(path_, fmt::format("was begun by version {}; this is {}", held->version, record.version),
                   hints_.may_resume ? "go on with that version, or --force begins again"
                                     : hint_elsewhere("replaces it"));
  }
  if (start != SweepStart::kResume) {
    return refused(path_, "holds this sweep already", "--resume goes on with it, --force begins again");
  }
  // A shard without points has tables and no rows.
  return rows == RowsIn::kFolder && record.shard.count == 1 ? rows_elsewhere() : std::nullopt;
}

std::optional<FolderTrouble> SweepFolder::open(const SweepRecord& record, SweepStart start, RowsIn rows) {
  // Before there is a lock in it: a folder that is not ours stays as it is.
  if (auto trouble = foreign(); trouble && start != SweepStart::kForce) return trouble;
  if (auto trouble = make_folder(path_)) return trouble;
  if (auto trouble = lock()) return trouble;
  if (auto trouble = refusal(record, start, rows)) {
    if (start != SweepStart::kForce) return trouble;
    remove_sweep(path_);
  }
  if (!read_record(path_)) {
    // Rows without a sweep.toml would be of a sweep that nobody knows.
    remove_sweep(path_);
    if (auto trouble = write_file("sweep.toml", with_header(record))) return trouble;
  }
  return make_folder(journals());
}

std::optional<FolderTrouble> SweepFolder::write_file(const std::string& name, const std::string& content) const {
  return replace_file(path_ + "/" + name, [&](std::ostream& out) { out << content; });
}

std::optional<FolderTrouble> SweepFolder::write_table(
    const std::string& name, const std::function<void(std::ostream&)>& content) const {
  return replace_file(path_ + "/" + name, content);
}

}  // namespace sim::experiment
