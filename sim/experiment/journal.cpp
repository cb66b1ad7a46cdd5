// sim/experiment/journal.cpp: see journal.h.
#include "sim/experiment/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "sim/base/random.h"

namespace sim::experiment {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kChecksumDigits = 16;

std::string checksum(std::string_view text) { return fmt::format("{:016x}", base::hash_name(0, text)); }

[[noreturn]] void fail_at(const std::string& path, const char* what) {
  throw std::system_error(errno == 0 ? EIO : errno, std::generic_category(),
                          fmt::format("{}: error: cannot be {}", path, what));
}

std::string quoted(const std::string& text) { return Json(text).dump(); }

}  // namespace

// --- writing ------------------------------------------------------------------------------------

JournalWriter::JournalWriter(const std::string& folder, const std::string& sweep,
                             const std::string& version) {
  for (int number = 1; descriptor_ < 0; ++number) {
    path_ = fmt::format("{}/{:05}.journal", folder, number);
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
    if (descriptor_ < 0 && errno != EEXIST) fail();
  }
  write_line(fmt::format("[\"journal\",{},{},{}]", kJournalFormat, quoted(sweep), quoted(version)));
}

JournalWriter::~JournalWriter() {
  if (descriptor_ >= 0) close(descriptor_);
}

void JournalWriter::fail() const { fail_at(path_, "written"); }

void JournalWriter::write_line(const std::string& text) {
  const std::string line = checksum(text) + " " + text + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void JournalWriter::append(const SweepRow& row) {
  const std::string head = fmt::format("{},{},{},{}", row.key.point, row.key.arm, row.key.seed,
                                       quoted(row.identity));
  if (!row.reason.empty()) {
    write_line(fmt::format("[\"failed\",{},{}]", head, quoted(row.reason)));
    return;
  }
  const auto [found, is_new] = names_.try_emplace(row.names, names_.size());
  if (is_new) write_line(fmt::format("[\"names\",{},{}]", found->second, row.names));
  write_line(fmt::format("[\"run\",{},{},{}]", head, found->second, row.values));
}

void JournalWriter::sync() {
  if (fdatasync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail();
}

// --- reading ------------------------------------------------------------------------------------

struct Journal::Mapped {
  explicit Mapped(const std::string& path) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    if (descriptor < 0 || fstat(descriptor, &status) != 0) fail_at(path, "read");
    size = static_cast<std::size_t>(status.st_size);
    if (size > 0) start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    close(descriptor);
    if (start == MAP_FAILED) fail_at(path, "read");
  }
  Mapped(const Mapped&) = delete;
  ~Mapped() {
    if (size > 0) munmap(start, size);
  }
  std::string_view text() const {
    return size == 0 ? std::string_view() : std::string_view(static_cast<const char*>(start), size);
  }

  void* start = nullptr;
  std::size_t size = 0;
};

Journal::Journal() = default;
Journal::Journal(Journal&&) noexcept = default;
Journal::~Journal() = default;

std::string Journal::read(const std::string& folder, const std::string& sweep,
                          const std::string& version) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".journal") paths.push_back(entry->path().string());
  }
  std::ranges::sort(paths);
  for (const std::string& path : paths) {
    const std::string trouble = read_file(path, sweep, version);
    if (!trouble.empty()) return fmt::format("{}: error: {}", path, trouble);
  }
  return "";
}

namespace {

// The text of the first line of `rest`, which it is taken off; nothing for a damaged line.
std::optional<std::string_view> take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  if (line.size() < kChecksumDigits + 1) return std::nullopt;
  const std::string_view text = line.substr(kChecksumDigits + 1);
  if (line.substr(0, kChecksumDigits) != checksum(text)) return std::nullopt;
  return text;
}

constexpr std::string_view kHead = "[\"journal\",";

}  // namespace

std::string Journal::trouble_of_head(std::string_view text, const std::string& sweep, const std::string& version) {
  const Json head = Json::parse(text);
  std::string trouble;
  if (head.at(1) != kJournalFormat) {
    trouble = fmt::format("format: must be {}; got {}", kJournalFormat, head.at(1).dump());
  } else if (head.at(2) != sweep) {
    trouble = "holds runs of another sweep";
  } else if (head.at(3) != version) {
    trouble = fmt::format("holds runs of version {}; this is {}", head.at(3).get<std::string>(), version);
  }
  foreign_ = !trouble.empty();
  return trouble;
}

