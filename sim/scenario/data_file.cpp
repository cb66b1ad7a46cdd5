// sim/scenario/data_file.cpp: see data_file.h.
#include "sim/scenario/data_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "sim/base/random.h"
#include "sim/scenario/bind.h"
#include "sim/scenario/csv_file.h"

namespace sim::scenario {

using base::Place;
using base::Problems;

namespace {

constexpr std::uintmax_t kBytesMax = std::uintmax_t{1} << 30;  // assumed: all of it is kept in memory

// Only a regular file: a folder opens and cannot be read, a device may never end.
std::optional<std::string> read_file(const std::string& path) {
  std::error_code trouble;
  if (!std::filesystem::is_regular_file(path, trouble)) return {};
  std::string content(std::filesystem::file_size(path, trouble), '\0');
  std::ifstream stream(path, std::ios::binary);
  if (trouble || !stream.read(content.data(), static_cast<std::streamsize>(content.size()))) return {};
  return content;
}

bool is_too_large(const std::string& path) {
  std::error_code trouble;
  return std::filesystem::is_regular_file(path, trouble) &&
         std::filesystem::file_size(path, trouble) > kBytesMax;
}

}  // namespace

void DataFiles::load(const base::Value& arm, trainer::LearningOptions& learning,
                     Problems& problems) {
  const bool is_text = learning.task.kind == optim::TaskKind::kText;
  if (learning.model.kind == optim::ModelKind::kNone || learning.data.file.empty() ||
      (!is_text && learning.task.kind != optim::TaskKind::kCsv)) {
    return;
  }
  trainer::DataOptions& data = learning.data;
  const std::string path = data.file.starts_with('/') ? data.file : folder_ + data.file;
  const Place place = place_of(arm, {"learning", "file"});
  const Content bytes = content(path, place, data.file, problems);
  if (bytes == nullptr) return;
  const std::string checksum = fmt::format("{:016x}", base::hash_name(0, *bytes));
  if (!data.checksum.empty() && data.checksum != checksum) {
    problems.add(place_of(arm, {"learning", "checksum"}),
                 fmt::format("must be that of \"{}\" ({}); got \"{}\"", data.file, checksum,
                             data.checksum),
                 "it is another file than the scenario was written for");
    return;
  }
  data.checksum = checksum;
  data.bytes = static_cast<std::int64_t>(bytes->size());
  if (is_text) {
    load_text(path, *bytes, place, learning, problems);
  } else {
    load_table(arm, path, *bytes, learning, problems);
  }
}

DataFiles::Content DataFiles::content(const std::string& path, const Place& place,
                                      const std::string& written, Problems& problems) {
  if (is_too_large(path)) {
    problems.add(place, fmt::format("must be a file of at most 1 GiB; got \"{}\"", written));
    return nullptr;
  }
  const auto [known, is_new] = contents_.try_emplace(path, nullptr);
  if (is_new) {
    if (auto read = read_file(path)) {
      known->second = std::make_shared<const std::string>(std::move(*read));
    }
  }
  if (known->second == nullptr) {
    problems.add(place, fmt::format("cannot be read; got \"{}\"", written),
                 written.starts_with('/') ? "" : "files are looked for beside the scenario");
    missing_ = true;
  }
  return known->second;
}

void DataFiles::load_text(const std::string& path, const std::string& content, const Place& place,
                          trainer::LearningOptions& learning, Problems& problems) {
  auto& text = texts_[path];
  if (text == nullptr) text = std::make_shared<const optim::Text>(optim::encode_text(content));
  if (content.empty()) {
    problems.add(place, fmt::format("names an empty file; got \"{}\"", learning.data.file));
  } else if (text->alphabet.size() < 2) {
    problems.add(place, fmt::format("must hold at least two different bytes; \"{}\" has one",
                                    learning.data.file));
  } else {
    learning.task.text = text;
  }
}

void DataFiles::load_table(const base::Value& arm, const std::string& path,
                           const std::string& content, trainer::LearningOptions& learning,
                           Problems& problems) {
  auto& table = tables_[{path, learning.data.target}];
  if (table == nullptr) {
    const CsvSource source{path, learning.data.target, place_of(arm, {"learning", "file"}),
                           place_of(arm, {"learning", "target"})};
    if (auto parsed = parse_table(content, source, problems)) {
      table = std::make_shared<const optim::Table>(std::move(*parsed));
    }
  }
  learning.task.table = table;
}

}  // namespace sim::scenario
