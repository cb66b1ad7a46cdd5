// optim/optimizer_schema.cpp: the keys of inner, outer, merge and schedule.
#include "optim/optimizer_schema.h"

namespace optim {

using sim::base::above;
using sim::base::at_least;
using sim::base::between;
using sim::base::Choices;
using sim::base::from_to_below;
using sim::base::SchemaOf;

const SchemaOf<InnerOptions>& inner_schema() {
  using I = InnerOptions;
  static const auto schema =
      SchemaOf<I>()
          .choice("optimizer", &I::kind,
                  Choices<InnerKind>{{"adamw", InnerKind::kAdamW}, {"sgd", InnerKind::kSgd}},
                  "adamw", "what a learner does with a gradient (AdamW: DiLoCo lineage)")
          .real("learning_rate", &I::learning_rate, at_least(0), 0.003,
                "peak of the schedule (assumed; the paper publishes none)")
          .real("beta1", &I::beta1, from_to_below(0, 1), 0.9, "first moment (torch.optim.AdamW)")
          .only("optimizer", {"adamw"})
          .real("beta2", &I::beta2, from_to_below(0, 1), 0.99,
                "second moment (assumed; shorter memory than PyTorch's 0.999 for short runs)")
          .only("optimizer", {"adamw"})
          .real("epsilon", &I::epsilon, above(0), 1e-8, "denominator (torch.optim.AdamW)")
          .only("optimizer", {"adamw"})
          .real("weight_decay", &I::weight_decay, at_least(0), 0.0, "decoupled (assumed)")
          .real("clip_norm", &I::clip_norm, at_least(0), 1.0,
                "global gradient norm; 0: no clipping (assumed)");
  return schema;
}

namespace {

SchemaOf<OuterOptions> outer_schema_with(double learning_rate, const std::string& source) {
  using O = OuterOptions;
  return SchemaOf<O>()
      .choice("optimizer", &O::kind,
              Choices<OuterKind>{{"nesterov", OuterKind::kNesterov},
                                  {"sgd", OuterKind::kSgd},
                                  {"adam", OuterKind::kAdam}},
              "nesterov", "what becomes of a merged outer gradient (paper 1.7)")
      .real("learning_rate", &O::learning_rate, at_least(0), learning_rate, source)
      .real("momentum", &O::momentum, from_to_below(0, 1), 0.9, source)
      .only("optimizer", {"nesterov"})
      // Plain SGD has none: a member must have a value all the same.
      .real("momentum", &O::momentum, between(0, 0), 0.0, "plain SGD has no momentum")
      .only("optimizer", {"sgd"})
      .real("beta1", &O::beta1, from_to_below(0, 1), 0.9, "first moment (DiLoCo's sweep)")
      .only("optimizer", {"adam"})
      .real("beta2", &O::beta2, from_to_below(0, 1), 0.95,
            "second moment (DiLoCo's sweep: 0.999 and 0.95; no bias correction)")
      .only("optimizer", {"adam"})
      .real("epsilon", &O::epsilon, above(0), 0.1, "denominator (DiLoCo's sweep needs a large one)")
      .only("optimizer", {"adam"});
}

}  // namespace

const SchemaOf<OuterOptions>& outer_schema() {
  static const auto schema =
      outer_schema_with(0.7, "DiLoCo lineage; not published for Decoupled DiLoCo");
  return schema;
}

const SchemaOf<OuterOptions>& streaming_outer_schema() {
  static const auto schema = outer_schema_with(0.4, "arXiv:2501.18512");
  return schema;
}

const SchemaOf<MergeOptions>& merge_schema() {
  using M = MergeOptions;
  static const auto schema =
      SchemaOf<M>()
          .choice("kind", &M::kind,
                  Choices<MergeKind>{{"rda", MergeKind::kRda}, {"average", MergeKind::kAverage}},
                  "rda", "for tensors that are no embeddings (paper, Appendix D.2)")
          .choice("granularity", &M::granularity,
                  Choices<RdaGranularity>{{"tensor", RdaGranularity::kTensor},
                                          {"row", RdaGranularity::kRow},
                                          {"fragment", RdaGranularity::kFragment}},
                  "tensor", "over what one norm is taken (assumed; the paper does not say)");
  return schema;
}

const SchemaOf<ScheduleOptions>& schedule_schema() {
  using S = ScheduleOptions;
  static const auto schema =
      SchemaOf<S>()
          .choice("kind", &S::kind,
                  Choices<ScheduleKind>{{"constant", ScheduleKind::kConstant},
                                        {"cosine", ScheduleKind::kCosine},
                                        {"wsd", ScheduleKind::kWsd}},
                  "constant", "after a linear warm-up; wsd: constant, then a linear decay")
          .real("warmup_tokens", &S::warmup_tokens, at_least(0), 0.0,
                "nominal tokens of linear warm-up")
          .real("horizon_tokens", &S::horizon_tokens, above(0), sim::base::kRequired,
                "nominal tokens at which the decay ends")
          .only("kind", {"cosine", "wsd"})
          .real("final_factor", &S::final_factor, between(0, 1), 0.1,
                "of the peak, at the horizon (assumed)")
          .only("kind", {"cosine", "wsd"})
          .real("decay_share", &S::decay_share, between(0, 1), 0.2,
                "last share of the horizon in which the rate decays (assumed)")
          .only("kind", {"wsd"});
  return schema;
}

}  // namespace optim
