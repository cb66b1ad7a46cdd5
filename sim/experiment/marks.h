// sim/experiment/marks.h: watches time, tokens, joules, dollars and the loss; ends the run.
//
// It reads the tape like everybody else and writes EvaluationDue, Decided and MarkReached at the
// marks' turn of the date, after everything else that happens then.
//
// Joules and dollars grow piecewise linearly, and jump by what a transfer has carried when it ends.
// The next look is put where they cannot have reached the mark before: what is missing, less what
// transfers under way may add, over the most that fleet and links can draw. Looks lie at least a
// hundredth of a nominal step apart, so a mark is reached at most that late (with network = "none",
// whose transfers take no time, at most one look late). The account at a date takes the step under
// way as computation, and so may a mark: early by at most one step's exposed communication.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/engine/conductor.h"
#include "sim/methods/world.h"
#include "sim/readers/run_account.h"
#include "sim/scenario/scenario.h"
#include "sim/tape/tape.h"

namespace sim::experiment {

// What marks ask of the rest of the run.
struct MarkQuestions {
  // Called before a mark is written, so that the account is complete.
  std::function<void()> tell_finished_steps;
  // The loss at the evaluation that was written last. Asked only where there is a loss mark.
  std::function<double()> last_loss;
};

class Marks final : public tape::Reader, public methods::Horizon {
 public:
  // `account` is added to the tape before this reader. `evaluations` points of the token grid lie
  // evenly up to the token mark, or up to what the healthy fleet computes by the time mark; the grid
  // goes on beyond. 0: no evaluations.
  Marks(engine::Conductor& conductor, tape::Tape& tape, const tape::RunShape& shape,
        const readers::RunAccount& account, const scenario::MarkOptions& options,
        std::int64_t evaluations);

  void start(MarkQuestions questions);
  void on(const tape::Fact& fact) override;
  std::uint32_t steps_until_due(std::uint64_t tokens_per_step) const override;

  bool limit_reached() const { return limit_reached_; }

 private:
  bool is_open(tape::MarkKind mark) const { return open_[static_cast<std::size_t>(mark)]; }
  void look();
  void write_due();
  void ask_for_loss();
  void look_at_spending(tape::MarkKind mark);
  base::Nanoseconds next_look(tape::MarkKind mark, double missing) const;
  void reach(tape::MarkKind mark);
  std::uint64_t next_evaluation() const;

  engine::Conductor& conductor_;
  tape::Tape& tape_;
  const tape::RunShape& shape_;
  const readers::RunAccount& account_;
  scenario::MarkOptions options_;
  double grid_ = 0;               // tokens between evaluations; 0: none
  std::uint64_t token_mark_ = 0;  // 0: none
  std::uint32_t evaluated_ = 0;   // grid points behind us
  std::vector<bool> open_;        // by MarkKind: declared and not reached
  bool scheduled_ = false, limit_reached_ = false;
  MarkQuestions questions_;
};

}  // namespace sim::experiment
