// sim/scenario/load.cpp: read, apply --set, bind, check.
#include "sim/scenario/load.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "sim/scenario/bind.h"
#include "sim/scenario/parse.h"
#include "sim/scenario/scenario_schema.h"
#include "sim/scenario/validate.h"

namespace sim::scenario {

using base::Problems;

namespace {

std::string folder_of(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash + 1);
}

LoadResult failed(Problems& problems, bool file_missing) {
  LoadResult result;
  result.diagnostics = std::move(problems.list());
  base::sort_and_unite(result.diagnostics);
  result.file_missing = file_missing;
  return result;
}

// A file of another form is told just that: what else is wrong with it by our rules is no news.
bool is_our_form(const base::Value& root, Problems& problems) {
  const base::Value* const format = root.find("format");
  if (format == nullptr) return true;  // missing: one mistake among the others
  Scenario unused{};
  base::find_record(head_schema(), root, "format")->read(*format, &unused, problems);
  return problems.list().empty();
}

}  // namespace

LoadResult load_text(const std::string& text, const std::string& name,
                     const std::vector<std::string>& sets, std::optional<std::uint64_t> seed,
                     const std::optional<std::string>& folder) {
  Problems problems;
  base::Value root = parse_toml(text, name, problems);
  if (problems.list().empty() && !is_our_form(root, problems)) return failed(problems, false);
  std::vector<Override> changes;
  for (const std::string& set : sets) {
    if (auto change = parse_override(set, problems)) changes.push_back(std::move(*change));
  }
  if (!problems.list().empty()) return failed(problems, false);
  const std::string data_folder = folder ? *folder : folder_of(name);
  Bound bound = bind_scenario(std::move(root), changes, seed, data_folder, problems);
  bound.scenario.folder = data_folder;
  const bool whole = validate(bound, problems);
  if (!problems.list().empty()) {
    LoadResult refused = failed(problems, bound.file_missing);
    if (whole) refused.refused = std::move(bound.scenario);
    return refused;
  }
  LoadResult result;
  result.scenario = std::move(bound.scenario);
  return result;
}

LoadResult load_file(const std::string& path, const std::vector<std::string>& sets,
                     std::optional<std::uint64_t> seed) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  // A folder opens and then cannot be read.
  if (stream && stream.peek() != std::ifstream::traits_type::eof()) text << stream.rdbuf();
  if (!stream || stream.bad()) {
    Problems problems;
    problems.add({path, {}, ""}, "cannot be read", "give the path of a scenario file");
    return failed(problems, true);
  }
  return load_text(text.str(), path, sets, seed);
}

}  // namespace sim::scenario
