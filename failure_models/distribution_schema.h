// failure_models/distribution_schema.h: the keys that give a law: its kind, mean and shape.
//
// Used twice: for the life of a unit, as keys of [[failure]] itself, and for its repair.
#pragma once

#include "failure_models/distribution.h"
#include "sim/base/schema.h"

namespace failure_models {

inline sim::base::Choices<Law> law_names() {
  return {{"exponential", Law::kExponential},
          {"weibull", Law::kWeibull},
          {"exponentiated-weibull", Law::kExponentiatedWeibull},
          {"lognormal", Law::kLognormal},
          {"constant", Law::kConstant}};
}

// Adds the keys kind, `mean_key`, shape, power and sigma to `schema`. `law` is a callable that
// takes an object of T to its DistributionOptions.
template <class T, class F>
void add_law_keys(sim::base::SchemaOf<T>& schema, F law, const char* mean_key,
                  sim::base::Range mean_range, sim::base::Standard kind) {
  using sim::base::above;
  schema
      .choice("kind", [law](auto& t) -> auto& { return law(t).law; }, law_names(), std::move(kind),
              "law of the time")
      .quantity(mean_key, [law](auto& t) -> auto& { return law(t).mean_s; },
                sim::base::Dimension::kTime, mean_range, sim::base::kRequired,
                "mean of the time; the scale of the law follows from it")
      .real("shape", [law](auto& t) -> auto& { return law(t).shape; }, above(0), 1.0,
            "k; 1 is the exponential, below 1 failures come in bursts")
      .only("kind", {"weibull", "exponentiated-weibull"})
      .real("power", [law](auto& t) -> auto& { return law(t).power; }, above(0), 1.0,
            "alpha: F(t) = (1 - exp(-(t/scale)^shape))^alpha; 1 is the Weibull law")
      .only("kind", {"exponentiated-weibull"})
      .real("sigma", [law](auto& t) -> auto& { return law(t).sigma; }, above(0), 1.0,
            "standard deviation of ln t (assumed)")
      .only("kind", {"lognormal"});
}

// The table form of a repair: { kind = "exponential", mean = "10 min" }.
const sim::base::SchemaOf<DistributionOptions>& repair_schema();

// A repair is a bare duration (constant) or that table.
void read_repair(const sim::base::Value& value, DistributionOptions& repair,
                 sim::base::Problems& problems);
sim::base::Value write_repair(const DistributionOptions& repair);

}  // namespace failure_models
