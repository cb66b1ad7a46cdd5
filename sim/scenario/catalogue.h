// sim/scenario/catalogue.h: accelerators known by name.
//
// What is not published stays unknown here; where a run needs a value all the same (the watts of
// TPUs), the assumption stands apart and every result says so.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sim::scenario {

struct ChipEntry {
  std::string_view name;
  double peak_flops;               // FLOP/s, dense bf16 with fp32 accumulate
  double memory_bytes;
  double memory_bytes_per_s;
  double scale_up_bytes_per_s;     // one way, per chip, inside the scale-up domain
  int domain_chips;                // largest scale-up domain
  std::optional<double> power_w;   // per chip; nothing: not published
  std::string_view source;
  std::string_view certainty;      // "vendor", "secondary", "estimate"
  double assumed_power_w = 0;      // where power_w is nothing: what energy is charged with
};

const std::vector<ChipEntry>& chips();
const ChipEntry* find_chip(std::string_view name);  // null: unknown

// The table as text, for a terminal.
std::string catalogue_text();

}  // namespace sim::scenario
