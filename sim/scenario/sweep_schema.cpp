// sim/scenario/sweep_schema.cpp: see sweep_schema.h. What the axes' keys and values mean is checked by
// laying them on the scenario (sim/experiment/sweep_load.h).
#include "sim/scenario/sweep_schema.h"

#include <fmt/format.h>

namespace sim::scenario {

using base::Problems;
using base::Standard;
using base::Value;

namespace {

constexpr double kCountMax = 10'000'000;

bool is_scalar(const Value& value) {
  return value.kind != Value::Kind::kList && value.kind != Value::Kind::kTable &&
         value.kind != Value::Kind::kOther;
}

void read_values(const Value& value, std::vector<Value>& values, Problems& problems) {
  if (value.kind != Value::Kind::kList) {
    problems.add(value.place, "must be a list; got " + base::to_toml(value));
    return;
  }
  values = value.items;
}

void read_end(const Value& value, Value& end, Problems& problems) {
  if (value.kind == Value::Kind::kText || value.kind == Value::Kind::kInteger ||
      value.kind == Value::Kind::kReal) {
    end = value;
    return;
  }
  problems.add(value.place, "must be a number, or text with a unit; got " + base::to_toml(value));
}

Value write_values(const std::vector<Value>& values) {
  Value list;
  list.kind = Value::Kind::kList;
  list.items = values;
  return list;
}

void check_form(const Value& item, const AxisOptions& axis, Problems& problems) {
  const bool has_list = item.find("values") != nullptr;
  const bool has_from = item.find("from") != nullptr, has_to = item.find("to") != nullptr;
  base::Place place = item.place;
  if (has_list && (has_from || has_to)) {
    problems.add(item.find("values")->place, "stands beside from and to",
                 "give a list of values or a range, not both");
  } else if (!has_list && !(has_from && has_to)) {
    problems.add(place, "needs values, or from and to",
                 "write values = [ ... ], or from = ..., to = ..., count = ...");
  } else if (has_list && axis.values.empty() &&
             item.find("values")->kind == Value::Kind::kList) {
    problems.add(item.find("values")->place, "must hold at least one value; got []",
                 "an axis without values has no points");
  }
  for (const Value& value : axis.values) {
    const bool inner = value.kind == Value::Kind::kList || value.kind == Value::Kind::kTable;
    if (!inner && !is_scalar(value)) {
      problems.add(value.place, "must be a number, text, true or false; got " + base::to_toml(value));
    }
  }
}

void read_axes(const Value& value, SweepOptions& sweep, Problems& problems) {
  if (value.kind != Value::Kind::kList) {
    problems.add(value.place, "must be a list of tables; got " + base::to_toml(value),
                 "write [[sweep.axis]]");
    return;
  }
  for (const Value& item : value.items) {
    AxisOptions axis{};
    const std::size_t before = problems.list().size();
    base::bind(axis_schema(), item, &axis, problems);
    if (item.kind == Value::Kind::kTable && problems.list().size() == before) {
      check_form(item, axis, problems);
    }
    axis.place = item.place;
    sweep.axes.push_back(std::move(axis));
  }
}

Value write_axes(const SweepOptions& sweep) {
  Value list;
  list.kind = Value::Kind::kList;
  for (const AxisOptions& axis : sweep.axes) list.items.push_back(base::write(axis_schema(), &axis));
  return list;
}

}  // namespace

const base::SchemaOf<AxisOptions>& axis_schema() {
  using A = AxisOptions;
  const auto end = [](const Value& value) { return value; };
  static const auto schema =
      base::SchemaOf<A>()
          .text("key", &A::key, base::kRequired, "the key that varies, named as by --set")
          .custom("values", "list", "", &A::values, read_values, write_values,
                  Standard::empty_list(), "its values, one after another")
          .custom("from", "number or text with a unit", "", &A::from, read_end, end, "",
                  "first value of a range")
          .custom("to", "number or text with a unit", "", &A::to, read_end, end, "",
                  "last value, in the unit of the first")
          .integer("count", &A::count, base::between(2, kCountMax), 5, "values of a range")
          .choice("spacing", &A::spacing,
                  base::Choices<AxisSpacing>{{"linear", AxisSpacing::kLinear},
                                             {"log", AxisSpacing::kLog}},
                  "linear", "equal differences or equal ratios; values keep six significant digits")
          .boolean("whole", &A::whole, false, "round each value of a range to a whole number, the ends too");
  return schema;
}

const base::SchemaOf<SweepOptions>& sweep_schema() {
  using S = SweepOptions;
  const auto whole = [](auto& sweep) -> auto& { return sweep; };
  static const auto schema =
      base::SchemaOf<S>()
          .choice("combine", &S::combine,
                  base::Choices<SweepCombine>{{"grid", SweepCombine::kGrid},
                                              {"zip", SweepCombine::kZip},
                                              {"latin-hypercube", SweepCombine::kLatinHypercube}},
                  "grid", "every combination; the axes in step; or samples of the whole cube")
          .text("seeds", &S::seeds, "1..10", "FIRST..LAST; the same for every point and arm")
          .text_list("arms", &S::arms, "which arms; none: all")
          .text("reference", &S::reference, "", "arm to which differences are taken; none: the first")
          .text_list("set", &S::set, "KEY=VALUE, laid on the scenario before the axes")
          .integer("samples", &S::samples, base::between(1, kCountMax), 50,
                   "points of a Latin hypercube")
          .integer("design_seed", &S::design_seed, base::at_least(0), 1,
                   "seed of a Latin hypercube's draws")
          .real("until_ci", &S::until_ci, base::between(0, 100), 0.0,
                "add seeds to a point until each arm's 95 % interval of the metric is at most this many "
                "points (0.01) to each side; begins with at least 10 seeds, and takes equal values for a narrow "
                "interval from 30 on (assumed; rule of three: what none of 30 runs shows has a probability below "
                "10 %); 0: seeds as given")
          .text("metric", &S::metric, "goodput.token",
                "a number in summary.json, a share for until_ci: what until_ci looks at, and the gate if metrics "
                "names none")
          .text_list("metrics", &S::metrics, "what the gate guards, all at once; none: metric")
          .integer("seeds_block", &S::seeds_block, base::between(2, 1000), 10,
                   "seeds added at a time by until_ci")
          .integer("seeds_max", &S::seeds_max, base::between(2, 10'000), 100,
                   "seeds of a point at most, with until_ci")
          .choice("arm_overrides", &S::arm_overrides,
                  base::Choices<ArmOverrides>{{"refuse", ArmOverrides::kRefuse},
                                              {"replace", ArmOverrides::kReplace}},
                  "refuse", "an axis on a key that an arm sets itself")
          .custom("axis", "list of tables", "", whole, read_axes, write_axes,
                  Standard::empty_list(), "[[sweep.axis]], below");
  return schema;
}

}  // namespace sim::scenario
