// tests/experiment/scenario_changes_test.cpp: what is said of two resolved scenarios.
//
// Teeth:  seen failing with elements by index throughout, with the keys of an added element told one by one, and
//         with arms among the base's keys.
#include "sim/experiment/scenario_changes.h"

#include <catch2/catch.hpp>

namespace sim::experiment {
namespace {

std::vector<std::string> lines_of(const std::string& was, const std::string& now) {
  std::vector<std::string> lines;
  for (const ScenarioChange& change : scenario_changes(was, now)) lines.push_back(as_line(change));
  return lines;
}

using Lines = std::vector<std::string>;

constexpr const char* kArms =
    "[training]\nupscale = \"12 s\"\n"
    "[[arm]]\nname = \"elastic\"\n[arm.training]\nupscale = \"12 s\"\nsplit = \"equal\"\n"
    "[[arm]]\nname = \"by chips\"\n[arm.training]\nupscale = \"12 s\"\nsplit = \"by-chips\"\n";

TEST_CASE("scenario changes: an arm put in front hides nothing", "[unit][experiment][gate]") {
  const std::string now =
      "[training]\nupscale = \"24 s\"\n"
      "[[arm]]\nname = \"new\"\n[arm.training]\nupscale = \"24 s\"\nsplit = \"x\"\n"
      "[[arm]]\nname = \"elastic\"\n[arm.training]\nupscale = \"24 s\"\nsplit = \"equal\"\n"
      "[[arm]]\nname = \"by chips\"\n[arm.training]\nupscale = \"12 s\"\nsplit = \"by-chips\"\n";
  CHECK(lines_of(kArms, now) == Lines{"training.upscale: \"12 s\" -> \"24 s\"",
                                      "arm.elastic.training.upscale: \"12 s\" -> \"24 s\"", "arm.new: added"});
  CHECK(lines_of(now, kArms).back() == "arm.new: removed");
  CHECK(lines_of(kArms, kArms).empty());
}

TEST_CASE("scenario changes: names that need quotes, axes by key, keys that come and go", "[unit][experiment][gate]") {
  CHECK(lines_of("[[arm]]\nname = \"by chips\"\nx = 1\n", "[[arm]]\nname = \"by chips\"\nx = 2\n") ==
        Lines{"arm.\"by chips\".x: 1 -> 2"});
  CHECK(lines_of("[[sweep.axis]]\nkey = \"a.b\"\nvalues = [1]\n", "[[sweep.axis]]\nkey = \"a.b\"\nvalues = [1, 2]\n") ==
        Lines{"sweep.axis.\"a.b\".values: [1] -> [1, 2]"});
  CHECK(lines_of("a = 1\n", "b = 2\n") == Lines{"a: 1 -> (none)", "b: (none) -> 2"});
}

TEST_CASE("scenario changes: elements without a name of their own go by their index", "[unit][experiment][gate]") {
  CHECK(lines_of("[[fault]]\nat = 1\n[[fault]]\nat = 2\n", "[[fault]]\nat = 1\n[[fault]]\nat = 3\n[[fault]]\nat = 4\n") ==
        Lines{"fault[1].at: 2 -> 3", "fault[2]: added"});
  CHECK(lines_of("[[failure]]\nname = \"c\"\nx = 1\n[[failure]]\nname = \"c\"\nx = 2\n",
                 "[[failure]]\nname = \"c\"\nx = 1\n[[failure]]\nname = \"c\"\nx = 3\n") ==
        Lines{"failure[1].x: 2 -> 3"});
}

TEST_CASE("scenario changes: base first, then arms, then the sweep", "[unit][experiment][gate]") {
  const auto text = [](int x) {
    const std::string number = std::to_string(x);
    return "zebra = " + number + "\n[[arm]]\nname = \"a\"\nx = " + number + "\n[sweep]\nseeds = " + number + "\n";
  };
  CHECK(lines_of(text(1), text(2)) == Lines{"zebra: 1 -> 2", "arm.a.x: 1 -> 2", "sweep.seeds: 1 -> 2"});
}

}  // namespace
}  // namespace sim::experiment
