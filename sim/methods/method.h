// sim/methods/method.h: what a training method must answer to.
//
// The injector tells a method which physical things went and came back; everything else a method
// does by itself, as processes of the conductor. Calls come at faults' turn of a date; overlapping
// faults are already composed: a slice is lost once and returns once, however many faults hold it.
#pragma once

#include <memory>
#include <span>

#include "sim/methods/world.h"

namespace sim::methods {

class Method {
 public:
  virtual ~Method() = default;
  virtual void start() = 0;
  // All slices that one fault took at this date.
  virtual void slices_lost(std::span<const std::uint32_t> slices) = 0;
  // The hosts of these slices went too, with what they hold in memory (island, region); right after
  // slices_lost() for those that were not down before.
  virtual void hosts_lost(std::span<const std::uint32_t> slices) = 0;
  virtual void slices_returned(std::span<const std::uint32_t> slices) = 0;
  // Syncer shard of that learner (central placement: 0 is the syncer).
  virtual void syncer_lost(std::uint16_t shard) = 0;
  virtual void syncer_returned(std::uint16_t shard) = 0;
  // The host of that shard went, with what it holds in memory; right after syncer_lost() where the shard
  // was not down before.
  virtual void syncer_host_lost(std::uint16_t) {}
  virtual std::size_t syncer_count() const = 0;
  // Where it stands.
  virtual std::uint16_t syncer_region(std::uint16_t shard) const = 0;
  // A link or region went down or came up, or a rate changed; the transport knows it already.
  virtual void network_changed() = 0;
  // Writes all finished steps that stretches have not told yet.
  virtual void tell_finished_steps() = 0;
  // When the step that the learner is in ends, were nothing to happen; now() when it is in none.
  virtual Nanoseconds step_end(std::uint16_t learner) const = 0;
};

std::unique_ptr<Method> make_method(World& world);

}  // namespace sim::methods
