// sim/experiment/comparison_measures.h: what arms are compared in, and in which order it is printed.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace sim::experiment {

enum class Wish { kNone, kLarger, kSmaller };

struct Measure {
  std::string group;   // the question that it answers: heading of a table
  std::string key;     // path in summary.json
  std::string title;   // in full, with the unit
  std::string column;  // what its column is headed with, under the group's heading
  int decimals;        // see format_figure
  Wish wish;
  bool shows_difference;
  // Seeds may never get there: told as the share that did and the median, where a seed that did not
  // counts as infinity.
  bool is_target = false;
};

// In the order in which they are printed; those of one group follow each other.
std::vector<Measure> measures(const scenario::Scenario& scenario);

// "6 h", "5.6e+10 tokens", "900 kWh", "200 USD", "loss 2.5": the marks that are declared.
std::vector<std::string> marks_in_words(const scenario::MarkOptions& marks);

}  // namespace sim::experiment
