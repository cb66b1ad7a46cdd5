// sim/cli/output_file.h: a file that is there whole, or as it was before.
#pragma once

#include <string>

namespace sim::cli {

// Written beside its place and renamed; what is no regular file of its own (a device, a pipe, a link) is
// written in place. Opened before the work whose result it takes, so that a folder that does not exist
// costs no runs.
class OutputFile {
 public:
  explicit OutputFile(std::string path);  // "": writes nothing, successfully
  OutputFile(const OutputFile&) = delete;
  ~OutputFile();  // without write() nothing is left

  // Whether it could be opened; said on stderr when not.
  bool is_open() const { return open_; }
  // Whether all of it is in its place; said on stderr when not. Once.
  bool write(const std::string& text);

 private:
  bool failed(int error);

  std::string path_, beside_;  // beside_: the name until it is whole; empty: written in place
  int descriptor_ = -1;
  bool open_ = true;
};

}  // namespace sim::cli
