// sim/chaos/fault_schema.cpp: the keys of [[failure]] and [[fault]].
#include "sim/chaos/fault_schema.h"

#include "failure_models/distribution_schema.h"

namespace sim::chaos {

using base::between;
using base::Choices;
using base::Problems;
using base::Range;
using base::SchemaOf;
using base::Value;
using failure_models::Age;
using tape::FaultKind;
using tape::TargetKind;

namespace {

constexpr Range kUpTo90Days = {.low = 0,
                               .high = 90.0 * 86400,
                               .hint = "no run lasts longer than 90 d"};

const Choices<TargetKind>& target_kinds() {
  static const Choices<TargetKind> kinds = {
      {"chip", TargetKind::kChip},     {"slice", TargetKind::kSlice}, {"island", TargetKind::kIsland},
      {"region", TargetKind::kRegion}, {"link", TargetKind::kLink},   {"syncer", TargetKind::kSyncer}};
  return kinds;
}

const Choices<FaultKind>& fault_kinds() {
  static const Choices<FaultKind> kinds = {{"kill", FaultKind::kKill},
                                           {"rate-cut", FaultKind::kRateCut},
                                           {"partition", FaultKind::kPartition}};
  return kinds;
}

const Choices<Clock>& clocks() {
  static const Choices<Clock> names = {
      {"wall", Clock::kWall}, {"stepping", Clock::kStepping}, {"uptime", Clock::kUptime}};
  return names;
}

// age = "equilibrium" | "new" | a duration.
void read_age(const Value& value, FailureOptions& failure, Problems& problems) {
  failure.age_s = 0;
  if (value.kind == Value::Kind::kText && value.text == "equilibrium") {
    failure.age = Age::kEquilibrium;
    return;
  }
  if (value.kind == Value::Kind::kText && value.text == "new") {
    failure.age = Age::kNew;
    return;
  }
  const auto seconds =
      base::read_quantity(value, base::Dimension::kTime, base::at_least(0), problems);
  failure.age = Age::kGiven;
  if (seconds) failure.age_s = *seconds;
}

Value write_age(const FailureOptions& failure) {
  if (failure.age == Age::kGiven) {
    return Value::of(base::format_quantity(failure.age_s, base::Dimension::kTime));
  }
  return Value::of(failure.age == Age::kNew ? "new" : "equilibrium");
}

// for = "forever" | a duration.
void read_lasts(const Value& value, base::Nanoseconds& lasts, Problems& problems);

Choices<TargetKind> random_target_kinds() {
  Choices<TargetKind> kinds = target_kinds();
  kinds.pop_back();  // a syncer stands on a host of its region; it has no clock of its own
  return kinds;
}

}  // namespace

const SchemaOf<FailureOptions>& failure_schema() {
  using F = FailureOptions;
  const auto whole = [](auto& failure) -> auto& { return failure; };
  static const auto schema = [whole] {
    SchemaOf<F> built;
    built.text("name", &F::name, "", "random streams hang on it; empty: the target's")
        .choice("target", &F::target, random_target_kinds(), base::kRequired,
                "each of these fails again and again, by itself")
        .text("only", &F::only, "", "name of one island, region or link; empty: all");
    failure_models::add_law_keys(built, [](auto& f) -> auto& { return f.life; }, "mtbi",
                                 base::above(0), "exponential");
    built
        .choice("unit", &F::per_slice, Choices<bool>{{"chip", false}, {"slice", true}}, "chip",
                "what has a life of its own; slice: mtbi is a slice's")
        .only("target", {"chip"})
        .custom("repair", "time or table", "", &F::repair, failure_models::read_repair,
                failure_models::write_repair, base::kRequired,
                "time until it is back: \"10 min\", or { kind, mean, shape, power, sigma }")
        .custom("age", "text or time", "equilibrium new", whole, read_age, write_age,
                "equilibrium", "age of every unit at the start; equilibrium: as if running for ever")
        .choice("clock", &F::clock,
                clocks(), "wall",
                "wall: a failure every mtbi, also while it is down, the same dates for all arms; uptime: "
                "ages only while no fault holds it down, so it is up mtbi / (mtbi + repair), the same "
                "for all arms; stepping (the paper's simulation): ages only while a learner steps on a "
                "joined slice of it, of a link: of the regions at its ends");
    return built;
  }();
  return schema;
}

const SchemaOf<FaultOptions>& fault_schema() {
  using F = FaultOptions;
  const auto whole = [](auto& fault) -> auto& { return fault; };
  static const auto schema =
      SchemaOf<F>()
          .duration("at", &F::at, kUpTo90Days, base::kRequired, "date from the start of the run")
          .choice("kind", &F::kind, fault_kinds(), base::kRequired,
                  "kill: it is gone; rate-cut: a link gives factor of its rate; partition: a link "
                  "or a region's links carry nothing")
          .custom("target", "text", "chip: slice: island: region: link: syncer:", whole,
                  [](const Value& value, F& fault, Problems& problems) {
                    read_target(value, fault, problems);
                  },
                  [](const F& fault) {
                    return Value::of(target_text(fault.target_kind, fault.target));
                  },
                  base::kRequired,
                  "kind:NAME, such as region:us-west; chip and slice leave the hosts with their copy of "
                  "the state, island and region take them, with the syncers on them; region also takes "
                  "its links; a syncer (a learner's name, or central) that an arm does not have is not met")
          .custom("for", "time or text", "forever", &F::lasts, read_lasts,
                  [](base::Nanoseconds lasts) {
                    return Value::of(lasts == base::kNever ? "forever"
                                                           : base::format_duration(lasts));
                  },
                  "forever", "how long it lasts")
          .real("factor", &F::rate_factor, between(0, 1), base::kRequired,
                "share of the link's rate that is left")
          .only("kind", {"rate-cut"})
          .boolean("scripted", &F::scripted, true, "false: the recording of a fault that was drawn")
          .boolean("arm_relative", &F::arm_relative, false,
                   "true: the recording of a fault whose date hung on what its arm did");
  return schema;
}

std::string_view target_kind_name(TargetKind kind) {
  for (const auto& [name, value] : target_kinds()) {
    if (value == kind) return name;
  }
  return {};
}

std::string_view fault_kind_name(FaultKind kind) {
  for (const auto& [name, value] : fault_kinds()) {
    if (value == kind) return name;
  }
  return {};
}

std::string_view clock_name(Clock clock) {
  for (const auto& [name, value] : clocks()) {
    if (value == clock) return name;
  }
  return {};
}

std::optional<TargetKind> find_target_kind(std::string_view name) {
  for (const auto& [known, value] : target_kinds()) {
    if (known == name) return value;
  }
  return {};
}

std::optional<FaultKind> find_fault_kind(std::string_view name) {
  for (const auto& [known, value] : fault_kinds()) {
    if (known == name) return value;
  }
  return {};
}

std::string link_name(std::string_view region_a, std::string_view region_b) {
  return std::string(region_a) + "--" + std::string(region_b);
}

std::string target_text(TargetKind kind, std::string_view name) {
  return std::string(target_kind_name(kind)) + ":" + std::string(name);
}

bool read_target(const Value& value, FaultOptions& fault, Problems& problems) {
  const auto text = base::read_text(value, problems);
  if (!text) return false;
  const std::size_t colon = text->find(':');
  const auto kind = find_target_kind(text->substr(0, colon));
  if (!kind || colon == std::string::npos || colon + 1 == text->size()) {
    problems.add(value.place,
                 "must be chip:, slice:, island:, region:, link: or syncer: and a name; got " +
                     base::to_toml(value),
                 "write it like \"region:us-west\"");
    return false;
  }
  fault.target_kind = *kind;
  fault.target = text->substr(colon + 1);
  return true;
}

namespace {

// A drawn repair may be longer than any run and of any length; what somebody wrote is checked with its
// neighbours. Whole numbers are read as such: a double holds nanoseconds for 104 days only.
void read_lasts(const Value& value, base::Nanoseconds& lasts, Problems& problems) {
  if (value.kind == Value::Kind::kText && value.text == "forever") {
    lasts = base::kNever;
    return;
  }
  const auto seconds = base::read_quantity(
      value, base::Dimension::kTime,
      {.low = 0, .high = base::to_seconds(base::kNever), .hint = "write \"forever\" for good"},
      problems);
  if (seconds) lasts = base::parse_duration(value.text).value_or(base::from_seconds(*seconds));
}

}  // namespace

}  // namespace sim::chaos
