// sim/report/step_table.h: steps, merges and tokens over time, for steps.csv.
#pragma once

#include <iosfwd>
#include <vector>

#include "sim/readers/time_grid.h"
#include "sim/readers/token_ledger.h"

namespace sim::report {

using base::Nanoseconds;

// Columns of steps.csv:
//   time_s             end of the bin, nine decimals
//   bin_s              width of the bin
//   step               largest number of a step finished in the bin; before that, of the bin before
//   learner_steps      steps finished in the bin by all learners, undone ones included
//   learners_stepping  mean over the bin of how many learners were in activity stepping
//   merges             fragments merged in the bin
//   contributions      contributors of those merges
//   tokens             consumed (processed, neither rolled back nor discarded) at the last fact of the
//                      bin; the tokens of a stretch appear when the stretch is told
//   merged_tokens      merged into the global model by then
//   lone_merges        of the merges, those with one contributor where there are more learners
// Rows: at most 10,000 bins of equal width: one nominal step (1 s where none is given), doubled until
// the run fits.
class StepTable : public tape::Reader {
 public:
  // The ledger must have seen each fact before this table; both outlive it.
  StepTable(const tape::RunShape& shape, const readers::TokenLedger& tokens);

  void on(const tape::Fact& fact) override;

  // Call after RunEnded.
  void write_csv(std::ostream& out) const;

 private:
  struct Bin {
    std::uint64_t learner_steps = 0, merges = 0, lone_merges = 0, contributions = 0;
    std::uint64_t tokens = 0, merged_tokens = 0;
    std::uint32_t step = 0;
    Nanoseconds stepping = 0;  // learner-nanoseconds
    Bin& operator+=(const Bin& other);
  };
  void on_steps(const tape::StepsDone& steps);
  void on_activity(const tape::ActivityChanged& change, Nanoseconds now);
  void close_stepping(std::size_t learner, Nanoseconds now);

  const readers::TokenLedger& tokens_;
  readers::TimeGrid<Bin> grid_;
  std::vector<Nanoseconds> stepping_since_;  // per learner; kNever: not stepping
};

}  // namespace sim::report
