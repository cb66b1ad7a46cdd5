// sim/trainer/global_model.h: the syncer's parameters: fragments, their versions, their outer state.
//
// A version of a fragment is written once, by the node of its merge, and never changed: so a merge,
// an evaluation and an adoption that read different versions need no locks and no copies, and a
// version's memory goes when the last node that reads it has run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "optim/fragments.h"
#include "optim/merge.h"
#include "optim/model.h"
#include "optim/outer_optimizer.h"
#include "optim/wire_format.h"
#include "sim/trainer/convergence.h"
#include "sim/trainer/learner_state.h"
#include "sim/trainer/task_graph.h"

namespace sim::trainer {

// Where a learner's outer gradient is measured from: the global fragment as it stands at the merge (a
// syncer measures), or as the learner last received it (it measures itself).
enum class Anchor : std::uint8_t { kCurrent, kReceived };

class GlobalModel {
 public:
  // A version's parameters and the node that writes them.
  using Version = std::shared_ptr<SharedBlock>;

  struct Options {
    optim::OuterOptions outer;
    optim::MergeOptions merge;
    optim::WireFormat wire;      // through which every outer gradient goes before it is merged
    Anchor anchor;
    std::size_t fragment_count;  // P
    std::size_t learner_count;
  };
  // A learner's part in a merge: a packed fragment and its weight.
  struct Part {
    double weight;
    std::shared_ptr<SharedBlock> taken;
    Version anchor;  // null: the version current at the merge
  };
  struct Kept {
    std::uint32_t sync;
    std::uint64_t number;  // counts the fragment's merges, from 1
    Version block;
    std::vector<std::uint32_t> due = {};  // (learners); how often it may still reach each
  };
  // An older version that a shard of the syncer keeps, with the moments of its time.
  struct KeptByShard {
    struct Moments {
      std::vector<double> velocity, second_moment;
    };
    Version block;
    std::shared_ptr<Moments> moments;  // written by a node
  };
  // A fragment as it is between two runs of the graph. Its moments are touched by nodes only, each
  // after the last.
  struct FragmentCut {
    Version current;
    std::vector<double> velocity;        // (F)
    std::vector<double> second_moment;   // (F), or empty where the outer optimizer has none
    std::uint64_t merge_count = 0;
    std::deque<Kept> kept;               // ascending by number
    std::map<std::uint16_t, KeptByShard> kept_by_shard;
    // Of methods that meet at barriers, which take no snapshots:
    std::vector<Version> received;       // (learners); Anchor::kReceived only, else empty
    NodeId reads_velocity = kNoNode;     // what writes the moments next waits for this one
    Version saved;                       // by save()
    std::vector<double> saved_velocity, saved_second_moment;
  };

  // All fragments start as `initial` (block_size) with zero momentum. Keeps references to model and
  // graph. Errors: std::invalid_argument when P exceeds the model's rows.
  GlobalModel(const Options& options, const optim::Model& model, std::span<const float> initial,
              TaskGraph& graph);
  GlobalModel(const GlobalModel&) = delete;

  // Requires: a fragment index below P; else std::logic_error.
  const optim::Fragment& fragment(std::uint16_t index) const;

  // Adds the node that makes the fragment's next version:
  //   delta_i        = anchor_i - taken_i, piece by piece through the wire format
  //   delta          = merge of the delta_i
  //   theta, state   = outer_update(current version, state, delta)
  // Parts of weight 0 have no say; when all are 0, delta is 0. `row`: where to write the measures,
  // or null; it outlives the node.
  // Requires: at least one part, a sync that has not merged this fragment; else std::logic_error.
  void merge(std::uint16_t fragment, std::uint32_t sync, std::vector<Part> parts,
             ConvergenceRow* row);

  // The version that `sync` made, for a learner to adopt. A version is kept as long as anybody may still
  // adopt it: until it or a newer one is adopted, or the tape tells that it does not arrive. So as many are
  // kept as wait for learners in the simulated world, and no bound of ours comes before that. The newest
  // is always kept.
  // Requires: a version that is kept; else std::logic_error.
  std::shared_ptr<SharedBlock> adopt(std::uint16_t fragment, std::uint32_t sync,
                                     std::uint16_t learner);
  // A broadcast is lost, or one more is sent; of a version that is no longer kept nothing happens.
  void broadcast_changed(std::uint16_t fragment, std::uint32_t sync, std::uint16_t learner, bool sent);
  // What the donor has received and not adopted goes to the receiver with its state.
  void share_broadcasts(std::uint16_t donor, std::uint16_t receiver);
  // What the learner holds of the global model, fragment by fragment: the anchors of its next outer
  // gradients. Empty unless they count.
  std::vector<Version> received(std::uint16_t learner) const;
  Version received(std::uint16_t fragment, std::uint16_t learner) const;
  void set_received(std::uint16_t learner, const std::vector<Version>& versions);
  std::vector<Version> current() const;

  std::size_t kept_versions() const;  // over all fragments

  // All fragments become parts of `flat` (block_size) and all outer state zero.
  void restore(std::shared_ptr<SharedBlock> flat);

  // Keeps the fragments and their momentum; load() makes them the current ones again (the initial
  // ones when none were kept).
  void save();
  void load();

  // The shard keeps the current version of the fragment, with its moments, while others go on ...
  void keep(std::uint16_t fragment, std::uint16_t shard);
  // ... until it has received a newer one or lost its memory, ...
  void drop_kept(std::uint16_t fragment, std::uint16_t shard);
  // ... or that version becomes the current one again. Requires: it keeps one; else std::logic_error.
  void go_back(std::uint16_t fragment, std::uint16_t shard);

  // Adds a node that assembles the current versions to a flat block.
  std::shared_ptr<SharedBlock> assemble();

  // All fragments. Requires: the graph has run; else std::logic_error.
  std::vector<FragmentCut> cut() const;
  // Goes on from there. Requires: a cut of the same model, P and learners, of Anchor::kCurrent; else
  // std::invalid_argument.
  void resume(const std::vector<FragmentCut>& cuts);

 private:
  FragmentCut& state(std::uint16_t fragment);
  static void forget_old(FragmentCut& fragment);
  void compute(const optim::Fragment& fragment, const std::vector<Part>& parts,
               const Version& current, FragmentCut& state, std::span<float> theta,
               ConvergenceRow* row) const;
  bool arrives_whole(const std::vector<Part>& parts, const Version& current) const;
  std::vector<float> sent_delta(const optim::Fragment& fragment, std::span<const float> anchor,
                                std::span<const float> taken) const;

  Options options_;
  const optim::Model& model_;
  TaskGraph& graph_;
  std::vector<optim::Fragment> fragments_;  // (P)
  std::vector<FragmentCut> states_;         // (P); never resized, nodes point into it
};

}  // namespace sim::trainer
