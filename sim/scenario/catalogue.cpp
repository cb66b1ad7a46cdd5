// sim/scenario/catalogue.cpp: the table of accelerators.
//
// Peaks are dense bf16 with fp32 accumulate; interconnect is one way, per chip. Sources: vendor
// pages and data sheets; "secondary": third-party tables; "estimate": general knowledge. Powers are
// thermal design powers of data sheets. No TPU's power is published; the assumed ones are a mean
// quoted for v4 (170 W), which v5e takes over, third-party tables' 400 W for v5p, which v6e takes
// over, and for tpu7x the 1,000 W of a GPU of like peak.
#include "sim/scenario/catalogue.h"

#include <fmt/format.h>

#include <algorithm>

namespace sim::scenario {

namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
constexpr std::optional<double> kUnknown = std::nullopt;

constexpr std::string_view kTpu = "Google Cloud TPU pages";
constexpr std::string_view kTpuBook = "Google Cloud TPU pages; scaling-book tpus.md (February 2025)";
constexpr std::string_view kSheet = "vendor data sheet, as cited by ml-engineering (stas00)";
constexpr std::string_view kThird = "third-party tables of NVIDIA data";

std::string power_text(const ChipEntry& chip) {
  if (chip.power_w) return fmt::format("{}", *chip.power_w);
  return chip.assumed_power_w > 0 ? fmt::format("unknown, {} assumed", chip.assumed_power_w) : "unknown";
}

}  // namespace

const std::vector<ChipEntry>& chips() {
  static const std::vector<ChipEntry> table = {
      {"tpu-v4", 275 * kTera, 32 * kGiga, 1.2 * kTera, 270 * kGiga, 4096, kUnknown, kTpuBook,
       "vendor", 170},
      {"tpu-v5e", 197 * kTera, 16 * kGiga, 0.82 * kTera, 200 * kGiga, 256, kUnknown, kTpuBook,
       "vendor", 170},
      {"tpu-v5p", 459 * kTera, 95 * kGiga, 2.765 * kTera, 540 * kGiga, 8960, kUnknown, kTpuBook,
       "vendor", 400},
      {"tpu-v6e", 918 * kTera, 32 * kGiga, 1.6 * kTera, 360 * kGiga, 256, kUnknown, kTpuBook,
       "vendor", 400},
      {"tpu7x", 2307 * kTera, 192 * 1073741824.0, 7.37 * kTera, 600 * kGiga, 9216, kUnknown, kTpu,
       "vendor; memory rate estimate", 1000},
      {"a100", 312 * kTera, 80 * kGiga, 2.0 * kTera, 300 * kGiga, 8, 400, kSheet, "vendor"},
      {"h100", 989 * kTera, 80 * kGiga, 3.35 * kTera, 450 * kGiga, 8, 700, kSheet, "vendor"},
      {"h200", 989 * kTera, 141 * kGiga, 4.8 * kTera, 450 * kGiga, 8, 700, kSheet, "vendor"},
      {"b200", 2250 * kTera, 180 * kGiga, 8.0 * kTera, 900 * kGiga, 8, 1000, kSheet, "vendor"},
      {"gb200", 2500 * kTera, 186 * kGiga, 8.0 * kTera, 900 * kGiga, 72, 1200, kSheet, "vendor"},
      {"mi300x", 1300 * kTera, 192 * kGiga, 5.3 * kTera, 448 * kGiga, 8, 750, kSheet, "vendor"},
      {"rtx-3090", 71 * kTera, 24 * kGiga, 0.936 * kTera, 31 * kGiga, 1, 350, kSheet, "estimate"},
      {"rtx-4090", 165.2 * kTera, 24 * kGiga, 1.008 * kTera, 31 * kGiga, 1, 450, kThird,
       "secondary"},
      {"rtx-5090", 209.5 * kTera, 32 * kGiga, 1.792 * kTera, 63 * kGiga, 1, 575, kThird,
       "secondary; peak estimate"},
  };
  return table;
}

const ChipEntry* find_chip(std::string_view name) {
  const auto found = std::find_if(chips().begin(), chips().end(),
                                  [name](const ChipEntry& chip) { return chip.name == name; });
  return found == chips().end() ? nullptr : &*found;
}

std::string catalogue_text() {
  std::string text = fmt::format("{:<9} {:>12} {:>9} {:>12} {:>13} {:>7} {:>21}  {}\n", "chip",
                                 "bf16 TFLOP/s", "memory GB", "memory TB/s", "scale-up GB/s",
                                 "domain", "power W", "certainty; source");
  for (const ChipEntry& chip : chips()) {
    text += fmt::format("{:<9} {:>12} {:>9.1f} {:>12} {:>13} {:>7} {:>21}  {}; {}\n", chip.name,
                        chip.peak_flops / kTera, chip.memory_bytes / kGiga,
                        chip.memory_bytes_per_s / kTera, chip.scale_up_bytes_per_s / kGiga,
                        chip.domain_chips,
                        power_text(chip),
                        chip.certainty, chip.source);
  }
  return text;
}

}  // namespace sim::scenario
