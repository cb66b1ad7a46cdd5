// sim/chaos/fault_schema.h: the keys of [[failure]] and [[fault]], and how targets are written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/base/schema.h"
#include "sim/chaos/fault_options.h"

namespace sim::chaos {

const base::SchemaOf<FailureOptions>& failure_schema();
const base::SchemaOf<FaultOptions>& fault_schema();

// Names as they stand in scenarios and faults.csv: "region", "rate-cut" ...; none: unknown.
std::string_view target_kind_name(tape::TargetKind kind);
std::string_view fault_kind_name(tape::FaultKind kind);
std::string_view clock_name(Clock clock);
std::optional<tape::TargetKind> find_target_kind(std::string_view name);
std::optional<tape::FaultKind> find_fault_kind(std::string_view name);

// A link is named by its regions, in the order of the [[region]] list: "us-central--us-west".
std::string link_name(std::string_view region_a, std::string_view region_b);

// "region:us-west" is a kind and a name. Adds a diagnostic and returns false when it is not.
bool read_target(const base::Value& value, FaultOptions& fault, base::Problems& problems);
std::string target_text(tape::TargetKind kind, std::string_view name);

}  // namespace sim::chaos
