// failure_models/distribution_schema.cpp: the table of a repair, and its short form.
#include "failure_models/distribution_schema.h"

namespace failure_models {

using sim::base::Value;

const sim::base::SchemaOf<DistributionOptions>& repair_schema() {
  static const auto schema = [] {
    sim::base::SchemaOf<DistributionOptions> built;
    add_law_keys(built, [](auto& options) -> auto& { return options; }, "mean",
                 sim::base::at_least(0), "exponential");
    return built;
  }();
  return schema;
}

void read_repair(const Value& value, DistributionOptions& repair, sim::base::Problems& problems) {
  if (value.kind == Value::Kind::kTable) {
    sim::base::bind(repair_schema(), value, &repair, problems);
    if (repair.law != Law::kConstant && repair.mean_s == 0) {
      const Value* const mean = value.find("mean");
      if (mean != nullptr && mean->kind == Value::Kind::kText) {
        problems.add(mean->place, "must be above 0 s; got " + sim::base::to_toml(*mean),
                     "only kind \"constant\" takes no time");
      }
    }
    return;
  }
  const auto seconds = sim::base::read_quantity(value, sim::base::Dimension::kTime,
                                                sim::base::at_least(0), problems);
  if (seconds) repair = {Law::kConstant, *seconds, 1.0, 1.0, 1.0};
}

Value write_repair(const DistributionOptions& repair) {
  return sim::base::write(repair_schema(), &repair);
}

}  // namespace failure_models
