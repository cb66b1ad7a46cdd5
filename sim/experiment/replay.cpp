// sim/experiment/replay.cpp: see replay.h.
#include "sim/experiment/replay.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "sim/experiment/child_process.h"
#include "sim/experiment/proxy.h"
#include "sim/experiment/version.h"
#include "sim/readers/vector_clocks.h"
#include "sim/report/loss_csv.h"
#include "sim/report/summary.h"
#include "sim/scenario/load.h"
#include "sim/tape/tape.h"
#include "sim/tape/tape_file.h"

namespace sim::experiment {
namespace {

using nlohmann::ordered_json;

// The tape cannot be replayed; the child sends it to the parent as a value.
struct Refusal {
  ReplayEnd end;
  std::string message;
};

struct Texts {
  std::string loss, convergence;  // the files
};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string version_in(const std::string& folder) {
  const auto summary = nlohmann::json::parse(text_of(folder + "/summary.json"), nullptr, false);
  if (!summary.is_object() || !summary.contains("version")) return "";
  return summary["version"].is_string() ? summary["version"].get<std::string>() : "";
}

// Errors: Refusal.
std::unique_ptr<trainer::Trainer> make_trainer(const ReplayRequest& request,
                                               const tape::RunShape& shape,
                                               const std::string& path) {
  const scenario::Arm& arm = request.scenario->arms.at(0);
  trainer::TrainerOptions options = trainer_options(arm, request.scenario->seed,
                                                    static_cast<std::size_t>(request.threads));
  if (request.from) options.resume = {request.from, &request.from->snapshot};
  if (options.learning.batch != static_cast<std::int64_t>(shape.slots)) {
    throw Refusal{ReplayEnd::kRefused,
                  fmt::format("{}: error: learning.batch: must be {}, the slots of the tape; got {}\n"
                              "  hint: a run hands slots out for good; one without a model, one to each slice",
                              path, shape.slots, options.learning.batch)};
  }
  try {
    return std::make_unique<trainer::Trainer>(shape, options);
  } catch (const std::invalid_argument& error) {
    throw Refusal{ReplayEnd::kRefused, fmt::format("{}: error: the model does not fit: {}", path,
                                                   error.what())};
  }
}

// A text that reads back to the same bits; null for what is no number.
ordered_json shown_loss(double loss) {
  return std::isfinite(loss) ? ordered_json(fmt::format("{}", loss)) : ordered_json();
}

// The loss that a row of loss.csv holds for that date and these tokens; of several rows the last.
std::string loss_in(const std::string& csv, base::Nanoseconds at, std::uint64_t tokens) {
  const std::string key = fmt::format("\n{},{},", base::format_seconds(at), tokens);
  const std::size_t row = csv.rfind(key);
  if (row == std::string::npos) return "";
  const std::size_t start = row + key.size();
  return csv.substr(start, csv.find('\n', start) - start);
}

ordered_json marks_of(const trainer::Trainer& trainer, const std::string& recorded_csv) {
  ordered_json marks = ordered_json::array();
  const auto add = [&](std::string_view name, const trainer::Evaluation& e) {
    ordered_json mark = {{"name", name}, {"at_s", base::format_seconds(e.at)}, {"tokens", e.tokens},
                         {"loss", shown_loss(e.loss)}};
    const std::string recorded = loss_in(recorded_csv, e.at, e.tokens);
    mark["recorded_loss"] = recorded.empty() ? ordered_json() : ordered_json(recorded);
    marks.push_back(std::move(mark));
  };
  for (const trainer::MarkLoss& mark : trainer.marks()) {
    add(report::mark_name(mark.mark), mark.evaluation);
  }
  if (!trainer.evaluations().empty()) add("end", trainer.evaluations().back());
  return marks;
}

Texts texts_of(const trainer::Trainer& trainer, const tape::RunShape& shape) {
  std::vector<report::LossPoint> points;
  for (const auto& e : trainer.evaluations()) points.push_back({e.at, e.tokens, e.loss});
  std::ostringstream loss, convergence;
  report::write_loss_csv(points, loss);
  if (!shape.model_is_learner) trainer::to_csv(trainer.convergence(), convergence);
  return {loss.str(), convergence.str()};
}

// "loss.csv:17: error: recorded ..., replayed ...", or "" when they are the same.
std::string first_difference(const char* name, const std::string& recorded,
                             const std::string& replayed) {
  if (recorded == replayed) return "";
  std::istringstream a(recorded), b(replayed);
  std::string left, right;
  for (std::size_t line = 1;; ++line) {
    const bool more_left = static_cast<bool>(std::getline(a, left));
    const bool more_right = static_cast<bool>(std::getline(b, right));
    if (!more_left) left = "nothing";
    if (!more_right) right = "nothing";
    if (left != right || !more_left) {
      return fmt::format("{}:{}: error: recorded {}, replayed {}", name, line, left, right);
    }
  }
}

ordered_json clocks_of(const readers::VectorClocks& clocks) {
  const readers::Watermark mark = clocks.watermark();
  return {{"watermark_step", mark.step},
          {"live_workers", mark.live_workers},
          {"overtaken_broadcasts", clocks.overtaken_broadcasts()},
          {"overtaken_takes", clocks.overtaken_takes()},
          {"violations", clocks.violation_count()}};
}

void write_file(const std::string& folder, const char* name, const std::string& text) {
  const std::string path = folder + "/" + name;
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    throw std::system_error(errno == 0 ? EIO : errno, std::generic_category(),
                            path + ": error: cannot be written");
  }
}

// Everything in the child. Errors: Refusal, tape::TapeFileError.
ordered_json fold(const ReplayRequest& request, const std::string& path, std::istream& in,
                  std::uint64_t size_bytes, const std::string& hidden, const ParentLink& progress) {
  tape::TapeFile file(in);
  if (file.scenario_hash() != request.recorded_hash) {
    throw Refusal{ReplayEnd::kRefused,
                  fmt::format("{}: error: is of another scenario ({:016x}) than the scenario.toml beside "
                              "it ({:016x})\n  hint: record it again with --record",
                              path, file.scenario_hash(), request.recorded_hash)};
  }
  const std::unique_ptr<trainer::Trainer> trainer = make_trainer(request, file.shape(), path);
  readers::VectorClocks clocks(file.shape());
  tape::Tape tape;
  tape.add(*trainer);
  tape.add(clocks);
  tape::Fact fact;
  while (file.next(fact)) {
    tape.append(fact);
    if (tape.fact_count() % 8192 == 0 && in) {
      progress(static_cast<double>(in.tellg()) / static_cast<double>(size_bytes));
    }
  }
  trainer->finish();

  const std::string recorded = text_of(request.folder + "/loss.csv");
  const Texts texts = texts_of(*trainer, file.shape());
  std::string difference;
  const bool compares = !request.is_changed && !recorded.empty();
  if (compares) {
    difference = first_difference("loss.csv", recorded, texts.loss);
    if (difference.empty() && !file.shape().model_is_learner) {
      difference = first_difference("convergence.csv",
                                    text_of(request.folder + "/convergence.csv"), texts.convergence);
    }
  }
  ordered_json replay = {
      {"format", 1},
      {"scenario", request.scenario->name},
      {"arm", request.scenario->arms[0].training.name},
      {"seed", request.scenario->seed},
      {"version", version_text()},
      {"recorded_version", version_in(request.folder)},
      {"facts", tape.fact_count()},
      {"trace_hash", fmt::format("{:016x}", tape.trace_hash())},
      {"proxy_parameters", trainer->proxy_parameters()},
      {"evaluations", trainer->evaluations().size()},
      {"initial_loss", shown_loss(trainer->initial_loss())},
      {"marks", marks_of(*trainer, recorded)},
      {"clocks", clocks_of(clocks)},
      {"equal", compares ? ordered_json(difference.empty()) : ordered_json()},
      {"first_difference", difference.empty() ? ordered_json() : ordered_json(difference)}};
  if (!hidden.empty()) {
    write_file(hidden, "loss.csv", texts.loss);
    if (!file.shape().model_is_learner) write_file(hidden, "convergence.csv", texts.convergence);
    write_file(hidden, "replay.json", replay.dump(2) + "\n");
  }
  return replay;
}

// The child's bytes: {"replay": ...} or {"refused": text, "end": number}.
std::string body(const ReplayRequest& request, const std::string& hidden,
                 const ParentLink& progress) {
  const std::string path = request.folder + "/tape.atoll";
  ordered_json result;
  try {
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in) {
      const bool missing = errno == ENOENT;
      throw Refusal{ReplayEnd::kFileTrouble,
                    fmt::format("{}: error: {}{}", path,
                                missing ? "there is no tape"
                                        : fmt::format("cannot be read: {}", std::strerror(errno)),
                                missing ? "\n  hint: record it with --record" : "")};
    }
    const std::uint64_t size_bytes = std::filesystem::file_size(path);
    result["replay"] = fold(request, path, in, size_bytes, hidden, progress);
  } catch (const Refusal& refusal) {
    result = {{"refused", refusal.message}, {"end", static_cast<int>(refusal.end)}};
  } catch (const tape::TapeFileError& error) {
    const std::string_view what = std::string_view(error.what()).substr(std::strlen("tape: "));
    result = {{"refused", fmt::format("{}: error: {}", path, what)},
              {"end", static_cast<int>(ReplayEnd::kFileTrouble)}};
  }
  return result.dump();
}

