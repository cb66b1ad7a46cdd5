// sim/tape/tape_file.h: a tape on disk: written while the run goes on, streamed back for a replay.
//
// Form (integers lowest byte first):
//   "ATOLTAPE"                                    magic, 8 bytes
//   format                                        8 bytes, 3 (2: no step times, no exchanges)
//   block of the header: scenario hash, RunShape  count 0
//   blocks of facts                               each about 64 KiB
//   end mark: a block of no bytes whose count is the number of facts in the file
// A block is: payload length (8 bytes), count (8 bytes), checksum (8 bytes, FNV-1a over length, count
// and payload), payload. The first fact of a block has its date in full.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "sim/tape/coder.h"
#include "sim/tape/reader.h"
#include "sim/tape/run_shape.h"

namespace sim::tape {

// Writes each fact that it is shown. A file without finish() is diagnosed as truncated when read.
class TapeWriter : public Reader {
 public:
  // A failing stream is told by finish() alone: TapeFileError.
  TapeWriter(std::ostream& out, const RunShape& shape, std::uint64_t scenario_hash);

  void on(const Fact& fact) override;
  void finish();

  // Bytes written so far, the unfinished block included.
  std::uint64_t size_bytes() const;

 private:
  void write_block(std::uint64_t count);

  std::ostream& out_;
  Encoder block_;
  std::uint64_t block_facts_ = 0;
  std::uint64_t facts_ = 0;
  std::uint64_t written_bytes_ = 0;
  Nanoseconds last_at_ = 0;
};

// Streams the facts back in order.
class TapeFile {
 public:
  // Reads the header. Errors: TapeFileError, here and in next(), for anything but what a TapeWriter
  // wrote in this format: another kind of file, another format, a flipped byte, a missing end.
  explicit TapeFile(std::istream& in);

  const RunShape& shape() const { return shape_; }
  std::uint64_t scenario_hash() const { return scenario_hash_; }

  // The next fact, or false at the end mark. Contributors stay valid until the next call.
  bool next(Fact& fact);

 private:
  // The next block's payload goes into payload_; returns its count.
  std::uint64_t read_block();
  std::uint64_t read_integer();

  std::istream& in_;
  RunShape shape_;
  std::uint64_t format_ = 0, scenario_hash_ = 0;
  std::string payload_;
  Decoder decoder_{std::string_view()};
  std::uint64_t block_left_ = 0;  // facts
  std::uint64_t facts_ = 0;
  std::uint64_t blocks_ = 0;
  bool ended_ = false;
  Nanoseconds last_at_ = 0;
  std::vector<Contributor> contributors_;
};

}  // namespace sim::tape
