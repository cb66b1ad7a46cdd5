// tests/scenario/reference_test.cpp: the reference table of scenarios/README.md is the generated one.
//
// UPDATE_GOLDEN=1 rewrites the part between the two marks.
// Teeth: seen failing against a README with an empty reference.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "sim/scenario/catalogue.h"
#include "sim/scenario/reference.h"

using namespace sim;

TEST_CASE("reference: the table in scenarios/README.md equals the records") {
  const std::string path = std::string(ATOLL_SOURCE_DIR) + "/scenarios/README.md";
  std::ostringstream stream;
  stream << std::ifstream(path).rdbuf();
  const std::string text = stream.str();
  const std::string begin_mark = "<!-- reference begins: generated from the records -->\n";
  const std::string end_mark = "<!-- reference ends -->\n";
  const std::size_t begin = text.find(begin_mark), end = text.find(end_mark);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  const std::string head = text.substr(0, begin + begin_mark.size());
  std::string wanted(1, '\n');
  wanted += scenario::schema_markdown();
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path) << head << wanted << text.substr(end);
  CHECK(text.substr(head.size(), end - head.size()) == wanted);
}

TEST_CASE("catalogue: what is not published stays unknown") {
  REQUIRE(scenario::find_chip("tpu-v6e") != nullptr);
  CHECK(scenario::find_chip("tpu-v6e")->peak_flops == 918e12);
  CHECK_FALSE(scenario::find_chip("tpu-v6e")->power_w);
  CHECK(scenario::find_chip("h100")->power_w == 700);
  CHECK(scenario::find_chip("tpu-v6") == nullptr);
  CHECK(scenario::catalogue_text().find("unknown") != std::string::npos);
}
