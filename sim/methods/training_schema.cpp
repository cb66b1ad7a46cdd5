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

// overlap_steps = tau | "fit". Until loading has fitted it, 1 stands for the number.
void read_overlap(const Value& value, TrainingOptions& training, Problems& problems) {
  training.overlap_fit = value.kind == Value::Kind::kText && value.text == "fit";
  training.overlap_steps = 1;
  if (training.overlap_fit) return;
  if (value.kind == Value::Kind::kText) {
    problems.add(value.place, "must be a whole number or \"fit\"; got " + base::to_toml(value));
    return;
  }
  if (const auto steps = base::read_integer(value, between(0, 1e9), problems)) {
    training.overlap_steps = *steps;
  }
}

Value write_overlap(const TrainingOptions& training) { return Value::of(training.overlap_steps); }

const SchemaOf<CheckpointOptions>& checkpoint_schema() {
  using C = CheckpointOptions;
  static const auto schema =
      SchemaOf<C>()
          .duration("every", &C::every, kUpTo90Days, "30 min", "0 s: no checkpoints (assumed)")
          .duration("save", &C::save, kUpTo90Days, "0 s",
                    "blocking part of saving (assumed: written behind the training)")
          .duration("load", &C::load, kUpTo90Days, "60 s",
                    "reading the last one, or the initial state, back (assumed)")
          .boolean("redo", &C::redo, true,
                   "a state that nobody holds any more is the last checkpoint's, or with none the "
                   "initial one, and the steps since are done again; false: nothing is ever lost "
                   "(an oracle of timing only)");
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

const Choices<MethodKind>& method_choices() {
  static const Choices<MethodKind> choices = {{"decoupled-diloco", MethodKind::kDecoupledDiloco},
                                              {"streaming-diloco", MethodKind::kStreamingDiloco},
                                              {"diloco", MethodKind::kDiloco},
                                              {"data-parallel", MethodKind::kDataParallel}};
  return choices;
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
      .choice("method", &T::method, method_choices(), base::kRequired,
              "decides which other keys there are")
      .custom("learners", "text or integer", "islands one M", whole, read_learners, write_learners,
              "islands", "which slices form a learner: an island each, all, or M equal groups")
      .only("method", {"decoupled-diloco", "streaming-diloco", "diloco"})
      .custom("learners", "text", "one", whole, read_one_learner, write_learners, "one",
              "data parallel is one job")
      .only("method", {"data-parallel"})
      .boolean("span", &T::span, false, "a learner's slices may lie in several regions")
      .only("method", {"decoupled-diloco", "streaming-diloco", "diloco"})
      .boolean("span", &T::span, true, "the job's slices may lie in several regions")
      .only("method", {"data-parallel"})
      .choice("split", &T::batch_split,
              Choices<BatchSplit>{{"equal", BatchSplit::kEqual},
                                  {"by-chips", BatchSplit::kByChips},
                                  {"by-speed", BatchSplit::kBySpeed}},
              "equal", "how the global batch is shared out")
      .text_list("use", &T::use, "region:NAME or island:NAME; empty: everything; the rest idles")
      .duration("step_time", &T::step_time, kUpTo90Days, "0 s",
                "compute time of a step of the whole fleet at speed 1: a slice takes step_time x (its "
                "tokens / batch_tokens) x (fleet's chips / its chips) / its speed; 0: from model, "
                "chips, peak and utilization");
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
                "from a failure or partition until the job and the others notice (assumed: part of "
                "downscale)")
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
               "who takes part again without the job's present state is sent it, over the links where "
               "need be; false: that costs nothing")
      .choice("recovery", of(&E::recovery),
              Choices<Recovery>{{"host-memory", Recovery::kHostMemory},
                                {"peer", Recovery::kPeer},
                                {"checkpoint", Recovery::kCheckpoint}},
              "host-memory",
              "where the state comes from when a program died: its hosts' copy of the last step "
              "(chips and slices leave it, islands and regions take it), else a replica that is up, "
              "else the last checkpoint (arXiv:2604.21428, section 4)")
      .duration("timeout", of(&E::timeout), kUpTo90Days, "0 s",
                "how long a collective hangs on a link that went down before it is tried again "
                "(assumed)")
      .table("checkpoint", &TrainingOptions::checkpoint, checkpoint_schema(),
             "what is gone back to when nobody holds the state");
}

