// sim/methods/training_schema.cpp: the keys of [training].
//
// "paper" is Decoupled DiLoCo, arXiv:2604.21428; what it does not publish is marked "assumed".
#include "sim/methods/training_schema.h"

#include <fmt/format.h>

#include "optim/optimizer_schema.h"

namespace sim::methods {

using base::above;
using base::above_to;
using base::at_least;
using base::between;
using base::Choices;
using base::Dimension;
using base::from_to_below;
using base::Problems;
using base::Range;
using base::SchemaOf;
using base::Value;

namespace {

constexpr Range kUpTo90Days = {.low = 0,
                               .high = 90.0 * 86400,
                               .hint = "no run lasts longer than 90 d"};

// learners = "islands" | "one" | M.
void read_learners(const Value& value, TrainingOptions& training, Problems& problems) {
  training.groups = 0;
  if (value.kind == Value::Kind::kInteger || value.kind == Value::Kind::kReal) {
    const auto groups = base::read_integer(value, between(1, 65534), problems);
    training.learners = LearnerSplit::kGroups;
    if (groups) training.groups = *groups;
    return;
  }
  if (value.kind == Value::Kind::kText && (value.text == "islands" || value.text == "one")) {
    training.learners = value.text == "one" ? LearnerSplit::kOne : LearnerSplit::kIslands;
    return;
  }
  problems.add(value.place, "must be one of islands, one, or a number of equal groups; got " +
                                base::to_toml(value));
}

// Data parallel is one job.
void read_one_learner(const Value& value, TrainingOptions& training, Problems& problems) {
  training.groups = 0;
  training.learners = LearnerSplit::kOne;
  if (value.kind == Value::Kind::kText && value.text == "one") return;
  if (value.kind == Value::Kind::kInteger && value.integer == 1) return;
  problems.add(value.place, "must be \"one\" with method \"data-parallel\"; got " +
                                base::to_toml(value));
}

Value write_learners(const TrainingOptions& training) {
  if (training.learners == LearnerSplit::kGroups) return Value::of(training.groups);
  return Value::of(training.learners == LearnerSplit::kOne ? "one" : "islands");
}

const SchemaOf<CheckpointOptions>& checkpoint_schema() {
  using C = CheckpointOptions;
  static const auto schema =
      SchemaOf<C>()
          .duration("every", &C::every, kUpTo90Days, "30 min", "0 s: no checkpoints (assumed)")
          .duration("save", &C::save, kUpTo90Days, "0 s",
                    "blocking part of saving (assumed: written behind the training)")
          .duration("load", &C::load, kUpTo90Days, "60 s", "reading the last one back (assumed)")
          .boolean("redo", &C::redo, true, "a restart loses the steps since the last checkpoint");
  return schema;
}

const SchemaOf<SyncerOptions>& syncer_schema() {
  using S = SyncerOptions;
  static const auto schema =
      SchemaOf<S>()
          .choice("placement", &S::placement,
                  Choices<SyncerPlacement>{{"per-learner", SyncerPlacement::kPerLearner},
                                           {"central", SyncerPlacement::kCentral}},
                  "per-learner", "M shards, one beside each learner (paper 4), or one place")
          .text("region", &S::region, base::kRequired, "where the syncer stands")
          .only("placement", {"central"})
          .quantity("nic", &S::nic_bytes_per_s, Dimension::kRate, above(0), "100 Gbps",
                    "the syncer's own rate in each direction (assumed)")
          .only("placement", {"central"})
          .quantity("merge_rate", &S::merge_bytes_per_s, Dimension::kRate, above(0), "10 GB/s",
                    "rate at which contributions are folded, a CPU's memory rate (assumed)")
          .choice("on_kill", &S::on_kill,
                  Choices<OnSyncerKill>{{"pause", OnSyncerKill::kPause},
                                        {"lose", OnSyncerKill::kLose}},
                  "pause", "what a dead shard does to the global fragments (assumed)");
  return schema;
}

const SchemaOf<SnapshotOptions>& snapshot_schema() {
  static const auto schema = SchemaOf<SnapshotOptions>().integer(
      "every", &SnapshotOptions::every, between(0, 1e9), 0,
      "T_c: the syncer's steps between two snapshots (paper E.2); 0: none (its T_c is not published)");
  return schema;
}

// Which slices form which learner, and how the batch is shared out.
void add_layout_keys(SchemaOf<TrainingOptions>& schema) {
  using T = TrainingOptions;
  const auto whole = [](auto& training) -> auto& { return training; };
  schema.text("name", &T::name, "", "of the arm; empty: the method's name")
      .choice("method", &T::method,
              Choices<MethodKind>{{"decoupled-diloco", MethodKind::kDecoupledDiloco},
                                  {"data-parallel", MethodKind::kDataParallel}},
              base::kRequired, "decides which other keys there are")
      .custom("learners", "text or integer", "islands one M", whole, read_learners, write_learners,
              "islands", "which slices form a learner: an island each, all, or M equal groups")
      .only("method", {"decoupled-diloco"})
      .custom("learners", "text", "one", whole, read_one_learner, write_learners, "one",
              "data parallel is one job")
      .only("method", {"data-parallel"})
      .boolean("span", &T::span, false, "a learner's slices may lie in several regions")
      .only("method", {"decoupled-diloco"})
      .boolean("span", &T::span, true, "the job's slices may lie in several regions")
      .only("method", {"data-parallel"})
      .choice("split", &T::batch_split,
              Choices<BatchSplit>{{"equal", BatchSplit::kEqual},
                                  {"by-chips", BatchSplit::kByChips},
                                  {"by-speed", BatchSplit::kBySpeed}},
              "equal", "how the global batch is shared out")
      .text_list("use", &T::use, "region:NAME or island:NAME; empty: everything; the rest idles")
      .duration("step_time", &T::step_time, kUpTo90Days, "0 s",
                "compute time of a step; 0: from model, chips, peak and utilization");
}

void add_elasticity_keys(SchemaOf<TrainingOptions>& schema) {
  const auto of = [](auto member) {
    return [member](auto& training) -> auto& { return training.elasticity.*member; };
  };
  using E = ElasticityOptions;
  schema
      .boolean("elastic", of(&E::elastic), true,
               "go on with the slices that are left (paper 2.1); false: stop until all are back")
      .duration("detection", of(&E::detection), kUpTo90Days, "0 s",
                "from a failure until the job notices (assumed: part of downscale)")
      .duration("downscale", of(&E::downscale), kUpTo90Days, "10 s",
                "stop after a loss (paper: tens of seconds with upscale; calibrated, facts 2.6)")
      .duration("upscale", of(&E::upscale), kUpTo90Days, "12 s",
                "stop to take slices back (calibrated, facts 2.6)")
      .duration("restart", of(&E::restart), kUpTo90Days, "20 s",
                "start of the program once slices are back, when not elastic (calibrated, 2.6)")
      .choice("second_hit", of(&E::second_hit),
              Choices<SecondHit>{{"restart", SecondHit::kRestart}, {"absorb", SecondHit::kAbsorb}},
              "restart", "what a loss during a reconfiguration does to it (assumed)")
      .choice("failure_acts", of(&E::failure_acts),
              Choices<FailureActs>{{"at-once", FailureActs::kAtOnce},
                                   {"step-end", FailureActs::kStepEnd}},
              "at-once", "whether the step under way is lost (paper's simulation: step-end)")
      .boolean("join_state", of(&E::join_state), true,
               "an upscale across regions also moves the state over the links")
      .table("checkpoint", &TrainingOptions::checkpoint, checkpoint_schema(),
             "what a restart goes back to")
      .only("method", {"data-parallel"});
}

void add_data_parallel_keys(SchemaOf<TrainingOptions>& schema) {
  using T = TrainingOptions;
  schema
      .choice("reduce", &T::reduce,
              Choices<ReduceKind>{{"two-level", ReduceKind::kTwoLevel}, {"ring", ReduceKind::kRing}},
              "two-level", "two-level: inside each region, then one ring over the regions")
      .only("method", {"data-parallel"})
      .integer("buckets", &T::buckets, between(1, 1e6), 64,
               "gradient buckets that become ready evenly through the backward pass (fits the "
               "paper's Table 13, facts 3.3)")
      .only("method", {"data-parallel"});
}

void add_fragment_keys(SchemaOf<TrainingOptions>& schema) {
  using T = TrainingOptions;
  const std::vector<std::string> here = {"decoupled-diloco"};
  schema.integer("fragments", &T::fragments, between(1, 65534), 24, "P (paper 1.1)")
      .only("method", here)
      .integer("sync_every", &T::sync_every, between(1, 1e9), 24,
               "H: steps between two syncs of a fragment (paper 1.1)")
      .only("method", here)
      .integer("overlap_steps", &T::overlap_steps, between(0, 1e9), 2,
               "tau: steps over which a sync overlaps compute (paper 1.1)")
      .only("method", here)
      .integer("quorum", &T::quorum, at_least(1), 1, "K: reports that a merge waits for (paper 1.1)")
      .only("method", here)
      .choice("grace", &T::grace,
              Choices<GraceKind>{{"adaptive", GraceKind::kAdaptive}, {"none", GraceKind::kNone}},
              "adaptive", "wait for more than the quorum in the slack that is left (paper 3.2)")
      .only("method", here)
      .real("grace_margin", &T::grace_margin, from_to_below(0, 1), 0.9,
            "gamma: share of the slack that is used (assumed; paper: below 1)")
      .only("method", here)
      .real("tracking", &T::tracking, above_to(0, 1), 0.5,
            "weight of the newest value in the moving averages (an open implementation's choice)")
      .only("method", here)
      .choice("late", &T::late,
              Choices<LatePolicy>{{"skip", LatePolicy::kSkip}, {"merge", LatePolicy::kMerge}},
              "skip", "a fragment that falls due while ceil(tau) syncs are in flight (assumed)")
      .only("method", here)
      .choice("adopt", &T::adoption,
              Choices<Adoption>{{"on-arrival", Adoption::kOnArrival},
                                {"pinned", Adoption::kPinned}},
              "on-arrival", "pinned: tau steps after the take, not before (paper: on arrival)")
      .only("method", here)
      .real("mixing", &T::mixing, between(0, 1), 0.0,
            "alpha: weight of the local value at adoption (paper D.1)")
      .only("method", here)
      .real("fragment_bytes", &T::fragment_bytes, above(0), 2.0,
            "bytes per parameter on the wire (paper: bf16; 0.5 is int4)")
      .only("method", here)
      .integer("metadata", &T::metadata_bytes, between(0, 1e12), 512,
               "bytes of a learner's report per step (assumed: two counters per fragment)")
      .only("method", here)
      .integer("resume_within", &T::resume_within, between(0, 1e9), 24,
               "steps: a shorter outage resumes stale, a longer one copies a peer (assumed: H)")
      .only("method", here);
}

void add_merge_keys(SchemaOf<TrainingOptions>& schema) {
  using T = TrainingOptions;
  const std::vector<std::string> here = {"decoupled-diloco"};
  schema.table("syncer", &T::syncer, syncer_schema(), "the service that holds global fragments")
      .only("method", here)
      .table("snapshot", &T::snapshot, snapshot_schema(),
             "consistent states of the whole run that it can be resumed from; cost no time")
      .only("method", here)
      .table("outer", &T::outer, optim::outer_schema(), "outer optimizer")
      .only("method", here)
      .table("merge", &T::merge, optim::merge_schema(), "how outer gradients are averaged")
      .only("method", here)
      .boolean("token_weights", &T::token_weights, true,
               "weight tokens x tokens / steps (paper 3.2); false: equal weights")
      .only("method", here);
}

}  // namespace

const SchemaOf<TrainingOptions>& training_schema() {
  static const auto schema = [] {
    SchemaOf<TrainingOptions> built;
    add_layout_keys(built);
    add_elasticity_keys(built);
    built.table("inner", &TrainingOptions::inner, optim::inner_schema(), "inner optimizer");
    add_data_parallel_keys(built);
    add_fragment_keys(built);
    add_merge_keys(built);
    return built;
  }();
  return schema;
}

}  // namespace sim::methods
