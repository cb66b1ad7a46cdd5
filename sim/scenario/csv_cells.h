// sim/scenario/csv_cells.h: a text of comma-separated values as lines of cells that know their place.
//
// RFC 4180: a cell may stand in double quotes, in which a comma or a line feed is text and two quotes
// are one. What spreadsheets add is taken too: a byte order mark, carriage returns, blanks around a cell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/schema.h"

namespace sim::scenario {

struct CsvCell {
  std::string text;  // without quotes, and without blanks around them
  int column;        // of the file, from 1
};

struct CsvLine {
  int number;  // of its first cell, from 1
  std::vector<CsvCell> cells;
};

// Lines that hold anything at all. Quotes that are not closed, and text beside them, add problems.
std::vector<CsvLine> csv_lines(std::string_view text, const std::string& file, base::Problems& problems);

}  // namespace sim::scenario