// How the slices of one learner reduce their gradients.
void add_reduction_keys(SchemaOf<TrainingOptions>& schema) {
  using T = TrainingOptions;
  schema
      .choice("reduce", &T::reduce,
              Choices<ReduceKind>{{"two-level", ReduceKind::kTwoLevel}, {"ring", ReduceKind::kRing}},
              "two-level",
              "of gradients in a learner. two-level: inside each region, then one ring over its regions")
      .integer("buckets", &T::buckets, between(1, 1e6), 64,
               "gradient buckets that become ready evenly through the backward pass (fits the "
               "paper's Table 13, facts 3.3)");
}

const std::vector<std::string>& decoupled() {
  static const std::vector<std::string> names = {"decoupled-diloco"};
  return names;
}
const std::vector<std::string>& streaming() {
  static const std::vector<std::string> names = {"streaming-diloco"};
  return names;
}
const std::vector<std::string>& whole() {
  static const std::vector<std::string> names = {"diloco"};
  return names;
}
const std::vector<std::string>& at_barriers() {
  static const std::vector<std::string> names = {"streaming-diloco", "diloco"};
  return names;
}
const Choices<optim::WireFormat>& wire_formats() {
  using F = optim::WireFormat;
  static const Choices<F> formats = {{"fp32", F::kFp32}, {"bf16", F::kBf16}, {"int8", F::kInt8},
                                     {"int4", F::kInt4}, {"e3m0", F::kE3m0}};
  return formats;
}

// When which part of the model is synchronised, and in which form.
void add_fragment_keys(SchemaOf<TrainingOptions>& schema) {
  using T = TrainingOptions;
  const auto all = [](auto& training) -> auto& { return training; };
  const std::string every = "H: steps between two syncs of a fragment ";
  const std::string alpha = "alpha: weight of the local value at adoption ";
  const std::string wire = "form of outer gradients on the links; sums in full precision ";
  const std::string overlap =
      "tau: steps over which a sync overlaps compute; \"fit\": the fewest that it and its grace fit into ";
  schema.integer("fragments", &T::fragments, between(1, 65534), 24, "P (paper 1.1)")
      .only("method", decoupled())
      .integer("fragments", &T::fragments, between(1, 65534), 8,
               "P (arXiv:2501.18512: three layers each, 8 of 24 layers)")
      .only("method", streaming())
      .choice("partition", &T::partition,
              Choices<FragmentPartition>{{"strided", FragmentPartition::kStrided},
                                         {"sequential", FragmentPartition::kSequential},
                                         {"balanced", FragmentPartition::kBalanced}},
              "strided",
              "nominal layers of a fragment (strided: arXiv:2501.18512); without model.layers: "
              "equal parts")
      .only("method", streaming())
      .integer("sync_every", &T::sync_every, between(1, 1e9), 24, every + "(paper 1.1)")
      .only("method", decoupled())
      .integer("sync_every", &T::sync_every, between(1, 1e9), 100, every + "(arXiv:2501.18512)")
      .only("method", streaming())
      .integer("sync_every", &T::sync_every, between(1, 1e9), 500,
               "H: steps between two syncs (arXiv:2311.08105)")
      .only("method", whole())
      .integer("first_take", &T::first_take, between(0, 1e9), 0,
               "step, modulo H, at which fragment 0 is taken; p follows floor(p H / P) later")
      .only("method", streaming())
      .custom("overlap_steps", "integer or text", "0 to 1e9 fit", all, read_overlap, write_overlap, 2,
              overlap + "(paper 1.1)")
      .only("method", decoupled())
      .custom("overlap_steps", "integer or text", "0 to 1e9 fit", all, read_overlap, write_overlap, 1,
              overlap + "(arXiv:2501.18512)")
      .only("method", streaming())
      .real("mixing", &T::mixing, between(0, 1), 0.0, alpha + "(paper D.1)")
      .only("method", decoupled())
      .real("mixing", &T::mixing, between(0, 1), 0.5, alpha + "(arXiv:2501.18512)")
      .only("method", streaming())
      .choice("wire", &T::wire, wire_formats(), "bf16", wire + "(paper)")
      .only("method", decoupled())
      .choice("wire", &T::wire, wire_formats(), "e3m0", wire + "(arXiv:2501.18512)")
      .only("method", streaming())
      .choice("wire", &T::wire, wire_formats(), "fp32", wire + "(arXiv:2311.08105)")
      .only("method", whole());
}

