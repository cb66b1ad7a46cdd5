// sim/experiment/figure.cpp: see figure.h.
#include "sim/experiment/figure.h"

#include <fmt/format.h>

namespace sim::experiment {
namespace {

const nlohmann::ordered_json* find(const nlohmann::ordered_json& summary, std::string_view path) {
  const nlohmann::ordered_json* at = &summary;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    const std::string key(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    if (!at->is_object()) return nullptr;
    const auto entry = at->find(key);
    if (entry == at->end()) return nullptr;
    at = &*entry;
  }
  return at;
}

}  // namespace

std::optional<double> figure_at(const nlohmann::ordered_json& summary, std::string_view path) {
  const nlohmann::ordered_json* found = find(summary, path);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

bool has_figure(const nlohmann::ordered_json& summary, std::string_view path) {
  const nlohmann::ordered_json* found = find(summary, path);
  return found != nullptr && (found->is_number() || found->is_null());
}

std::string format_figure(double value, int decimals) {
  std::string text =
      decimals < 0 ? fmt::format("{:.5g}", value) : fmt::format("{:.{}f}", value, decimals);
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);
  return text;
}

}  // namespace sim::experiment
