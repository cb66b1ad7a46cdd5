// sim/experiment/comparison_measures.h: what arms are compared in, and in which order it is printed.
//
// Which of them have a best arm: only those that no arm can win by doing less. These are
//   - work that reached the global model: goodput token, and the merged tokens at a mark;
//   - the loss at a mark;
//   - what the same loss took: time, tokens, joules and dollars.
// All others are shown without a best: shares of time spent stepping are as high on a fleet whose steps
// never meet, a link rests where nothing is exchanged, totals run over other durations or other work, the
// mark of energy or money comes soonest to who burns fastest, that of tokens counts consumed ones, merged or
// not, and a median step is of another batch after a loss of chips.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
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
  Wish wish;           // kNone: no arm is best, see above
  bool shows_difference;
  // Seeds may never get there: told as the share that did and the median, where a seed that did not
  // counts as infinity.
  bool is_target = false;
  std::string divisor = {};  // path in summary.json that the figure is a share of; empty: none
};

// Path, or one path over another: what a machine calls it.
std::string key_of(const Measure& measure);

// The figure of one run; none where it has none, or where it would be a share of nothing.
std::optional<double> figure_of(const Measure& measure, const nlohmann::ordered_json& summary);

// In the order in which they are printed; those of one group follow each other.
std::vector<Measure> measures(const scenario::Scenario& scenario);

// "6 h", "5.6e+10 tokens", "900 kWh", "200 USD", "loss 2.5": the marks that are declared.
std::vector<std::string> marks_in_words(const scenario::MarkOptions& marks);

}  // namespace sim::experiment
