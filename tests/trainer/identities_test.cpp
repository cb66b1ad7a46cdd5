// tests/trainer/identities_test.cpp: degenerate cases in which the trainer must equal something
// simpler.
//
// Method: an independent straight-line loop over optim's functions for streaming DiLoCo, bit for
//         bit; one learner's own path and one big batch within rounding.
// Teeth:  seen failing with velocity shared by fragments, with momentum ignored, with the mean over
//         all slots instead of the examples present, with data or schedule keyed by a stretch's first
//         step only, with the schedule one step late, and with gradients not zeroed between chunks.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <vector>

#include "optim/fragments.h"
#include "sim/trainer/trainer.h"
#include "tests/trainer/tape_fixture.h"

namespace sim::trainer {
namespace {

double relative_distance(std::span<const float> a, std::span<const float> b) {
  double distance = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double gap = double{a[i]} - double{b[i]};
    distance += gap * gap;
    size += double{b[i]} * double{b[i]};
  }
  return std::sqrt(distance / size);
}

TEST_CASE("trainer: one learner, outer rate 1 and no momentum follow the learner's own path",
          "[unit][trainer]") {
  const tape::RunShape shape = make_shape(1, 1, 8, 2);
  TrainerOptions options = make_options(shape);
  options.outer = {optim::OuterKind::kSgd, 1.0, 0};
  HandTape own, merged;
  std::uint32_t sync = 0;
  for (std::uint32_t step = 0; step < 30; ++step) {
    own.steps(0, step);
    merged.steps(0, step);
    for (const std::uint16_t p : indices(2)) {
      merged.take(sync, p, 0);
      merged.merge(sync, p, {0});
      merged.adopt(sync++, p, 0);
    }
  }
  Trainer a(shape, options), b(shape, options);
  play(own, a);
  play(merged, b);
  const optim::AlignedBlock expected = a.learner(0).parameters;
  // theta - (theta - local) in double, rounded to float: at most one unit in the last place (6e-8)
  // per merge, and 30 merges.
  CHECK(relative_distance(b.learner(0).parameters.span(), expected.span()) < 2e-6);
  CHECK(relative_distance(b.global_parameters().span(), expected.span()) < 2e-6);
}

TEST_CASE("trainer: merging after every step of plain SGD equals one big batch", "[unit][trainer]") {
  // Four learners with 8 of the 32 examples each; H = 1, no clipping, outer SGD 1, plain average.
  const tape::RunShape many = make_shape(4, 1, 8, 3);
  tape::RunShape one = make_shape(1, 4, 8, 3);
  one.model_is_learner = true;
  TrainerOptions options = make_options(many);
  options.inner = {optim::InnerKind::kSgd, 0.3, 0, 0, 0, 0, 0};
  options.outer = {optim::OuterKind::kSgd, 1.0, 0};
  HandTape apart, together;
  together.steps(0, 0, 40);
  std::uint32_t sync = 0;
  for (std::uint32_t step = 0; step < 40; ++step) {
    for (std::uint16_t m = 0; m < 4; ++m) apart.steps(m, step);
    for (const std::uint16_t p : indices(3)) {
      for (std::uint16_t m = 0; m < 4; ++m) apart.take(sync, p, m);
      apart.merge(sync, p, {0, 1, 2, 3});
      for (std::uint16_t m = 0; m < 4; ++m) apart.adopt(sync, p, m);
      ++sync;
    }
  }
  Trainer a(many, options), b(one, options);
  const optim::AlignedBlock initial = b.global_parameters();
  play(apart, a);
  play(together, b);
  const optim::AlignedBlock expected = b.global_parameters();
  CHECK(relative_distance(initial.span(), expected.span()) > 0.05);  // it went somewhere
  CHECK(relative_distance(a.global_parameters().span(), expected.span()) < 1e-5);
}

// Streaming DiLoCo without a tape: every H steps of fragment p all learners' values are averaged,
// stepped on by Nesterov, and put into every learner tau steps later.
class StreamingDiloco {
 public:
  StreamingDiloco(const TrainerOptions& options, std::uint32_t learners, std::uint32_t slots,
                  std::size_t fragments)
      : options_(options),
        model_(optim::make_model(options.learning.model)),
        task_(optim::make_task(options.learning.task, options.seed)),
        fragments_(optim::partition(*model_, fragments)),
        slots_(slots),
        batch_slots_(learners * slots),
        global_(model_->block_size()) {
    model_->initialise(options.seed, global_.span());
    for (const optim::Fragment& fragment : fragments_) velocity_.emplace_back(fragment.size, 0.0);
    for (std::uint32_t m = 0; m < learners; ++m) {
      learners_.push_back({global_, optim::make_inner_state(options.inner, model_->block_size())});
    }
  }

