// sim/experiment/sweep_merge.cpp: joins shards (sweep.h). The plan is read back from the sweep.toml that
// each shard holds, so that a merge needs neither the sweep file nor the machine that ran it.
#include <fmt/format.h>

#include <stdexcept>
#include <system_error>
#include <utility>

#include "sim/experiment/sweep.h"
#include "sim/experiment/sweep_load.h"
#include "sim/experiment/sweep_seeds.h"
#include "sim/experiment/sweep_tables.h"
#include "sim/experiment/version.h"

namespace sim::experiment {
namespace {

struct Part {
  std::string folder;
  SweepRecord record;
};

// What is wrong for the user; told as one diagnostic.
class Refusal : public std::runtime_error {
 public:
  Refusal(const std::string& folder, const std::string& what, const std::string& hint)
      : std::runtime_error(fmt::format("{}: error: {}\n  hint: {}", folder, what, hint)) {}
};

SweepOutcome outcome_of(const FolderTrouble& trouble) {
  SweepOutcome outcome;
  const bool holds = trouble.kind == FolderTrouble::Kind::kHoldsAnother;
  outcome.end = holds ? SweepEnd::kRefused : SweepEnd::kFileTrouble;
  outcome.message = trouble.message;
  return outcome;
}

std::vector<Part> read_parts(const std::vector<std::string>& folders) {
  std::vector<Part> parts;
  for (const std::string& folder : folders) {
    auto record = read_record(folder);
    if (!record) throw Refusal(folder, "holds no shard of a sweep", "give folders that atoll sweep --shard wrote");
    parts.push_back({folder, std::move(*record)});
  }
  return parts;
}

void check_alike(const Part& first, const Part& other) {
  if (other.record.text != first.record.text) {
    throw Refusal(other.folder, "is of another sweep than " + first.folder, "merge shards of one sweep");
  }
  if (other.record.version != first.record.version) {
    throw Refusal(other.folder,
                  fmt::format("was run by version {}; {} by {}", other.record.version, first.folder,
                              first.record.version),
                  "run all shards with one version");
  }
  if (other.record.shard.count != first.record.shard.count) {
    throw Refusal(other.folder,
                  fmt::format("is one of {} shards; {} is one of {}", other.record.shard.count, first.folder,
                              first.record.shard.count),
                  "merge shards of one division");
  }
}

void check_whole(const std::vector<Part>& parts) {
  const std::uint64_t count = parts.front().record.shard.count;
  std::vector<const Part*> by_number(static_cast<std::size_t>(count));
  for (const Part& part : parts) {
    check_alike(parts.front(), part);
    const Part*& place = by_number.at(static_cast<std::size_t>(part.record.shard.number - 1));
    if (place != nullptr) {
      throw Refusal(part.folder, fmt::format("is shard {}/{}, and so is {}", part.record.shard.number, count, place->folder),
                    "name each shard once");
    }
    place = &part;
  }
  std::string missing;
  for (std::size_t i = 0; i < by_number.size(); ++i) {
    if (by_number[i] == nullptr) missing += fmt::format(" {}/{}", i + 1, count);
  }
  if (!missing.empty()) {
    throw Refusal(parts.front().folder, "is not all of its sweep; missing are the shards" + missing,
                  "name the folders of all shards");
  }
}

SweepPlan plan_of(const Part& part) {
  SweepRequest request{};
  request.file = part.folder + "/sweep.toml";
  request.needs_sweep = true;
  SweepLoad loaded = load_sweep(request);
  if (!loaded.plan) throw Refusal(request.file, loaded.diagnostics.front().message, "it was changed by hand; run the shard again");
  if (resolved_text(*loaded.plan) != part.record.text) {
    throw Refusal(request.file, "means another sweep to this version", "merge with the version that ran it");
  }
  return std::move(*loaded.plan);
}

Journal read_all(const SweepPlan& plan, const std::vector<Part>& parts) {
  Journal journal;
  for (const Part& part : parts) {
    const std::string trouble = journal.read(part.folder + "/journal", sweep_hash(plan), part.record.version);
    if (!trouble.empty()) throw std::logic_error(trouble);
    const std::size_t open = next_runs(plan, part.record.shard, journal, {}).size();
    if (open == 0) continue;
    throw Refusal(part.folder, fmt::format("is not complete: {} runs to go", open),
                  "finish the shard with --resume");
  }
  return journal;
}

SweepOutcome merged(const std::vector<Part>& parts, const SweepFolder& folder) {
  const SweepPlan plan = plan_of(parts.front());
  const Journal journal = read_all(plan, parts);
  std::optional<FolderTrouble> trouble;
  const auto write = [&](const char* name, const auto& writer) {
    if (trouble) return;
    trouble = folder.write_table(name, [&](std::ostream& out) { writer(plan, Shard{}, journal, out); });
  };
  write("runs.csv", write_runs_csv);
  write("points.csv", write_points_csv);
  if (trouble) return outcome_of(*trouble);
  SweepOutcome outcome;
  outcome.runs = journal.entries().size();
  for (const auto& [key, entry] : journal.entries()) outcome.failed += entry.failed ? 1 : 0;
  return outcome;
}

std::vector<Part> whole_sweep(const std::vector<std::string>& folders) {
  std::vector<Part> parts = read_parts(folders);
  check_whole(parts);
  return parts;
}

template <class Body>
SweepOutcome told(const Body& body) {
  SweepOutcome outcome;
  try {
    return body();
  } catch (const Refusal& refusal) {
    outcome.end = SweepEnd::kRefused;
    outcome.message = refusal.what();
  } catch (const std::system_error& error) {
    outcome.end = SweepEnd::kFileTrouble;
    outcome.message = error.what();
  }
  return outcome;
}

}  // namespace

SweepOutcome merge_into(const std::vector<std::string>& folders, const SweepFolder& folder) {
  return told([&] { return merged(whole_sweep(folders), folder); });
}

SweepOutcome merge_shards(const std::vector<std::string>& folders, const std::string& target) {
  return told([&] {
    const std::vector<Part> parts = whole_sweep(folders);
    SweepFolder folder(target);
    const SweepRecord record = {parts.front().record.version, parts.front().record.text, {}};
    if (const auto trouble = folder.open(record, SweepStart::kResume)) return outcome_of(*trouble);
    return merged(parts, folder);
  });
}

}  // namespace sim::experiment