// Who is waited for, and what becomes of what is late.
void add_patience_keys(SchemaOf<TrainingOptions>& schema) {
  using T = TrainingOptions;
  schema
      .choice("on_loss", &T::on_loss,
              Choices<LossPolicy>{{"skip", LossPolicy::kSkip},
                                  {"wait", LossPolicy::kWait},
                                  {"stale", LossPolicy::kStale},
                                  {"discard", LossPolicy::kDiscard}},
              "skip",
              "a learner that is gone: merge without it, and back it copies what it missed (a peer's "
              "state if there was a merge, else nothing); wait for it; let it go on with what it has; "
              "or throw the round away (assumed)")
      .only("method", at_barriers())
      .choice("late", &T::late,
              Choices<LatePolicy>{{"block", LatePolicy::kBlock},
                                  {"skip", LatePolicy::kSkip},
                                  {"stale", LatePolicy::kStale}},
              "block",
              "a merge that is not there tau steps after its take: wait, do without it, or adopt it "
              "later (block: arXiv:2501.18512)")
      .only("method", streaming())
      .choice("late", &T::late,
              Choices<LatePolicy>{{"skip", LatePolicy::kSkip}, {"merge", LatePolicy::kMerge}},
              "skip", "a fragment that falls due while ceil(tau) syncs are in flight (assumed)")
      .only("method", decoupled())
      .integer("quorum", &T::quorum, at_least(1), 1, "K: reports that a merge waits for (paper 1.1)")
      .only("method", decoupled())
      .choice("grace", &T::grace,
              Choices<GraceKind>{{"adaptive", GraceKind::kAdaptive}, {"none", GraceKind::kNone}},
              "adaptive", "wait for more than the quorum in the slack that is left (paper 3.2)")
      .only("method", decoupled())
      .real("grace_margin", &T::grace_margin, from_to_below(0, 1), 0.9,
            "gamma: share of the slack that is used (assumed; paper: below 1)")
      .only("method", decoupled())
      .real("tracking", &T::tracking, above_to(0, 1), 0.5,
            "weight of the newest value in the moving averages (an open implementation's choice)")
      .only("method", decoupled())
      .choice("adopt", &T::adoption,
              Choices<Adoption>{{"on-arrival", Adoption::kOnArrival},
                                {"pinned", Adoption::kPinned}},
              "on-arrival", "pinned: tau steps after the take, not before (paper: on arrival)")
      .only("method", decoupled())
      .integer("metadata", &T::metadata_bytes, between(0, 1e12), 512,
               "bytes of a learner's report per step (assumed: two counters per fragment)")
      .only("method", decoupled())
      .integer("resume_within", &T::resume_within, between(0, 1e9), 24,
               "steps: a shorter outage resumes stale, a longer one copies a peer (assumed: H)")
      .only("method", decoupled());
}

void add_merge_keys(SchemaOf<TrainingOptions>& schema) {
  using T = TrainingOptions;
  schema.table("syncer", &T::syncer, syncer_schema(), "the service that holds global fragments")
      .only("method", decoupled())
      .table("snapshot", &T::snapshot, snapshot_schema(),
             "consistent states of the whole run that it can be resumed from; cost no time")
      .only("method", decoupled())
      .table("outer", &T::outer, optim::outer_schema(), "outer optimizer")
      .only("method", {"decoupled-diloco", "diloco"})
      .table("outer", &T::outer, optim::streaming_outer_schema(), "outer optimizer")
      .only("method", streaming())
      .table("merge", &T::merge, optim::merge_schema(), "how outer gradients are averaged")
      .only("method", decoupled())
      .boolean("token_weights", &T::token_weights, true,
               "weight tokens x tokens / steps (paper 3.2); false: equal weights")
      .only("method", decoupled())
      .boolean("token_weights", &T::token_weights, false,
               "weight tokens x tokens / steps; false: equal weights (arXiv:2311.08105)")
      .only("method", at_barriers());
}

}  // namespace

const SchemaOf<TrainingOptions>& training_schema() {
  static const auto schema = [] {
    SchemaOf<TrainingOptions> built;
    add_layout_keys(built);
    add_elasticity_keys(built);
    built.table("inner", &TrainingOptions::inner, optim::inner_schema(), "inner optimizer");
    add_reduction_keys(built);
    add_fragment_keys(built);
    add_patience_keys(built);
    add_merge_keys(built);
    return built;
  }();
  return schema;
}

std::string method_name(MethodKind method) {
  for (const auto& [name, kind] : method_choices()) {
    if (kind == method) return name;
  }
  return {};
}

}  // namespace sim::methods
