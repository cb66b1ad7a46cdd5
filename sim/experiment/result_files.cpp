// sim/experiment/result_files.cpp: see result_files.h.
#include "sim/experiment/result_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "sim/report/activity_csv.h"
#include "sim/report/faults_csv.h"
#include "sim/report/loss_csv.h"
#include "sim/report/traffic_csv.h"

namespace sim::experiment {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw std::system_error(errno == 0 ? EIO : errno, std::generic_category(),
                          path + ": error: cannot be written");
}

}  // namespace

ResultFiles::ResultFiles(std::string folder, const tape::RunShape& shape,
                         const readers::RunAccount& account)
    : folder_(std::move(folder)),
      shape_(shape),
      account_(account),
      steps_(shape, account.tokens()),
      timeline_(shape) {}

void ResultFiles::read(tape::Tape& tape) {
  tape.add(steps_);
  tape.add(timeline_);
}

void ResultFiles::record(tape::Tape& tape, std::uint64_t scenario_hash) {
  const std::string path = folder_ + "/tape.atoll";
  errno = 0;
  tape_stream_.open(path, std::ios::binary);
  if (!tape_stream_) fail(path);
  tape_writer_ = std::make_unique<tape::TapeWriter>(tape_stream_, shape_, scenario_hash);
  tape.add(*tape_writer_);
}

void ResultFiles::write_file(const char* name,
                             const std::function<void(std::ostream&)>& content) const {
  const std::string path = folder_ + "/" + name;
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  if (out) content(out);
  out.close();
  if (!out) fail(path);
}

void ResultFiles::write_snapshot(const trainer::Snapshot& snapshot,
                                 const trainer::SnapshotOrigin& origin) {
  if (snapshot_failure_) return;
  try {
    write_file(fmt::format("snapshot-{}.atoll", snapshot.number).c_str(),
               [&](std::ostream& out) { trainer::write_snapshot(snapshot, origin, out); });
  } catch (const std::system_error&) {
    snapshot_failure_ = std::current_exception();
  }
}

void ResultFiles::write(const report::Summary& summary, const trainer::Trainer* trainer) {
  if (snapshot_failure_) std::rethrow_exception(snapshot_failure_);
  if (tape_writer_) {
    if (tape_stream_) tape_stream_.flush();
    if (!tape_stream_) fail(folder_ + "/tape.atoll");
    tape_writer_->finish();
    tape_stream_.close();
    if (!tape_stream_) fail(folder_ + "/tape.atoll");
  }
  write_file("summary.json", [&](std::ostream& out) { out << report::to_json(summary); });
  write_file("steps.csv", [&](std::ostream& out) { steps_.write_csv(out); });
  write_file("traffic.csv",
             [&](std::ostream& out) { report::write_traffic_csv(account_.traffic(), out); });
  write_file("activity.csv", [&](std::ostream& out) {
    report::write_activity_csv(account_.activity().grid_at(account_.at_end()->at), out);
  });
  write_file("faults.csv", [&](std::ostream& out) {
    report::write_faults_csv(account_.faults(), shape_, out);
  });
  write_file("timeline.json", [&](std::ostream& out) { timeline_.write_json(out); });
  if (!trainer) return;
  std::vector<report::LossPoint> points;
  for (const auto& e : trainer->evaluations()) points.push_back({e.at, e.tokens, e.loss});
  write_file("loss.csv", [&](std::ostream& out) { report::write_loss_csv(points, out); });
  if (shape_.model_is_learner) return;  // no merges, no outer gradients
  write_file("convergence.csv",
             [&](std::ostream& out) { trainer::to_csv(trainer->convergence(), out); });
}

}  // namespace sim::experiment
