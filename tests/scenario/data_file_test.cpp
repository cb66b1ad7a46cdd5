// tests/scenario/data_file_test.cpp: files that [learning] names: what they become, and every mistake in
// them with its exact text and place.
//
// Teeth:  seen failing with a byte order mark or a carriage return kept, with blank lines read, with columns
//         counted from 0, with classes left out or all alike, with a plus sign or a text's end let through, with
//         more than ten mistakes told or the rest not counted, with a table of one row or without numbers or with
//         a name twice let through, with the checksum not compared or not kept, with a folder read as a file, with
//         each arm's text its own, and with an empty text or one of a single byte let through.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "optim/csv_task.h"
#include "optim/text_task.h"
#include "sim/base/diagnostic.h"
#include "sim/scenario/csv_file.h"
#include "sim/scenario/load.h"

using namespace sim;
namespace fs = std::filesystem;

namespace {

// A folder of its own, gone afterwards.
struct Folder {
  Folder() {
    path = (fs::temp_directory_path() / "atoll-data-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("mkdtemp");
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(fs::path(path) / name, std::ios::binary) << text;
  }
  std::string path;
};

// The keys of [learning] start at line 10; the last line of it is `batch = 8`.
std::string scenario_with(const std::string& learning) {
  return R"(format = 1
name = "Data"
seed = 1
marks = { time = "1 min" }
[model]
parameters = 1e6
batch_tokens = 4096

[learning]
)" + learning + R"(batch = 8
[[region]]
name = "here"
[[island]]
name = "a"
count = 2
region = "here"
chips = 4
peak = "1 TFLOP/s"
[[island]]
name = "b"
region = "here"
chips = 4
peak = "1 TFLOP/s"
[training]
method = "data-parallel"
span = true
)";
}

std::string text_keys(const std::string& file) {
  return "model = \"mlp\"\ntask = \"text\"\nfile = \"" + file + "\"\n";
}
std::string csv_keys(const std::string& file) {
  return "model = \"softmax\"\ntask = \"csv\"\nfile = \"" + file + "\"\n";
}

scenario::LoadResult load(const Folder& folder, const std::string& learning,
                          const std::vector<std::string>& sets = {}) {
  return scenario::load_text(scenario_with(learning), "x.toml", sets, std::nullopt, folder.path + "/");
}

// What a scenario with these keys says, with the folder left out.
std::string told(const Folder& folder, const std::string& learning,
                 const std::vector<std::string>& sets = {}) {
  const auto result = load(folder, learning, sets);
  CHECK_FALSE(result.scenario);
  CHECK_FALSE(result.file_missing);
  std::string text = base::format(result.diagnostics);
  const std::string lead = folder.path + "/";
  for (std::size_t at; (at = text.find(lead)) != std::string::npos;) text.erase(at, lead.size());
  return text;
}

std::string csv_told(const std::string& content, const std::string& more_keys = "") {
  const Folder folder;
  folder.write("f.csv", content);
  return told(folder, csv_keys("f.csv") + more_keys);
}

const std::string kTable =
    "length,width,kind\n1,2.5,b\n-3e2, +4 ,a\r\n\n0.5,0,b\n1,1,c\n2,2,a\n3,3,c\n";

TEST_CASE("data files: a text becomes symbols, sizes and a checksum") {
  const Folder folder;
  folder.write("t.txt", std::string(40, 'b') + std::string(40, 'a') + "\n");
  const auto result = load(folder, text_keys("t.txt") + "context = 2\n");
  INFO(base::format(result.diagnostics));
  REQUIRE(result.scenario);
  const auto& learning = result.scenario->arms[0].learning;
  CHECK(learning.task.text->alphabet == std::vector<std::uint8_t>{'\n', 'a', 'b'});
  CHECK(learning.task.classes == 3);
  CHECK(learning.model.inputs == 6);
  CHECK(learning.model.outputs == 3);
  CHECK(learning.data.bytes == 81);
  CHECK(learning.data.checksum.size() == 16);
}

TEST_CASE("data files: a table becomes numbers and sorted classes") {
  base::Problems problems;
  const auto table = scenario::parse_table(kTable, {"f.csv", "", {}, {}}, problems);
  INFO(base::format(problems.list()));
  REQUIRE(table);
  CHECK(table->columns == 2);
  CHECK(table->features ==
        std::vector<double>{1, 2.5, -300, 4, 0.5, 0, 1, 1, 2, 2, 3, 3});
  CHECK(table->classes == std::vector<std::string>{"a", "b", "c"});
  CHECK(table->labels == std::vector<std::int32_t>{1, 0, 1, 2, 0, 2});
  // The target may be any column, and its numbers are texts like others; a byte order mark is no name.
  const auto first = scenario::parse_table("\xef\xbb\xbf" "y,x\n10,1\n9,2\n", {"f.csv", "y", {}, {}}, problems);
  REQUIRE(first);
  CHECK(first->classes == std::vector<std::string>{"10", "9"});
  CHECK(first->features == std::vector<double>{1, 2});
}

TEST_CASE("data files: all arms share one text, and the content is part of the identity") {
  const Folder folder;
  folder.write("t.txt", std::string(200, 'a') + std::string(200, 'b'));
  const std::string text = scenario_with(text_keys("t.txt")) + "[[arm]]\nname = \"two\"\n";
  const auto load_it = [&](const std::string& what) {
    return scenario::load_text(what, "x.toml", {}, std::nullopt, folder.path + "/");
  };
  const auto one = load_it(text);
  INFO(base::format(one.diagnostics));
  REQUIRE(one.scenario);
  CHECK(one.scenario->arms[0].learning.task.text == one.scenario->arms[1].learning.task.text);
  // The resolved text holds the checksum; beside the file it is the same scenario.
  const std::string resolved = scenario::resolved_text(*one.scenario);
  const auto again = load_it(resolved);
  INFO(base::format(again.diagnostics));
  REQUIRE(again.scenario);
  CHECK(scenario::resolved_text(*again.scenario) == resolved);
  folder.write("t.txt", std::string(200, 'a') + std::string(200, 'c'));
  const auto other = load_it(text);
  REQUIRE(other.scenario);
  CHECK(scenario::scenario_hash(*other.scenario) != scenario::scenario_hash(*one.scenario));
  CHECK_FALSE(load_it(resolved).scenario);
}

TEST_CASE("data files: shards are counted by the fleet's islands, or as written") {
  const Folder folder;
  folder.write("t.txt", std::string(200, 'a') + std::string(200, 'b'));
  const auto shards_of = [&](const std::string& keys, const std::string& training) {
    const auto result = scenario::load_text(scenario_with(text_keys("t.txt") + keys) + training,
                                            "x.toml", {}, std::nullopt, folder.path + "/");
    INFO(base::format(result.diagnostics));
    REQUIRE(result.scenario);
    return result.scenario->arms[0].learning.task.shards;
  };
  CHECK(shards_of("shards = \"contiguous\"\n", "").count == 3);
  CHECK(shards_of("shards = \"contiguous\"\n", "use = [\"island:b\"]\n").count == 3);
  const auto written = shards_of("shards = \"dirichlet\"\nshard_count = 4\nconcentration = 2\n", "");
  CHECK(written.count == 4);
  CHECK(written.concentration == 2.0);
  CHECK(written.slots == 8);
  CHECK(written.kind == optim::ShardKind::kDirichlet);
}

TEST_CASE("data files: a file that cannot be read is told at its key, and is no mistake of content") {
  const Folder folder;
  fs::create_directory(fs::path(folder.path) / "sub");
  for (const char* name : {"none.txt", "sub", "/nowhere/none.txt", "/dev/zero"}) {
    const auto result = load(folder, text_keys(name));
    CHECK(result.file_missing);
    CHECK(base::format(result.diagnostics) ==
          std::string("x.toml:12:8: error: learning.file: cannot be read; got \"") + name + "\"\n" +
              (name[0] == '/' ? "" : "  hint: files are looked for beside the scenario\n"));
  }
  const auto csv = load(folder, csv_keys("none.csv"));
  CHECK(csv.file_missing);
  // Without mathematics nobody reads it.
  CHECK(load(folder, "model = \"none\"\ntask = \"text\"\nfile = \"none.txt\"\n").scenario);
}

TEST_CASE("data files: texts that make no task have exact texts") {
  const Folder folder;
  folder.write("empty", "");
  folder.write("one", std::string(100, 'a'));
  folder.write("short", "abcdefghijklmnopqrstuvwxyz0123");  // 30 bytes, 3 held out
  CHECK(told(folder, text_keys("empty")) ==
        "x.toml:12:8: error: learning.file: names an empty file; got \"empty\"\n");
  CHECK(told(folder, text_keys("one")) ==
        "x.toml:12:8: error: learning.file: must hold at least two different bytes; \"one\" has one\n");
  CHECK(told(folder, text_keys("short") + "context = 3\n") ==
        "x.toml:13:11: error: learning.context: must be less than the held-out tenth of the file (3 of "
        "30 bytes); got 3\n  hint: a longer file, or a smaller context\n");
  CHECK(load(folder, text_keys("short") + "context = 2\n").scenario);
  // 16 held out; 144 trained on, in 12 parts of 12.
  folder.write("tight", std::string(100, 'a') + std::string(60, 'b'));
  const std::string parts = "shards = \"dirichlet\"\nshard_count = 12\n";
  CHECK(load(folder, text_keys("tight") + "context = 11\n" + parts, {"learning.batch=16"}).scenario);
  CHECK(told(folder, text_keys("tight") + "context = 12\n" + parts, {"learning.batch=16"}) ==
        "x.toml:13:11: error: learning.context: must be less than a shard's part of the file (12 of 160 "
        "bytes); got 12\n  hint: a longer file, or a smaller context\n");
}

TEST_CASE("data files: mistakes in a table have exact texts and places") {
  CHECK(csv_told("") == "x.toml:12:8: error: learning.file: names an empty file; got \"f.csv\"\n");
  CHECK(csv_told("a,kind\n") ==
        "x.toml:12:8: error: learning.file: must have at least two rows below the header; f.csv has 0\n");
  CHECK(csv_told("a,kind\n1,x\n") ==
        "x.toml:12:8: error: learning.file: must have at least two rows below the header; f.csv has 1\n");
  CHECK(csv_told("a,b,kind\n1,2,x\n3,,y\n") ==
        "f.csv:3:3: error: b: must have a value; got an empty cell\n");
  CHECK(csv_told("a,b,kind\n1,2,x\n3, nan,y\n1,-inf,y\n") ==
        "f.csv:3:4: error: b: must be a finite number; got \"nan\"\n"
        "f.csv:4:3: error: b: must be a finite number; got \"-inf\"\n");
  CHECK(csv_told("a,b,kind\n1,2,x\n3,4x,y\n1,1e200,y\n1,1e400,y\n") ==
        "f.csv:3:3: error: b: must be a number; got \"4x\"\n"
        "  hint: only the column that learning.target names may hold text\n"
        "f.csv:4:3: error: b: must be between -1e100 and 1e100; got \"1e200\"\n"
        "f.csv:5:3: error: b: must be between -1e100 and 1e100; got \"1e400\"\n");
  CHECK(csv_told("a,b,kind\n1,2,x\n\n3,y\n1,2,3,y\n") ==
        "f.csv:4:1: error: must have 3 cells, one per column; got 2\n"
        "f.csv:5:1: error: must have 3 cells, one per column; got 4\n");
  CHECK(csv_told("a,kind\n1,x\n2,x\n") ==
        "x.toml:9:1: error: learning.target: must name a column with 2 to 100000 different values; "
        "\"kind\" has 1\n");
  CHECK(csv_told("a,kind\n1,x\n2,y\n", "target = \"kin\"\n") ==
        "x.toml:13:10: error: learning.target: no column of f.csv has this name; got \"kin\"\n"
        "  hint: did you mean 'kind'?\n");
  CHECK(csv_told("a,kind\n1,x\n2,y\n", "target = \"species\"\n") ==
        "x.toml:13:10: error: learning.target: no column of f.csv has this name; got \"species\"\n"
        "  hint: columns are a kind\n");
  CHECK(csv_told("kind\nx\ny\n") ==
        "f.csv:1:1: error: kind: must stand beside a column of numbers\n");
  CHECK(csv_told("a,,a\n1,2,x\n") ==
        "f.csv:1:3: error: a column must have a name\n"
        "f.csv:1:4: error: a: must be unique; column 1 has this name already\n");
}

TEST_CASE("data files: of many wrong cells ten are told, and how many more there are") {
  std::string content = "a,kind\n";
  for (int row = 0; row < 25; ++row) content += "?,x\n";
  const std::string text = csv_told(content);
  CHECK(text.starts_with("f.csv: error: 15 further cells are wrong\nf.csv:2:1: error: a: must be a number"));
  CHECK(text.find("f.csv:11:1:") != std::string::npos);
  CHECK(text.find("f.csv:12:1:") == std::string::npos);
}

TEST_CASE("data files: another content than the checksum's is refused") {
  const Folder folder;
  folder.write("f.csv", kTable);
  const auto good = load(folder, csv_keys("f.csv"));
  INFO(base::format(good.diagnostics));
  REQUIRE(good.scenario);
  const std::string checksum = good.scenario->arms[0].learning.data.checksum;
  CHECK(load(folder, csv_keys("f.csv") + "checksum = \"" + checksum + "\"\n").scenario);
  CHECK(told(folder, csv_keys("f.csv") + "checksum = \"0123456789abcdef\"\n") ==
        "x.toml:13:12: error: learning.checksum: must be that of \"f.csv\" (" + checksum +
            "); got \"0123456789abcdef\"\n"
            "  hint: it is another file than the scenario was written for\n");
}

TEST_CASE("data files: shards that a task has no sense for have exact texts") {
  const Folder folder;
  folder.write("f.csv", kTable);
  const std::string contiguous = "shards = \"contiguous\"\n";
  CHECK(told(folder, "model = \"quadratic\"\ntask = \"quadratic\"\nshards = \"dirichlet\"\n") ==
        "x.toml:12:10: error: learning.shards: must be \"iid\" for task \"quadratic\"; got \"dirichlet\"\n"
        "  hint: its examples have neither classes nor an order\n");
  CHECK(told(folder, "model = \"softmax\"\ntask = \"markov\"\n" + contiguous) ==
        "x.toml:12:10: error: learning.shards: must be \"iid\" or \"dirichlet\" for task \"markov\"; got "
        "\"contiguous\"\n  hint: drawn examples have no order to cut parts from\n");
  CHECK(told(folder, "model = \"softmax\"\ntask = \"teacher\"\n" + contiguous) ==
        "x.toml:12:10: error: learning.shards: must be \"iid\" or \"dirichlet\" for task \"teacher\"; got "
        "\"contiguous\"\n  hint: drawn examples have no order to cut parts from\n");
  CHECK(told(folder, csv_keys("f.csv") + "shard_count = 9\nshards = \"dirichlet\"\n") ==
        "x.toml:13:15: error: learning.shard_count: must not exceed learning.batch (8); got 9\n"
        "  hint: each shard needs a slot of the batch\n");
  CHECK(told(folder, csv_keys("f.csv") + "shard_count = 6\n" + contiguous) ==
        "x.toml:13:15: error: learning.shard_count: must not exceed the rows that are trained on (5); got "
        "6\n");
  CHECK(load(folder, csv_keys("f.csv") + "shard_count = 5\n" + contiguous).scenario);
}

TEST_CASE("data files: the shipped text scenario reads the word list") {
  if (!fs::exists("/usr/share/dict/words")) {
    WARN("skipped: no /usr/share/dict/words (package wamerican)");
    return;
  }
  const auto result = scenario::load_file(std::string(ATOLL_SOURCE_DIR) + "/scenarios/text.toml");
  INFO(base::format(result.diagnostics));
  REQUIRE(result.scenario);
  const auto& learning = result.scenario->arms[0].learning;
  CHECK(learning.data.bytes == static_cast<std::int64_t>(fs::file_size("/usr/share/dict/words")));
  CHECK(learning.task.shards.count == 3);
  CHECK(learning.model.inputs == 3 * learning.model.outputs);
  CHECK(result.scenario->arms[2].learning.task.shards.kind == optim::ShardKind::kIid);
}

}  // namespace