std::string Journal::read_file(const std::string& path, const std::string& sweep,
                               const std::string& version) {
  files_.push_back(std::make_unique<Mapped>(path));
  std::string_view rest = files_.back()->text();
  std::vector<std::size_t> numbers;  // names' number in this file -> index into names_
  // Without a line feed: what was cut off, or nothing.
  for (bool first = true; rest.find('\n') != std::string_view::npos; first = false) {
    const auto text = take_line(rest);
    if (first) {
      if (!text || !text->starts_with(kHead)) return "";  // whose rows these are, nobody knows
      const std::string trouble = trouble_of_head(*text, sweep, version);
      if (!trouble.empty()) return trouble;
    } else if (text) {
      const std::string trouble = add(*text, numbers);
      if (!trouble.empty()) return trouble;
    }
  }
  return "";
}

namespace {

// The text after `mark`, which starts it.
std::string_view after(std::string_view text, std::string_view mark) {
  return text.substr(mark.size());
}

std::uint64_t take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);  // and the comma
  return number;
}

// A row is ["run",point,arm,seed,identity,names,[values]] with values that are no lists or tables themselves.
std::size_t start_of_values(std::string_view line) { return line.find('[', 1) + 1; }

// Index behind the string, number or word of JSON that starts at `from`.
std::size_t end_of_scalar(std::string_view text, std::size_t from) {
  if (text[from] != '"') return text.find_first_of(",]", from);
  std::size_t at = from + 1;
  while (text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return at + 1;
}

std::vector<std::string_view> values_in(std::string_view line) {
  std::vector<std::string_view> values;
  for (std::size_t at = start_of_values(line); line[at] != ']';) {
    const std::size_t end = end_of_scalar(line, at);
    values.push_back(line.substr(at, end - at));
    at = line[end] == ',' ? end + 1 : end;
  }
  return values;
}

}  // namespace

// Lines whose checksum holds have the form in which they were written, so looking at their starts is
// enough: a whole parse of every row waits until the row is asked for.
std::string Journal::add(std::string_view line, std::vector<std::size_t>& numbers) {
  constexpr std::string_view kNames = "[\"names\",", kRun = "[\"run\",", kFailed = "[\"failed\",";
  if (line.starts_with(kNames)) {
    std::string_view rest = after(line, kNames);
    const std::uint64_t number = take_number(rest);
    rest.remove_suffix(1);
    const auto known = std::ranges::find(names_, rest);
    numbers.resize(std::max<std::size_t>(numbers.size(), number + 1));
    numbers[number] = static_cast<std::size_t>(known - names_.begin());
    if (known == names_.end()) names_.emplace_back(rest);
    return "";
  }
  const bool failed = line.starts_with(kFailed);
  std::string_view rest = after(line, failed ? kFailed : kRun);
  RunKey key{};
  key.point = take_number(rest);
  key.arm = take_number(rest);
  key.seed = take_number(rest);
  std::size_t names = 0;
  if (!failed) {
    rest.remove_prefix(rest.find(',') + 1);  // the identity: digits in quotes
    const std::uint64_t number = take_number(rest);
    if (number >= numbers.size()) return "";  // its names were damaged: the run is done again
    names = numbers[number];
  }
  const auto [found, is_new] = entries_.try_emplace(key, Entry{line, names, failed});
  if (is_new) return "";
  Entry& other = found->second;
  if (other.failed != failed) {
    // The same run once failed (for want of memory, say) and once did not: the result counts.
    if (other.failed) other = {line, names, failed};
    return "";
  }
  if (!failed && values_in(other.line) != values_in(line)) {
    return fmt::format("one run has two results: point {}, arm {}, seed {}", key.point, key.arm, key.seed);
  }
  return "";
}

Journal::Row Journal::row(const RunKey& key) const {
  const Entry& entry = entries_.at(key);
  if (entry.failed) {
    const Json json = Json::parse(entry.line);
    return {json.at(4).get<std::string>(), json.at(5).get<std::string>(), entry.names, {}};
  }
  const std::size_t quote = entry.line.find('"', std::string_view("[\"run\",").size());
  const std::size_t end = entry.line.find('"', quote + 1);  // an identity has no quotes in it
  return {std::string(entry.line.substr(quote + 1, end - quote - 1)), "", entry.names, values_in(entry.line)};
}

const std::vector<std::size_t>& Journal::places_of(const std::string& name) const {
  std::vector<std::size_t>& places = places_[name];
  for (std::size_t i = places.size(); i < names_.size(); ++i) {
    const auto list = Json::parse(names_[i]).get<std::vector<std::string>>();
    const auto found = std::ranges::find(list, "n " + name);
    places.push_back(found == list.end() ? std::string::npos : static_cast<std::size_t>(found - list.begin()));
  }
  return places;
}

std::optional<double> Journal::number_at(const Entry& entry, std::size_t place) {
  if (place == std::string::npos) return std::nullopt;
  std::size_t at = start_of_values(entry.line);
  for (; place > 0; --place) at = end_of_scalar(entry.line, at) + 1;
  return number_in(entry.line.substr(at));
}

std::optional<double> Journal::number_in(std::string_view value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace sim::experiment
