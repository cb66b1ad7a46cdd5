// sim/experiment/sweep_row.h: what a sweep keeps of one run.
//
// The summary is flattened by its own shape, whatever keys it has: "goodput": {"time": ...} becomes
// the column goodput.time; a list is one cell of JSON. So a new key of summary.json is a new column.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sim/experiment/sweep_plan.h"

namespace sim::experiment {

struct SweepRow {
  RunKey key;
  std::string identity;  // see run_identity()
  std::string reason;    // why there is no result; empty: there is one
  // One line of JSON each: ["n goodput.time", "t method", ...], n for a number or null, t for
  // everything else; and the values in the same order. Empty without a result.
  std::string names, values;
};

// The whole summary but what says which run it is (arm, seed: columns of their own).
void fill_from_summary(SweepRow& row, const nlohmann::ordered_json& summary);

// As bytes and back; for a pipe between two processes of one program.
std::string to_bytes(const SweepRow& row);
SweepRow row_from_bytes(std::string_view bytes);  // Errors: std::logic_error when they are no row

}  // namespace sim::experiment
