// tests/cli/sweep_file_test.cpp: the sweep.toml of a folder is the sweep: swept itself, it gives the same bytes.
//
// Goal:   no value that an axis decides is fixed in it, and nothing that it needs is left out.
// Method: each sweep is run from the user's file and from its own sweep.toml; tables and sweep.toml are compared.
// Teeth:  seen failing with a base whose derived values are written out (chips, prices, checksums), with files of
//         faults named and not taken in, with axes in step that may not repeat a value, and without the checksums
//         of data files.
#include <catch2/catch.hpp>
#include <set>

#include "tests/cli/small_sweep.h"

namespace tests_cli {
namespace {

using Catch::Matchers::Contains;

std::string swept(const std::string& text, const std::string& scenario = goodput_scenario()) {
  return scenario + "\n[sweep]\nseeds = \"1..2\"\n" + text;
}

std::string axis(const std::string& key, const std::string& values) {
  return "[[sweep.axis]]\nkey = \"" + key + "\"\nvalues = [" + values + "]\n";
}

// Sweeps `text` and what it wrote, in a folder of its own with `beside` in it; gives the rows.
std::vector<std::map<std::string, std::string>> swept_twice(const Place& place, const std::string& text,
                                                            const std::map<std::string, std::string>& beside = {}) {
  place.write("small.toml", text);
  for (const auto& [name, content] : beside) {
    place.write(name, content);
    place.write("again/" + name, content);
  }
  const Outcome first = atoll({"sweep", "small.toml"}, place.root);
  CHECK(first.err == "");
  REQUIRE(first.exit_code == 0);
  place.write("again/small.toml", table_of(place, kFolder, "sweep.toml"));
  const Outcome second = atoll({"sweep", "small.toml"}, place.root / "again");
  CHECK(second.err == "");
  REQUIRE(second.exit_code == 0);
  for (const char* name : {"runs.csv", "points.csv", "sweep.toml"}) {
    INFO(name);
    CHECK(table_of(place, "again/" + kFolder, name) == table_of(place, kFolder, name));
  }
  return rows_of(table_of(place, kFolder, "runs.csv"));
}

std::set<std::string> cells(const std::vector<std::map<std::string, std::string>>& rows, const std::string& column) {
  std::set<std::string> result;
  for (const auto& row : rows) result.insert(row.at(column));
  return result;
}

// Peak and watts come from the chip, prices from [cost]: a base in which they are written out has one of each.
TEST_CASE("sweep file: what a chip decides", "[cli][sweep]") {
  const Place place;
  const auto by_chip = swept_twice(place, swept("set = [\"training.step_time=0 s\"]\n" +
                                                axis("island.0.chip", "\"tpu-v5p\", \"tpu-v5e\"")));
  CHECK(cells(by_chip, "nominal.step_s").size() > 1);
  CHECK(cells(by_chip, "run_id").size() == by_chip.size());
}

TEST_CASE("sweep file: what a price decides", "[cli][sweep]") {
  const Place place;
  const auto by_price = swept_twice(place, swept(axis("cost.price", "\"1 USD/h\", \"2 USD/h\""),
                                                   goodput_scenario() + "[cost]\nprice = \"3 USD/h\"\n"));
  CHECK(cells(by_price, "cost_usd").size() > 1);
}

// A window of two symbols is the default of a perceptron, of 32 that of a transformer.
TEST_CASE("sweep file: defaults that depend on what is swept", "[cli][sweep]") {
  const Place place;
  const std::string learns = goodput_scenario() + "[learning]\nmodel = \"softmax\"\nevaluations = 2\nheld_out = 8\n";
  const auto rows = swept_twice(place, swept("arms = [\"decoupled\"]\nset = [\"marks.time=20 s\"]\n" +
                                                 axis("learning.model", "\"softmax\", \"transformer\""),
                                             learns));
  CHECK(cells(rows, "loss.final").size() == 4);
}

TEST_CASE("sweep file: axes in step", "[cli][sweep]") {
  const Place place;
  const auto steps = swept_twice(place, swept("combine = \"zip\"\n" + axis("failure.chips.mtbi", "\"30 d\", \"30 d\", \"1 y\"") +
                                            axis("training.upscale", "\"12 s\", \"24 s\", \"24 s\"")));
  REQUIRE(steps.size() == 3 * 2 * 2);
  CHECK(steps[4].at("failure.chips.mtbi_s") == "2592000");
  CHECK(steps[4].at("training.upscale_s") == "24");
  CHECK(steps[8].at("failure.chips.mtbi_s") == "31557600");
}

TEST_CASE("sweep file: samples of a cube", "[cli][sweep]") {
  const Place place;
  const auto samples = swept_twice(
      place, swept("combine = \"latin-hypercube\"\nsamples = 8\n" + axis("training.elastic", "true, false") +
                  "[[sweep.axis]]\nkey = \"training.upscale\"\nfrom = \"0 s\"\nto = \"80 s\"\n"));
  REQUIRE(samples.size() == 8 * 2 * 2);
  // One sample in each eighth of the range; each word of the list in every second one.
  std::set<int> strata;
  std::map<std::string, int> words;
  for (std::size_t i = 0; i < samples.size(); i += 4) {
    strata.insert(static_cast<int>(std::stod(samples[i].at("training.upscale_s")) / 10));
    ++words[samples[i].at("training.elastic")];
  }
  CHECK(strata.size() == 8);
  CHECK(words == std::map<std::string, int>{{"true", 4}, {"false", 4}});
}

TEST_CASE("sweep file: files that the scenario names", "[cli][sweep]") {
  std::string one, two;
  for (int i = 0; i < 300; ++i) {
    one += "the cat sat on the mat; ";
    two += "a dog ran off in the fog. ";
  }
  const std::string learns = goodput_scenario() + "[learning]\nmodel = \"softmax\"\ntask = \"text\"\nfile = \"one.txt\"\n";
  const Place place;
  const auto rows = swept_twice(place, swept("arms = [\"decoupled\"]\nset = [\"marks.time=2 min\", \"training.fragments=8\"]\n" +
                                                 axis("learning.file", "\"one.txt\", \"two.txt\""), learns),
                                {{"one.txt", one}, {"two.txt", two}});
  CHECK(cells(rows, "loss.final").size() == 4);
  // A file of this name with another content makes another sweep.
  place.write("two.txt", two + "!");
  CHECK_THAT(atoll({"sweep", "small.toml", "--resume"}, place.root).err, Contains("holds another sweep"));
}

const std::string kQuiet = "set = [\"failure.chips.mtbi=1e6 y\"]\n";  // nothing but what is written
const std::string kFaults =
    "at_s,kind,target_kind,target,for_s,rate_factor\n600,kill,island,cluster,60,\n1200,kill,island,cluster,30,\n";

// Recorded faults stand in it, so that a merge needs no other file.
TEST_CASE("sweep file: recorded faults are taken in", "[cli][sweep]") {
  const std::string scenario = goodput_scenario() + "fault = [{ file = \"faults.csv\" }]\n[[fault]]\nfile = \"faults.csv\"\n";
  const Place place;
  place.write("faults.csv", kFaults);
  const auto rows = swept_twice(place, swept(kQuiet + axis("training.upscale", "\"12 s\", \"24 s\""), scenario));
  CHECK(cells(rows, "faults_met") == std::set<std::string>{"2"});
}

// The file stays one of them, and the sweep must lie beside it.
TEST_CASE("sweep file: recorded faults stay a file where an axis counts faults", "[cli][sweep]") {
  const Place place;
  const std::string third = goodput_scenario() + "[[fault]]\nfile = \"faults.csv\"\n[[fault]]\nkind = \"kill\"\n"
                            "target = \"island:cluster\"\nat = \"30 min\"\nfor = \"60 s\"\n";
  const auto later = swept_twice(place, swept(kQuiet + axis("fault.1.at", "\"30 min\", \"40 min\""), third), {{"faults.csv", kFaults}});
  CHECK(cells(later, "faults_met") == std::set<std::string>{"3"});
}

}  // namespace
}  // namespace tests_cli
