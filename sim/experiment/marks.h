// sim/experiment/marks.h: watches time and tokens, asks for evaluations, and ends the run.
//
// It reads the tape like everybody else and writes EvaluationDue and MarkReached at the marks' turn
// of the date, after everything else that happens then.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/engine/conductor.h"
#include "sim/methods/world.h"
#include "sim/readers/token_ledger.h"
#include "sim/scenario/scenario.h"
#include "sim/tape/tape.h"

namespace sim::experiment {

class Marks final : public tape::Reader, public methods::Horizon {
 public:
  // `tokens` is added to the tape before this reader. `evaluations` points of the token grid lie
  // evenly up to the token mark, or up to what the healthy fleet computes by the time mark; the grid
  // goes on beyond. 0: no evaluations.
  Marks(engine::Conductor& conductor, tape::Tape& tape, const tape::RunShape& shape,
        const readers::TokenLedger& tokens, const scenario::MarkOptions& options,
        std::int64_t evaluations);

  // `tell_finished_steps` is called before a mark is written, so that the account is complete.
  void start(std::function<void()> tell_finished_steps);
  void on(const tape::Fact& fact) override;
  std::uint32_t steps_until_due(std::uint64_t tokens_per_step) const override;

  bool limit_reached() const { return limit_reached_; }

 private:
  void look();
  void write_due();
  void reach_time_mark();
  void stop_when_done();
  std::uint64_t next_evaluation() const;

  engine::Conductor& conductor_;
  tape::Tape& tape_;
  const tape::RunShape& shape_;
  const readers::TokenLedger& tokens_;
  scenario::MarkOptions options_;
  double grid_ = 0;               // tokens between evaluations; 0: none
  std::uint64_t token_mark_ = 0;  // 0: none
  std::uint32_t evaluated_ = 0;   // grid points behind us
  bool time_done_, tokens_done_;
  bool scheduled_ = false, limit_reached_ = false;
  std::function<void()> tell_finished_steps_;
};

}  // namespace sim::experiment
