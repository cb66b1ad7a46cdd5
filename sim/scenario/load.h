// sim/scenario/load.h: from a scenario file to a checked Scenario, and back to text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/scenario/scenario.h"

namespace sim::scenario {

// Either a scenario and no diagnostics, or diagnostics (sorted by position) and no scenario.
struct LoadResult {
  std::optional<Scenario> scenario;
  std::vector<base::Diagnostic> diagnostics;
  // Beside diagnostics: a scenario that is read and right in itself, and refused for what its fleet cannot
  // carry. To forecast from, not to run.
  std::optional<Scenario> refused;
  bool file_missing = false;  // the file, or one that it names, cannot be read: exit 3
};

// Reads, applies `sets` ("training.quorum=3", "arm.NAME.key=3", "failure.0.mtbi=3 h"), binds and
// checks. `seed` replaces the file's. Nothing throws for a user's mistake.
LoadResult load_file(const std::string& path, const std::vector<std::string>& sets = {},
                     std::optional<std::uint64_t> seed = std::nullopt);

// The same for text; `name` is what diagnostics print. Files named by the scenario are looked for in
// `folder` (empty, or with a slash at its end); without one, in the folder of `name`.
LoadResult load_text(const std::string& text, const std::string& name,
                     const std::vector<std::string>& sets = {},
                     std::optional<std::uint64_t> seed = std::nullopt,
                     const std::optional<std::string>& folder = std::nullopt);

// A scenario in which every value is written out. Loading it beside the files that it names gives an
// equal Scenario, except that lines and columns of expectations are its own. Such a file is named as
// it was, and its checksum says which content it must have.
std::string resolved_text(const Scenario& scenario);

// The same with one arm alone, which becomes [training].
// Requires: the arm exists; else std::invalid_argument.
std::string resolved_text(const Scenario& scenario, const std::string* only_arm);

// What of a resolved text says which scenario it is: all but [expect], its last section, which
// judges runs and changes none.
std::string_view identity_in(std::string_view resolved);

// Hash of that.
std::uint64_t scenario_hash(const Scenario& scenario);

// The same of the scenario with whatever seed: what all runs of one experiment share.
std::uint64_t set_hash(const Scenario& scenario);

// Hash of what a run of one arm depends on: of the resolved text with that arm alone, as it stands in
// the folder of its results. Tapes and snapshots carry it.
// Requires: the arm exists; else std::invalid_argument.
std::uint64_t run_hash(const Scenario& scenario, const std::string& arm);

}  // namespace sim::scenario
