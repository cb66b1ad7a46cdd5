// sim/experiment/sweep_merge.cpp: joins shards (sweep.h). The plan is read back from the sweep.toml that
// each shard holds, so that a merge needs neither the sweep file, nor files that it names, nor the machine
// that ran it.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "sim/experiment/recorded_sweep.h"
#include "sim/experiment/sweep.h"
#include "sim/experiment/sweep_seeds.h"
#include "sim/experiment/sweep_tables.h"

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
      : Refusal(fmt::format("{}: error: {}", folder, what), hint) {}
  Refusal(const std::string& what, const std::string& hint)
      : std::runtime_error(fmt::format("{}\n  hint: {}", what, hint)) {}
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
    if (record->shard.count > kShardCountMax) {
      throw Refusal(folder, fmt::format("is one of {} shards, more than {}", record->shard.count, kShardCountMax),
                    "run the sweep with fewer shards");
    }
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

// Rows of another sweep or version, and lines that no journal of ours has, are the user's to look at; two
// results of one run are a bug.
void read_journals(Journal& journal, const Part& part, const std::string& sweep) {
  const std::string folder = part.folder + "/journal";
  std::string trouble;
  try {
    trouble = journal.read(folder, sweep, part.record.version);
  } catch (const nlohmann::json::exception&) {
    throw Refusal(folder, "holds a file that is no journal of a sweep", "take it away, or run the shard again with --force");
  }
  if (trouble.empty()) return;
  if (!journal.foreign()) throw std::logic_error(trouble);
  throw Refusal(trouble, "take it away, or run the shard again with --force");
}

Journal read_all(const SweepPlan& plan, const std::vector<Part>& parts) {
  const std::string sweep = sweep_hash(parts.front().record.text);
  Journal journal;
  for (const Part& part : parts) {
    read_journals(journal, part, sweep);
    const std::size_t open = next_runs(plan, part.record.shard, journal, {}).size();
    if (open == 0) continue;
    throw Refusal(part.folder, fmt::format("is not complete: {} runs to go", open),
                  "finish the shard with --resume");
  }
  return journal;
}

SweepPlan plan_of(const Part& part) {
  const std::string file = part.folder + "/sweep.toml";
  if (auto plan = recorded_sweep(part.record.text, file)) return std::move(*plan);
  throw Refusal(file, "is no sweep that this version can read", "merge with the version that ran it");
}

SweepOutcome merged(const SweepPlan& plan, const std::vector<Part>& parts, const SweepFolder& folder) {
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
  outcome.first_failure = first_failure(plan, journal);
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

SweepOutcome merge_into(const SweepPlan& plan, const std::vector<std::string>& folders, const SweepFolder& folder) {
  return told([&] {
    const std::vector<Part> parts = whole_sweep(folders);
    const Part& first = parts.front();
    const auto held = read_record(folder.path());
    if (!held || held->text != first.record.text || held->version != first.record.version) {
      throw Refusal(first.folder, "is of another sweep or version than " + folder.path(), "--force begins again");
    }
    return merged(plan, parts, folder);
  });
}

SweepOutcome merge_shards(const std::vector<std::string>& folders, const MergeTarget& target) {
  return told([&] {
    const std::vector<Part> parts = whole_sweep(folders);
    for (const Part& part : parts) {
      std::error_code nowhere;
      if (!std::filesystem::equivalent(part.folder, target.folder, nowhere)) continue;
      throw Refusal(target.folder, "is one of the shards", "--out DIR writes elsewhere");
    }
    const SweepPlan plan = plan_of(parts.front());
    SweepFolder folder(target.folder, {.elsewhere = "--out DIR", .may_resume = false});
    const SweepRecord record = {parts.front().record.version, parts.front().record.text, {}};
    // The same sweep's folder keeps its own runs, forced or not.
    const bool begin_again = target.force && read_record(target.folder) != record;
    const SweepStart start = begin_again ? SweepStart::kForce : SweepStart::kResume;
    if (const auto trouble = folder.open(record, start, RowsIn::kShards)) return outcome_of(*trouble);
    return merged(plan, parts, folder);
  });
}

}  // namespace sim::experiment
