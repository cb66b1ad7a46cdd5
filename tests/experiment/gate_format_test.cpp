// tests/experiment/gate_format_test.cpp: the exact texts of a gate's report, with names that hurt.
//
// Teeth:  seen failing with nothing escaped, with `&` alone left as it is, with control characters in XML, with
//         failures="0", with an empty repeat line, with raw names in Markdown, with a fence of three backticks
//         throughout, with failing rows cut, with all rows in Markdown, with new points not counted, and with
//         the level shown in exact mode.
#include <catch2/catch.hpp>
#include <fstream>

#include "sim/experiment/command.h"
#include "sim/experiment/gate.h"
#include "tests/cli/run_command.h"

namespace sim::experiment {
namespace {

using Catch::Matchers::Contains;

GateReport report_of_five() {
  GateReport report;
  report.metrics = {"goodput.stepping"};
  report.version_before = "1";
  report.version_after = "2";
  report.seeds_before = {10, 10};
  report.seeds_after = {10, 30};
  report.test = "paired by seed";
  report.tail = 0.0025;
  report.smallest_loss = 0.005;
  report.changes = {{ScenarioChange::Kind::kValue, "training.upscale", "\"12 s\"", "\"24 s\""},
                    {ScenarioChange::Kind::kAdded, "arm.x", "", ""}};
  report.cells = {
      {"p=\"1 d\"", "a|b`<x>@me", "goodput.stepping", CellVerdict::kWorse, 0.9, 0.875, {0.025, 0.0125, 0.0375}, "atoll run 'a & b'", true},
      {"", "gone", "goodput.stepping", CellVerdict::kMissing, 0.5, 0, {}, "", true},
      {"p=\"2 d\"", "plain", "goodput.stepping", CellVerdict::kHeld, 0.75, 0.75, {0, -0.001, 0.001}, "c", false},
      {"p=\"3 d\"", "plain", "goodput.stepping", CellVerdict::kNew, 0, 0.25, {}, "c", false},
      {"p=\"4 d\"", "plain", "goodput.stepping", CellVerdict::kBetter, 0.75, 0.8, {-0.05, -0.06, -0.04}, "c", false}};
  return report;
}

TEST_CASE("gate text: worst points first, each failing one with its command", "[unit][experiment][gate]") {
  CHECK(as_text(report_of_five()) ==
        "metric goodput.stepping, 10 seeds before, 10 to 30 now; test: paired by seed\n"
        "a point fails from a loss of 0.50 points on, at 0.0025 one-sided (0.01 family-wise)\n"
        "version before 1, now 2\n"
        "changed keys:\n"
        "  training.upscale: \"12 s\" -> \"24 s\"\n"
        "  arm.x: added\n"
        "\n"
        "            loss  at least   before      now  point\n"
        "WORSE       2.50      1.25    90.00    87.50  a|b`<x>@me: p=\"1 d\"\n"
        "         repeat: atoll run 'a & b'\n"
        "MISSING                       50.00           gone\n"
        "held        0.00     -0.10    75.00    75.00  plain: p=\"2 d\"\n"
        "new                                    25.00  plain: p=\"3 d\"\n"
        "better     -5.00     -6.00    75.00    80.00  plain: p=\"4 d\"\n"
        "\n"
        "FAILED: 2 of 4 points; 1 held, 1 better, 1 new\n");
}

TEST_CASE("gate text: what passed is counted without what is new", "[unit][experiment][gate]") {
  GateReport report = report_of_five();
  report.cells.erase(report.cells.begin(), report.cells.begin() + 2);
  CHECK_THAT(as_text(report), Catch::Matchers::EndsWith("\npassed: 1 of 2 points held, 1 better, 1 new\n"));
}

TEST_CASE("gate text: exact mode shows no bounds", "[unit][experiment][gate]") {
  GateReport report = report_of_five();
  report.exact = true;
  report.test = "exact: trace hashes";
  report.cells.resize(1);
  report.cells[0].verdict = CellVerdict::kChanged;
  const std::string text = as_text(report);
  CHECK_THAT(text, Contains("\na point fails when a trace differs\n"));
  CHECK_THAT(text, Contains("\nCHANGED                       90.00    87.50  a|b`<x>@me: p=\"1 d\"\n"));
  CHECK_THAT(text, !Contains("one-sided"));
}

TEST_CASE("gate text: no failing point and no changed key is cut", "[unit][experiment][gate]") {
  GateReport report = report_of_five();
  const GateCell worse = report.cells[0], held = report.cells[2];
  report.cells.assign(40, worse);
  report.cells.insert(report.cells.end(), 5, held);
  report.changes.assign(50, report.changes[0]);
  const auto count = [](const std::string& text, const std::string& word) {
    std::size_t found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
  };
  CHECK(count(as_text(report), "\nWORSE ") == 40);
  CHECK(count(as_text(report), "training.upscale") == 50);
  CHECK_THAT(as_text(report), Contains("\nand 5 more, none of which fails\n"));
  CHECK(count(as_markdown(report), "\n| WORSE ") == 30);
  CHECK_THAT(as_markdown(report), Contains("\nand 15 more, 10 of which fail\n") && Contains("\nand 30 more changed\n"));
}

TEST_CASE("gate Markdown: names can neither end a cell nor call anybody", "[unit][experiment][gate]") {
  CHECK(as_markdown(report_of_five()) ==
        "### Goodput gate: FAILED: 2 of 4 points; 1 held, 1 better, 1 new\n"
        "\n"
        "| | loss (points) | at least | before (%) | now (%) | arm | point |\n"
        "|---|---:|---:|---:|---:|---|---|\n"
        "| WORSE | 2.50 | 1.25 | 90.00 | 87.50 | <code>a&#124;b&#96;&#60;x&#62;&#64;me</code> | "
        "<code>p=\"1 d\"</code> |\n"
        "| MISSING |  |  | 50.00 |  | <code>gone</code> |  |\n"
        "| held | 0.00 | -0.10 | 75.00 | 75.00 | <code>plain</code> | <code>p=\"2 d\"</code> |\n"
        "| new |  |  |  | 25.00 | <code>plain</code> | <code>p=\"3 d\"</code> |\n"
        "| better | -5.00 | -6.00 | 75.00 | 80.00 | <code>plain</code> | <code>p=\"4 d\"</code> |\n"
        "\n"
        "```\n"
        "metric goodput.stepping, 10 seeds before, 10 to 30 now; test: paired by seed\n"
        "a point fails from a loss of 0.50 points on, at 0.0025 one-sided (0.01 family-wise)\n"
        "version before 1, now 2\n"
        "changed training.upscale: \"12 s\" -> \"24 s\"\n"
        "changed arm.x: added\n"
        "repeat: atoll run 'a & b'\n"
        "```\n");
  GateReport report = report_of_five();
  report.cells[0].command = "atoll run '```'";
  report.cells[0].arm = "a\nb";
  CHECK_THAT(as_markdown(report), Contains("| <code>a&#65533;b</code> |") && Contains("\n````\nmetric ") &&
                                      Catch::Matchers::EndsWith("\nrepeat: atoll run '```'\n````\n"));
}

TEST_CASE("gate JUnit: exact text", "[unit][experiment][gate]") {
  CHECK(as_junit(report_of_five()) ==
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuite name=\"atoll check: goodput.stepping\" tests=\"5\" failures=\"2\" errors=\"0\">\n"
        "  <testcase classname=\"a|b`&lt;x&gt;@me\" name=\"p=&quot;1 d&quot;\">\n"
        "    <failure message=\"WORSE: loss 2.50 points, at least 1.25, from 90.00 to 87.50 %\">"
        "WORSE: loss 2.50 points, at least 1.25, from 90.00 to 87.50 %&#10;repeat: atoll run 'a &amp; b'</failure>\n"
        "  </testcase>\n"
        "  <testcase classname=\"gone\" name=\"gone\">\n"
        "    <failure message=\"MISSING: was 50.00 %, is measured no more\">"
        "MISSING: was 50.00 %, is measured no more</failure>\n"
        "  </testcase>\n"
        "  <testcase classname=\"plain\" name=\"p=&quot;2 d&quot;\"></testcase>\n"
        "  <testcase classname=\"plain\" name=\"p=&quot;3 d&quot;\"></testcase>\n"
        "  <testcase classname=\"plain\" name=\"p=&quot;4 d&quot;\"></testcase>\n"
        "</testsuite>\n");
}

// What a parser reads back, one fact a line.
std::string parsed(const std::string& xml) {
  const tests_cli::Place place;
  const std::string path = place.write("report.xml", xml);
  constexpr const char* kScript = R"(
import sys, xml.etree.ElementTree as tree
suite = tree.parse(sys.argv[1]).getroot()
print(suite.tag, suite.get('tests'), suite.get('failures'), suite.get('errors'))
for case in suite:
    print(case.tag, ascii(case.get('classname')), ascii(case.get('name')))
    for fault in case:
        print(fault.tag, ascii(fault.get('message')), ascii(fault.text))
)";
  return run_command({"/usr/bin/python3", "-c", kScript, path}).output;
}

TEST_CASE("gate JUnit: a parser reads the names back; what XML cannot hold is replaced", "[unit][experiment][gate]") {
  if (!std::ifstream("/usr/bin/python3")) return;  // only this second reader is missing: the exact text is above
  GateReport report = report_of_five();
  report.cells[0].arm = "<a & \"b\">\n\tc\x01\x1f";
  report.cells.resize(2);
  CHECK(parsed(as_junit(report)) ==
        "testsuite 2 2 0\n"
        "testcase '<a & \"b\">\\n\\tc\\ufffd\\ufffd' 'p=\"1 d\"'\n"
        "failure 'WORSE: loss 2.50 points, at least 1.25, from 90.00 to 87.50 %' "
        "\"WORSE: loss 2.50 points, at least 1.25, from 90.00 to 87.50 %\\nrepeat: atoll run 'a & b'\"\n"
        "testcase 'gone' 'gone'\n"
        "failure 'MISSING: was 50.00 %, is measured no more' 'MISSING: was 50.00 %, is measured no more'");
  CHECK(parsed(failed_run_as_junit({"uptime"}, "arm <a>, seed 5: x\n  repeat with: atoll run 'a'")) ==
        "testsuite 1 0 1\n"
        "testcase 'runs' 'all runs end'\n"
        "error 'a run failed: arm <a>, seed 5: x' \"a run failed: arm <a>, seed 5: x\\n  repeat with: atoll run 'a'\"");
  CHECK(failed_run_as_markdown({"uptime"}, "arm a: x") ==
        "### Goodput gate: no verdict on <code>uptime</code>\n\n```\na run failed: arm a: x\n```\n");
}

}  // namespace
}  // namespace sim::experiment
