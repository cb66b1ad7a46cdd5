// sim/experiment/figure.h: one number out of a run's summary, by its dotted path.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace sim::experiment {

// "goodput.stepping" -> the number there. None when it is null ("not reached", "does not apply")
// or when there is no number under that path.
std::optional<double> figure_at(const nlohmann::ordered_json& summary, std::string_view path);

// Whether the path names a number or a null at all.
bool has_figure(const nlohmann::ordered_json& summary, std::string_view path);

// With so many decimals, or the shortest of five significant digits when `decimals` is negative.
// A value that rounds to zero has no sign.
std::string format_figure(double value, int decimals);

}  // namespace sim::experiment