ReplayOutcome outcome_of(const ReplayRequest& request, const ChildEnding& ending) {
  ReplayOutcome outcome;
  if (ending.kind != EndingKind::kReturned) {
    outcome.end = ending.kind == EndingKind::kBug ? ReplayEnd::kBug : ReplayEnd::kFileTrouble;
    outcome.message = ending.reason;
    return outcome;
  }
  ordered_json result = ordered_json::parse(ending.bytes);
  if (result.contains("refused")) {
    outcome.end = static_cast<ReplayEnd>(result["end"].get<int>());
    outcome.message = result["refused"].get<std::string>();
    return outcome;
  }
  outcome.replay = std::move(result["replay"]);
  const ordered_json& equal = outcome.replay["equal"];
  outcome.end = equal.is_null()       ? ReplayEnd::kOther
                : equal.get<bool>() ? ReplayEnd::kSame
                                      : ReplayEnd::kDifferent;
  if (outcome.end != ReplayEnd::kDifferent) return outcome;
  const std::string recorded = outcome.replay["recorded_version"].get<std::string>();
  outcome.message = fmt::format("{}/{}", request.folder,
                                outcome.replay["first_difference"].get<std::string>());
  if (recorded != version_text()) {
    outcome.message += fmt::format("\n  hint: it was recorded by version \"{}\"; this is \"{}\"",
                                   recorded, version_text());
  }
  return outcome;
}