  void run(std::uint32_t steps, std::uint32_t tau) {
    struct Waiting {
      std::uint32_t due;
      std::size_t fragment;
      std::vector<float> values;
    };
    std::vector<Waiting> waiting;
    for (std::uint32_t step = 0; step < steps; ++step) {
      for (std::uint32_t m = 0; m < learners_.size(); ++m) inner_step(m, step);
      const std::size_t p = step % fragments_.size();
      waiting.push_back({step + tau, p, merge(p)});
      while (!waiting.empty() && waiting.front().due == step) {
        for (LearnerState& learner : learners_) {
          put(waiting.front().fragment, waiting.front().values, learner.parameters);
        }
        waiting.erase(waiting.begin());
      }
    }
  }

  const optim::AlignedBlock& global() const { return global_; }
  const LearnerState& learner(std::size_t m) const { return learners_[m]; }

 private:
  void inner_step(std::uint32_t m, std::uint32_t step) {
    optim::AlignedBlock sum(model_->block_size());
    const std::uint32_t first = m * slots_, end = first + slots_;
    for (std::uint32_t slot = first; slot < end;) {
      const std::uint32_t cut = std::min(end, (slot / 8 + 1) * 8);  // chunks end at multiples of 8
      optim::Batch batch;
      for (; slot < cut; ++slot) task_->append_example(step, slot, batch);
      optim::AlignedBlock part(model_->block_size());
      model_->loss_and_gradient(learners_[m].parameters.span(), batch, part.span(), scratch_);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
    }
    for (float& value : sum.span()) value *= static_cast<float>(1.0 / slots_);
    const double factor =
        optim::schedule_factor(options_.learning.schedule, 1000.0 * batch_slots_ * step);
    optim::inner_update(options_.inner, factor, *model_, learners_[m].parameters.span(), sum.span(),
                        learners_[m].inner);
  }

  std::vector<float> get(std::size_t p, const optim::AlignedBlock& from) const {
    std::vector<float> values;
    for (const optim::Piece& piece : fragments_[p].pieces) {
      values.insert(values.end(), from.data() + piece.offset,
                    from.data() + piece.offset + piece.size);
    }
    return values;
  }
  void put(std::size_t p, const std::vector<float>& values, optim::AlignedBlock& into) const {
    std::size_t next = 0;
    for (const optim::Piece& piece : fragments_[p].pieces) {
      for (std::size_t i = 0; i < piece.size; ++i) into[piece.offset + i] = values[next++];
    }
  }
  std::vector<float> merge(std::size_t p) {
    std::vector<float> theta = get(p, global_);
    std::vector<std::vector<float>> ends;
    for (const LearnerState& learner : learners_) ends.push_back(get(p, learner.parameters));
    std::vector<optim::Contribution> contributions;
    for (const std::vector<float>& end : ends) contributions.push_back({1.0, end});
    std::vector<double> delta(theta.size());
    optim::merge(options_.merge, model_->tensors(), fragments_[p], theta, contributions, delta);
    optim::outer_update(options_.outer, theta, delta, velocity_[p]);
    put(p, theta, global_);
    return theta;
  }

  TrainerOptions options_;
  std::unique_ptr<optim::Model> model_;
  std::unique_ptr<optim::Task> task_;
  std::vector<optim::Fragment> fragments_;
  std::uint32_t slots_, batch_slots_;
  optim::AlignedBlock global_;
  std::vector<LearnerState> learners_;
  std::vector<std::vector<double>> velocity_;
  std::vector<float> scratch_;
};

TEST_CASE("trainer: all learners, no faults, pinned adoption is streaming DiLoCo bit for bit",
          "[unit][trainer]") {
  constexpr std::uint16_t learners = 2;
  constexpr std::uint32_t slots = 12, steps = 20;  // chunks 0-7, 8-11 and 12-15, 16-23
  constexpr std::size_t fragments = 3;             // H = P = 3: one fragment per step
  const std::uint32_t tau = GENERATE(0u, 1u, 2u);
  CAPTURE(tau);
  const tape::RunShape shape = make_shape(learners, 1, slots, fragments);
  const TrainerOptions options = make_options(shape);

  StreamingDiloco expected(options, learners, slots, fragments);
  expected.run(steps, tau);

  HandTape tape;
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (std::uint16_t m = 0; m < learners; ++m) tape.steps(m, step);
    for (std::uint16_t m = 0; m < learners; ++m) {
      tape.take(step, static_cast<std::uint16_t>(step % fragments), m);
    }
    tape.merge(step, static_cast<std::uint16_t>(step % fragments), {0, 1});
    if (step < tau) continue;
    const std::uint32_t sync = step - tau;
    for (std::uint16_t m = 0; m < learners; ++m) {
      tape.adopt(sync, static_cast<std::uint16_t>(sync % fragments), m);
    }
  }
  Trainer trainer(shape, with_threads(options, 2));
  play(tape, trainer);
  CHECK(same_bits(trainer.global_parameters().span(), expected.global().span()));
  for (std::uint16_t m = 0; m < learners; ++m) {
    CHECK(same_bits(trainer.learner(m), expected.learner(m)));
  }
}

}  // namespace
}  // namespace sim::trainer
