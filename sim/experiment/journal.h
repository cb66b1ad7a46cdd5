// sim/experiment/journal.h: finished runs on disk, a line each, in a form that survives any end.
//
// Each worker appends to a file of its own. A line is a checksum and its text, so that what a kill or
// a full disk cut off is seen and left out; nothing that was there before is ever written again. A file
// whose first line is damaged is left out whole, since nobody knows whose rows it holds. Rows
// may stand twice (a run that was repeated): they are then equal, or law 1 is broken.
//
//   <16 hexadecimal digits of the text's hash> <text>\n      text is one JSON list:
//   ["journal", 1, sweep, version]                           first line; sweep is the resolved text's hash
//   ["names", number, [names...]]                            before the first row that uses them
//   ["run", point, arm, seed, identity, names' number, [values...]]
//   ["failed", point, arm, seed, identity, reason]
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/experiment/sweep_row.h"

namespace sim::experiment {

constexpr int kJournalFormat = 1;

class JournalWriter {
 public:
  // Takes the first free number in `folder`, which exists, as its file's name.
  // Errors: std::system_error when it cannot be written, here and below.
  JournalWriter(const std::string& folder, const std::string& sweep, const std::string& version);
  JournalWriter(const JournalWriter&) = delete;
  ~JournalWriter();

  void append(const SweepRow& row);
  void sync();  // to the disk itself

 private:
  void write_line(const std::string& text);
  [[noreturn]] void fail() const;

  std::string path_;
  int descriptor_ = -1;
  std::map<std::string, std::size_t> names_;  // text of the list -> its number in this file
};

// All journals of one or more folders, with every row found by its key. Texts stay on disk (mapped);
// the index takes about a hundred bytes a run.
class Journal {
 public:
  struct Entry {
    std::string_view line;   // the text of the row
    std::size_t names;       // index into names(); meaningless for a failed run
    bool failed;
  };

  Journal();
  Journal(Journal&&) noexcept;
  ~Journal();

  // Reads every journal of the folder; none is none. What is wrong with them, or "": rows of something
  // else, which is for the user to sort out (foreign()), or rows of one run that differ, a bug of ours.
  // Errors: std::system_error when a file cannot be read.
  std::string read(const std::string& folder, const std::string& sweep, const std::string& version);
  // Whether what is wrong is a journal of another sweep, version or form.
  bool foreign() const { return foreign_; }

  const std::map<RunKey, Entry>& entries() const { return entries_; }
  // Lists of names, each once, in no meaningful order.
  const std::vector<std::string>& names() const { return names_; }
  // One of the rows. Its values are the JSON of a number, a text, true, false or null each, in the
  // journal's own bytes: most of them only pass through.
  struct Row {
    std::string identity, reason;  // a reason: failed, and nothing else is there
    std::size_t names;             // index into names()
    std::vector<std::string_view> values;
  };
  Row row(const RunKey& key) const;  // Requires: the key exists; else std::out_of_range

  // Place of the number `name` in each of names(), or npos. Looked up once: the names are read by then.
  const std::vector<std::size_t>& places_of(const std::string& name) const;
  // The value at that place of a row that did not fail, without parsing the others; none for null or npos.
  static std::optional<double> number_at(const Entry& entry, std::size_t place);
  // The number that a row's value is; none for anything else.
  static std::optional<double> number_in(std::string_view value);

 private:
  struct Mapped;
  std::string read_file(const std::string& path, const std::string& sweep, const std::string& version);
  std::string trouble_of_head(std::string_view text, const std::string& sweep, const std::string& version);
  std::string add(std::string_view line, std::vector<std::size_t>& numbers);

  std::vector<std::unique_ptr<Mapped>> files_;
  std::map<RunKey, Entry> entries_;
  std::vector<std::string> names_;
  bool foreign_ = false;
  mutable std::map<std::string, std::vector<std::size_t>> places_;  // of what was asked for
};

}  // namespace sim::experiment
