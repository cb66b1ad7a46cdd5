// sim/methods/elastic_job.h: how a job of slices steps, stops for a loss, shrinks, and grows again.
//
// The rules are those of the paper's failure simulation and are the same for data parallel and for
// each learner of the other methods: a loss stops the whole job for the downscale, training goes on
// with fewer slices, and returned slices stop it once for the upscale. Regions that the others cannot
// reach are lost to the job like dead ones: the side with most chips goes on. What becomes of the
// job's state is in state_copies.h.
// Source: arXiv:2604.21428, section 3.3; facts 2.1 and 2.6. Partitions and copies are ours.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "sim/methods/gradient_reduction.h"
#include "sim/methods/job.h"
#include "sim/methods/reachable_side.h"
#include "sim/methods/state_copies.h"

namespace sim::methods {

class ElasticJob : public Job {
 public:
  ElasticJob(World& world, std::uint16_t learner)
      : Job(world, learner),
        attention_(world.conductor),
        holders_changed_(world.conductor),
        copies_(shape().slices.size()),
        reduction_(world),
        world_(world) {}

  // Where the job's life is (re)started: it is killed and spawned anew at every loss.
  using Life = std::function<engine::Process()>;
  void start(Life life);
  bool alive() const { return world_.conductor.alive(life_); }
  // Runs `life` in place of whatever the job does now.
  void restart(Life life);

  // Takes the slices away. Returns whether the job must react: false when none was joined or starting
  // with the program, or when the second hit of a reconfiguration is absorbed.
  bool lose_slices(std::span<const std::uint32_t> slices);
  void return_slices(std::span<const std::uint32_t> slices);
  // Right after lose_slices(): the hosts of these slices died, too.
  void lose_hosts(std::span<const std::uint32_t> slices);
  // Looks again at what kept waiting slices out. An elastic job sets slices apart that the others
  // cannot reach any more; returns as lose_slices().
  bool network_changed();

  // Stops, notices, and goes on with the slices left. Requires: at least one is joined.
  engine::Task<> shrink();
  // Waits until a slice is back (`all`: until all are), then restarts the program; the waiting
  // slices are joined at its end, with or without the state.
  engine::Task<> wait_and_restart(bool all);
  // Slices wait, and the state that they may need can reach them.
  bool can_grow() const { return any_waiting() && !joinable().empty(); }
  // Stops once and joins all that waited when it began to stop. Where `join_state` says so, each
  // region fetches the state once. Returns without them when that transfer broke.
  engine::Task<> grow();

  // A joined slice holds the job's state, or, with recovery = "host-memory", the host of one that
  // left.
  bool state_lives() const;
  // Joined slices that were taken back without the state fetch it from the nearest holder. False when
  // nobody holds it any more, or, for an elastic job, nobody in reach; others wait for the network.
  engine::Task<bool> regain_state();
  // The state of all joined slices is now one from elsewhere (a checkpoint, a peer).
  void replace_state();
  std::uint16_t new_life() {
    replace_state();
    return Job::new_life();
  }

  // Up to `most` steps, the all-reduce of the gradients among the job's slices included: where steps are
  // alike, back to back as one stretch until the next boundary after a slice returned; else one. False
  // when the network broke it: then it hung for `timeout`, or waited until the network changed.
  // Requires: most > 0.
  engine::Task<bool> run_steps(std::uint32_t most);

  // Of a step that begins now, without what wide links add to it.
  Nanoseconds next_period() const;

  // A stretch that runs ends at the next step boundary.
  void end_stretch_soon() { attention_.notify(); }

 private:
  bool reconfiguring() const;
  bool take_away(std::span<const std::uint32_t> slices, void (Job::*take_out)(std::uint32_t));
  engine::Task<> notice();
  std::vector<std::uint32_t> on_largest_side(std::vector<std::uint32_t> slices) const;
  std::vector<std::uint32_t> joinable() const;

  std::size_t position_of(std::uint32_t slice) const;
  bool holds_state(std::uint32_t slice) const;
  void keep_copy(std::uint32_t slice);
  void take_back_as_they_are(const std::vector<std::uint32_t>& slices);
  void mark_live(const std::vector<std::uint32_t>& slices);
  std::vector<std::uint32_t> joined_without_state() const;
  std::vector<std::uint16_t> holding_regions() const;
  // The one of `sources` that is `target`, or reaches it in the shortest time.
  std::optional<std::uint16_t> nearest(const std::vector<std::uint16_t>& sources,
                                       std::uint16_t target) const;
  // One copy of the state to each region in which some of `slices` lack it: over the fabric where that
  // region has a holder, else from the nearest one. False when a transfer broke, or nobody was in
  // reach. `slices` outlives the task.
  engine::Task<bool> fetch_state(const std::vector<std::uint32_t>& slices,
                                 tape::TrafficClass traffic);

  engine::Task<bool> step_over_links();
  engine::Task<> run_stretch(Nanoseconds period, Nanoseconds compute, std::uint32_t steps);

  engine::Signal attention_;        // a slice returned, or may join now
  engine::Signal holders_changed_;  // who holds the state, or whom they reach
  engine::ProcessId life_;
  StateCopies copies_;
  GradientReduction reduction_;
  World& world_;
};

}  // namespace sim::methods
