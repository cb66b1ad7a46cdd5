// sim/experiment/comparison_table.h: a comparison as short tables, one for each question.
//
// Arms are rows, so that any number of them fits; what is asked of them are columns. A difference to
// the reference arm has a column of its own beside the figure. Text and Markdown print the same
// cells, which are made here once.
#pragma once

#include <string>
#include <vector>

#include "sim/experiment/comparison.h"

namespace sim::experiment {

struct Table {
  std::string heading;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> cells;  // per arm, per column
  std::string note = {};                        // what a reader must know of a column; stands beneath
};

std::vector<Table> tables_of(const Comparison& comparison);

// What holds for all tables: scenario, seeds, reference, marks, power, version.
std::vector<std::string> head_lines(const Comparison& comparison);
// What the signs in them mean, and the notes.
std::vector<std::string> foot_lines(const Comparison& comparison);

// No line is wider than 100 columns: a table whose columns do not fit goes on below, and a long arm
// name stands on a line of its own.
std::string as_text(const Comparison& comparison);
std::string as_markdown(const Comparison& comparison);

}  // namespace sim::experiment
