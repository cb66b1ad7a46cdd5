// tests/experiment/journal_test.cpp: rows come back as written, torn and damaged lines do not.
//
// Teeth:  seen failing with the checksum not compared, with names looked up in another file's numbering,
//         with two results of one run taken in silence, with the second line of a file taken for its first,
//         and with a number looked for behind commas that stand in texts.
#include "sim/experiment/journal.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "sim/experiment/journal_count.h"
#include "tests/cli/run_command.h"

namespace sim::experiment {
namespace {

SweepRow row_of(std::uint64_t point, std::uint64_t seed, double value) {
  SweepRow row{{point, 0, seed}, "00112233aabbccdd", "", "", ""};
  auto summary = nlohmann::ordered_json::parse(
      R"({"format": 1, "arm": "x", "goodput": {"time": 0, "none": null}, "list": ["a", 1]})");
  summary["goodput"]["time"] = value;
  fill_from_summary(row, summary);
  return row;
}

SweepRow other_names(std::uint64_t point) {
  SweepRow row{{point, 0, 1}, "00112233aabbccdd", "", "", ""};
  fill_from_summary(row, nlohmann::ordered_json::parse(R"({"loss": 0.25})"));
  return row;
}

std::string read(const tests_cli::Place& place, Journal& journal, const std::string& version = "v") {
  return journal.read(place.root.string(), "sweep", version);
}

TEST_CASE("journal: summaries are flattened by their own shape", "[unit][experiment][sweep]") {
  const SweepRow row = row_of(0, 1, 0.5);
  CHECK(row.names == R"(["n format","n goodput.time","n goodput.none","t list"])");
  CHECK(row.values == R"([1,0.5,null,"[\"a\",1]"])");
}

TEST_CASE("journal: a row passes a pipe whole, and only whole", "[unit][experiment][sweep]") {
  const SweepRow row = row_of(7, 2, 0.5);
  const std::string bytes = to_bytes(row);
  const SweepRow back = row_from_bytes(bytes);
  CHECK(back.key == RunKey{7, row.key.arm, 2});
  CHECK(back.identity == row.identity);
  CHECK(back.reason == row.reason);
  CHECK(back.names == row.names);
  CHECK(back.values == row.values);
  CHECK_THROWS_AS(row_from_bytes(bytes.substr(0, bytes.size() - 1)), std::logic_error);
  CHECK_THROWS_AS(row_from_bytes(bytes + "x"), std::logic_error);
}

TEST_CASE("journal: rows of several files come back, each with its own names", "[unit][experiment][sweep]") {
  const tests_cli::Place place;
  {
    JournalWriter one(place.root.string(), "sweep", "v"), two(place.root.string(), "sweep", "v");
    one.append(row_of(0, 1, 0.5));
    one.append(other_names(1));
    two.append(other_names(2));  // number 0 in this file, 1 in the other
    two.append({{5, 0, 1}, "ff", "it \"crashed\", so", "", ""});
    two.sync();
  }
  Journal journal;
  CHECK(read(place, journal) == "");
  REQUIRE(journal.entries().size() == 4);
  const Journal::Row second = journal.row({2, 0, 1});
  CHECK(journal.names()[second.names] == R"(["n loss"])");
  CHECK(second.values == std::vector<std::string_view>{"0.25"});
  CHECK(journal.row({5, 0, 1}).reason == "it \"crashed\", so");
  CHECK(journal.entries().at({5, 0, 1}).failed);
  JournalCounter counter;
  CHECK(counter.update(place.root.string()).done == 4);
  CHECK(counter.count().failed == 1);
}

TEST_CASE("journal: a torn end and a damaged line are left out", "[unit][experiment][sweep]") {
  const tests_cli::Place place;
  {
    JournalWriter writer(place.root.string(), "sweep", "v");
    for (std::uint64_t seed = 1; seed <= 4; ++seed) writer.append(row_of(0, seed, 0.5));
  }
  std::string text = tests_cli::text_of(place.root / "00001.journal");
  const std::size_t second = text.find("\"run\",0,0,2");
  text[second + 10] = '7';             // another seed, an old checksum
  text.resize(text.size() - 7);        // and the last line torn
  place.write("00001.journal", text);
  Journal journal;
  CHECK(read(place, journal) == "");
  CHECK(journal.entries().size() == 2);
  CHECK(journal.entries().contains({0, 0, 1}));
  CHECK(journal.entries().contains({0, 0, 3}));
}

TEST_CASE("journal: what does not belong together is refused", "[unit][experiment][sweep]") {
  const tests_cli::Place place;
  const std::string file = place.path("00001.journal");
  JournalWriter(place.root.string(), "sweep", "v").append(row_of(0, 1, 0.5));
  Journal other_version;
  CHECK(read(place, other_version, "w") == file + ": error: holds runs of version v; this is w");
  CHECK(other_version.foreign());
  Journal other_sweep;
  CHECK(other_sweep.read(place.root.string(), "another", "v") == file + ": error: holds runs of another sweep");
  CHECK(other_sweep.foreign());
  // The same row again is no news; another result for it breaks law 1.
  JournalWriter(place.root.string(), "sweep", "v").append(row_of(0, 1, 0.5));
  Journal twice;
  CHECK(read(place, twice) == "");
  JournalWriter(place.root.string(), "sweep", "v").append(row_of(0, 1, 0.75));
  Journal contradiction;
  CHECK(read(place, contradiction) ==
        place.path("00003.journal") + ": error: one run has two results: point 0, arm 0, seed 1");
  CHECK_FALSE(contradiction.foreign());
}

TEST_CASE("journal: a file whose first line is damaged or gone is left out whole", "[unit][experiment][sweep]") {
  const tests_cli::Place place;
  JournalWriter(place.root.string(), "sweep", "v").append(row_of(0, 1, 0.5));
  JournalWriter(place.root.string(), "sweep", "v").append(row_of(0, 2, 0.5));
  const std::string text = tests_cli::text_of(place.root / "00001.journal");
  std::string damaged = text;
  damaged[20] = '#';
  for (const std::string& content : {damaged, text.substr(text.find('\n') + 1), std::string("no journal\n\n"), std::string()}) {
    place.write("00001.journal", content);
    Journal journal;
    CHECK(read(place, journal) == "");
    CHECK_FALSE(journal.foreign());
    CHECK(journal.entries().size() == 1);
    CHECK(journal.entries().contains({0, 0, 2}));
  }
}

// The whole parse is the second method.
TEST_CASE("journal: one number of a row, without the others", "[unit][experiment][sweep]") {
  const tests_cli::Place place;
  {
    JournalWriter writer(place.root.string(), "sweep", "v");
    SweepRow row{{0, 0, 1}, "00112233aabbccdd", "", "", ""};
    fill_from_summary(row, nlohmann::ordered_json::parse(
                               R"({"a": 1, "text": "x,\"[y]\\", "list": [1, "b,c"], "none": null, "goodput": {"time": 0.1, "n": 1e-7}})"));
    writer.append(row);
    writer.append(row_of(0, 2, 0.30000000000000004));
  }
  Journal journal;
  REQUIRE(read(place, journal) == "");
  for (const char* name : {"a", "text", "list", "none", "goodput.time", "goodput.n", "nothing"}) {
    CAPTURE(name);
    for (const auto& [key, entry] : journal.entries()) {
      const std::size_t at = journal.places_of(name)[entry.names];
      const auto got = Journal::number_at(entry, at);
      const auto whole = nlohmann::ordered_json::parse(entry.line).at(6);
      const bool is_number = at != std::string::npos && whole[at].is_number();
      REQUIRE(got.has_value() == is_number);
      if (is_number) CHECK(*got == whole[at].get<double>());
    }
  }
  for (const auto& [key, entry] : journal.entries()) {
    const auto whole = nlohmann::ordered_json::parse(entry.line).at(6);
    const Journal::Row row = journal.row(key);
    CHECK(row.identity == "00112233aabbccdd");
    REQUIRE(row.values.size() == whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) CHECK(row.values[i] == whole[i].dump());
  }
}

}  // namespace
}  // namespace sim::experiment
