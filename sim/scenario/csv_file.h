// sim/scenario/csv_file.h: reads a table of numbers with one column of classes.
#pragma once

#include <optional>
#include <string>

#include "optim/csv_task.h"
#include "sim/base/schema.h"

namespace sim::scenario {

// Where a table comes from and what its mistakes are called.
struct CsvSource {
  std::string file;          // what diagnostics call it
  std::string target;        // the column of classes; empty: the last
  base::Place file_place;    // of the keys that name them
  base::Place target_place;
};

// Cells as of csv_cells.h; a header line with the columns' names; blank lines are passed over. Every cell has a value: a finite number of at most 1e100 (assumed:
// its square is finite), or, in the target column, any text. Classes are the distinct texts, sorted.
// Returns nothing, and adds problems, when anything is wrong: cells with their own line and column,
// the first ten of them; what is wrong with the whole file at the key that names it.
std::optional<optim::Table> parse_table(const std::string& text, const CsvSource& source,
                                        base::Problems& problems);

}  // namespace sim::scenario
