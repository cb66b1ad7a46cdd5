// sim/experiment/sweep_row.cpp: see sweep_row.h.
#include "sim/experiment/sweep_row.h"

#include <cstring>
#include <stdexcept>

namespace sim::experiment {
namespace {

using Json = nlohmann::ordered_json;

void flatten(const Json& value, const std::string& name, Json& names, Json& values) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      flatten(inner, name.empty() ? key : name + "." + key, names, values);
    }
    return;
  }
  const bool number = value.is_number() || value.is_null();
  names.push_back((number ? "n " : "t ") + name);
  values.push_back(value.is_array() ? Json(value.dump()) : value);
}

void put(std::string& bytes, std::uint64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put(std::string& bytes, const std::string& text) {
  put(bytes, static_cast<std::uint64_t>(text.size()));
  bytes += text;
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool at_end() const { return rest_.empty(); }
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(static_cast<std::size_t>(number()))); }

 private:
  std::string_view take(std::size_t size) {
    if (rest_.size() < size) throw std::logic_error("a row of a run is cut short");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::string_view rest_;
};

}  // namespace

void fill_from_summary(SweepRow& row, const nlohmann::ordered_json& summary) {
  Json names = Json::array(), values = Json::array();
  for (const auto& [key, value] : summary.items()) {
    if (key == "arm" || key == "seed") continue;
    flatten(value, key, names, values);
  }
  row.names = names.dump();
  row.values = values.dump();
}

std::string to_bytes(const SweepRow& row) {
  std::string bytes;
  for (const std::uint64_t number : {row.key.point, row.key.arm, row.key.seed}) put(bytes, number);
  for (const std::string* text : {&row.identity, &row.reason, &row.names, &row.values}) put(bytes, *text);
  return bytes;
}

SweepRow row_from_bytes(std::string_view bytes) {
  Reader reader(bytes);
  SweepRow row;
  for (std::uint64_t* number : {&row.key.point, &row.key.arm, &row.key.seed}) *number = reader.number();
  for (std::string* text : {&row.identity, &row.reason, &row.names, &row.values}) *text = reader.text();
  if (!reader.at_end()) throw std::logic_error("a row of a run is followed by something else");
  return row;
}

}  // namespace sim::experiment
