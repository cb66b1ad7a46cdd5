// tests/experiment/version_test.cpp: which commit a tree of sources takes for its own.
//
// Method: small trees, written by hand, for the script that every build runs.
// Teeth:  seen failing with the commit of the repository around taken for the tree's own.
#include <catch2/catch.hpp>

#include "tests/cli/run_command.h"

namespace {

using Catch::Matchers::StartsWith;
using tests_cli::Place;

void write_tree(const Place& place, const std::string& below) {
  for (const char* name : {"sim/one.cpp", "optim/two.cpp", "failure_models/three.cpp", "CMakeLists.txt"}) {
    place.write(below + name, std::string("// ") + name + "\n");
  }
}

std::string run(const Place& place, const std::string& line) {
  const tests_cli::Outcome got = tests_cli::shell("set -e; " + line, place.root);
  INFO(line << ": " << got.err);
  REQUIRE(got.exit_code == 0);
  return got.out;
}

const std::string kCommit =
    "git add -A && git -c user.name=n -c user.email=e -c commit.gpgsign=false commit -q -m first";

// What the header says of the tree in `folder`.
std::string commit_of(const Place& place, const std::string& folder) {
  run(place, "cmake -DSOURCE_DIR=" + place.path(folder) + " -DOUTPUT=" + place.path("version.h") +
                 " -DRELEASE=1 -DISA=x -DSIMGRID_VERSION=3 -P " ATOLL_SOURCE_DIR
                 "/sim/experiment/write_version.cmake");
  const std::string text = tests_cli::text_of(place.root / "version.h");
  const std::string lead = "#define ATOLL_COMMIT \"";
  const std::size_t begin = text.find(lead) + lead.size();
  return text.substr(begin, text.find('"', begin) - begin);
}

TEST_CASE("version: the tree's own commit, or a hash of what stands in it", "[unit][experiment]") {
  const Place place;
  write_tree(place, "own/");
  const std::string none = commit_of(place, "own");
  CHECK_THAT(none, StartsWith("nogit."));
  run(place, "cd own && git init -q . && " + kCommit);
  const std::string head = run(place, "cd own && git rev-parse --short=12 HEAD");
  CHECK(commit_of(place, "own") + "\n" == head);
  place.write("own/sim/one.cpp", "// changed\n");
  CHECK_THAT(commit_of(place, "own"), StartsWith(head.substr(0, 12) + "-dirty."));
  // By another name of the same folder.
  run(place, "ln -s own other");
  CHECK_THAT(commit_of(place, "other"), StartsWith(head.substr(0, 12) + "-dirty."));
}

TEST_CASE("version: a repository around the tree is another's", "[unit][experiment]") {
  const Place place;
  place.write("outer/.gitignore", "ignored\n");
  run(place, "cd outer && git init -q . && " + kCommit);
  write_tree(place, "outer/ignored/");
  const std::string ignored = commit_of(place, "outer/ignored");
  CHECK_THAT(ignored, StartsWith("nogit."));
  write_tree(place, "outer/copied/");
  run(place, "cd outer && " + kCommit);
  CHECK(commit_of(place, "outer/copied") == ignored);  // the same sources
  place.write("outer/ignored/sim/one.cpp", "// changed\n");
  CHECK(commit_of(place, "outer/ignored") != ignored);
}

}  // namespace
