// sim/trainer/snapshot_file.h: a snapshot on disk: everything it takes to go on, and whose it is.
//
// Form (integers lowest byte first):
//   "ATOLSNAP"      magic, 8 bytes
//   format          8 bytes, 2
//   payload length  8 bytes
//   checksum        8 bytes, over length and payload
//   payload         origin and snapshot as sim/tape/coder.h codes them; blocks of floats as they lie in
//                   memory, so the same bits come back
#pragma once

#include <cstdint>
#include <iosfwd>
#include <stdexcept>
#include <string>

#include "sim/trainer/snapshot.h"

namespace sim::trainer {

// Whose snapshot it is. A run is a function of these.
struct SnapshotOrigin {
  std::string version;  // of the program
  std::uint64_t scenario_hash = 0;  // of the resolved scenario with this arm alone
  std::string arm;
  std::uint64_t seed = 0;
};

// A file that is not what write_snapshot wrote. what() is one line for the user.
class SnapshotFileError : public std::runtime_error {
 public:
  explicit SnapshotFileError(const std::string& what) : std::runtime_error(what) {}
};

// Requires: a snapshot whose blocks are computed. A failing stream is left failed.
void write_snapshot(const Snapshot& snapshot, const SnapshotOrigin& origin, std::ostream& out);

struct SnapshotFile {
  SnapshotOrigin origin;
  Snapshot snapshot;
};
// Errors: SnapshotFileError: another kind of file, another format, a flipped byte, a missing end.
SnapshotFile read_snapshot(std::istream& in);

}  // namespace sim::trainer
