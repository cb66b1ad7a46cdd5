// tests/cases/names_test.cpp: whatever an arm is called, every format can be read again.
//
// Teeth: seen failing with a carriage return let through, with a bar that made a Markdown row one cell
//        longer, with a formula in the first cell, and with a folder cut at a slash.
#include <catch2/catch.hpp>

#include "sim/base/cell_text.h"
#include "sim/experiment/comparison.h"
#include "sim/experiment/comparison_format.h"
#include "sim/experiment/comparison_table.h"
#include "sim/scenario/csv_cells.h"
#include "sim/scenario/names.h"
#include "tests/cases/case_run.h"

namespace tests_cases {
namespace {

namespace experiment = sim::experiment;

sim::scenario::LoadResult named(const std::string& in_toml) {
  return load_case("d11_base", {"training.name=\"" + in_toml + "\""});
}

// Cells of the row of a Markdown table that begins with `first`; a bar behind a backslash is text.
std::size_t markdown_cells(const std::string& table, const std::string& first) {
  const std::size_t row = table.find("\n| " + first + " |");
  REQUIRE(row != std::string::npos);
  const std::string line = table.substr(row + 1, table.find('\n', row + 1) - row - 1);
  std::size_t bars = 0;
  for (std::size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
  return bars - 1;
}

}  // namespace

TEST_CASE("cases: names with control characters are refused", "[cases]") {
  for (const char* in_toml : {"a\\rb", "a\\u001b[31m", "a\\u0000b", "a\\nb", "a\\tb", "a\\u007fb", "a\\u009bb",
                              "a\\u202eb"}) {
    INFO(in_toml);
    const auto loaded = named(in_toml);
    REQUIRE_FALSE(loaded.scenario);
    const std::string text = sim::base::format(loaded.diagnostics);
    CHECK(text.find("training.name: must have no control character") != std::string::npos);
    for (const char c : text) CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
  }
  for (const char* key : {"name", "region.0.name", "island.0.name"}) {
    CHECK_FALSE(load_case("d11_base", {std::string(key) + "=\"a\\u001bb\""}).scenario);
  }
  CHECK_FALSE(load_case("d14_mtbf_mttr", {"failure.0.name=\"a\\u001bb\""}).scenario);
  CHECK(sim::scenario::trouble_with_name("a\xff") == "must be UTF-8");
  CHECK(sim::scenario::trouble_with_name("\xe2\x82\xac und Stra\xc3\x9f""e").empty());
}

TEST_CASE("cases: any other arm name comes back from every format", "[cases]") {
  for (const std::string name : {"a|b", "=1+1", "+a", "-a", "@a", "a,b", "a\"b", "a\\b", "a/b", "..", "'a", "a`b"}) {
    INFO(name);
    std::string in_toml;
    for (const char c : name) in_toml += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    const auto loaded = named(in_toml);
    INFO(sim::base::format(loaded.diagnostics));
    REQUIRE(loaded.scenario);
    const auto summary = nlohmann::ordered_json::parse(
        run_case("d11_base", name, {"training.name=\"" + in_toml + "\"", "marks.time=200 s"}).dump());
    CHECK(summary["arm"] == name);
    const std::vector<experiment::FinishedRun> runs = {{0, 1, summary}};
    const auto comparison = experiment::compare(*loaded.scenario, runs);
    const auto json = nlohmann::json::parse(experiment::as_json(comparison, {}, {}, runs));
    CHECK(json["arms"][0] == name);
    sim::base::Problems problems;
    const auto lines = sim::scenario::csv_lines(experiment::as_csv(comparison), "c", problems);
    CHECK(problems.list().empty());
    for (const auto& line : lines) REQUIRE(line.cells.size() == lines[0].cells.size());
    CHECK(lines[1].cells[2].text.find_first_of("=+-@") != 0);
    CHECK(sim::base::text_of_cell(lines[1].cells[2].text) == name);
    const std::string table = experiment::as_markdown(comparison);
    CHECK(markdown_cells(table, sim::base::markdown_cell(name)) == markdown_cells(table, "arm"));
    const std::string folder = sim::scenario::folder_name(name);
    CHECK(folder.find_first_of("/\\|\"") == std::string::npos);
    CHECK(folder != "..");
  }
}

TEST_CASE("cases: two arms never share a folder", "[cases]") {
  std::ifstream file(case_path("d11_base.toml"));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text.replace(text.find("[training]"), 10, "[training]\nname=\"First\"");
  const auto with = [&text](const std::string& name) {
    return sim::scenario::load_text(text + "\n[[arm]]\nname=\"" + name + "\"\n", "x.toml");
  };
  CHECK(with("third").scenario);
  const std::string told = sim::base::format(with("first").diagnostics);
  CHECK(told.find("must differ from arm \"First\" by more than capitals; got \"first\"") != std::string::npos);
  CHECK_FALSE(with(std::string(201, 'a')).scenario);
  CHECK(with(std::string(200, 'a')).scenario);
  CHECK(sim::scenario::folder_name("50 % of a/b") == "50 %25 of a%2Fb");
  CHECK(sim::scenario::folder_name("8 learners, wall clock") == "8 learners, wall clock");
}

}  // namespace tests_cases