ReplayOutcome folder_trouble(const FolderTrouble& trouble) {
  ReplayOutcome outcome;
  outcome.end = trouble.kind == FolderTrouble::Kind::kHoldsAnother ? ReplayEnd::kRefused
                                                                   : ReplayEnd::kFileTrouble;
  outcome.message = trouble.message;
  return outcome;
}

}  // namespace

ReplayOutcome replay(const ReplayRequest& request) {
  InterruptionWatch watch;
  std::optional<ResultsFolder> folder;
  if (!request.results.empty()) {
    folder.emplace(request.results);
    const std::string& arm = request.scenario->arms.at(0).training.name;
    const auto trouble =
        folder->open(scenario::resolved_text(*request.scenario, &arm), request.overwrite);
    if (trouble) return folder_trouble(*trouble);
  }
  const std::string hidden = folder ? folder->hidden_path() : "";
  const ChildPoolOptions pool = {
      .at_a_time = 1, .on_progress = request.on_progress, .on_end = {}};
  const std::vector<ChildEnding> endings = run_children(
      {[&](const ParentLink& progress) { return body(request, hidden, progress); }}, pool, watch);
  if (watch.signal_number() != 0) {
    ReplayOutcome outcome;
    outcome.end = ReplayEnd::kInterrupted;
    outcome.signal_number = watch.signal_number();
    return outcome;
  }
  ReplayOutcome outcome = outcome_of(request, endings[0]);
  if (folder && !outcome.replay.empty()) {
    if (const auto trouble = folder->publish()) return folder_trouble(*trouble);
  }
  return outcome;
}

}  // namespace sim::experiment
