// sim/scenario/scenario_schema.cpp: the keys of the whole file.
#include "sim/scenario/scenario_schema.h"

#include <fmt/format.h>

#include <charconv>

#include "sim/chaos/fault_schema.h"
#include "sim/engine/network_schema.h"
#include "sim/methods/fleet_schema.h"
#include "sim/methods/training_schema.h"
#include "sim/readers/energy_schema.h"
#include "sim/scenario/sweep_schema.h"
#include "sim/trainer/learning_schema.h"

namespace sim::scenario {

using base::kRequired;
using base::Problems;
using base::SchemaOf;
using base::Value;

namespace {

constexpr base::Range kUpTo90Days = {.low = 0,
                                     .high = 90.0 * 86400,
                                     .hint = "no run lasts longer than 90 d"};

void read_format(const Value& value, const Scenario&, Problems& problems) {
  const auto format = base::read_integer(value, {}, problems);
  if (format && *format != kFormat) {
    problems.add(value.place, fmt::format("must be {}; got {}", kFormat, *format),
                 "this version reads no other form");
  }
}

// Whole numbers to 2^63 - 1; larger ones, which TOML cannot hold, as text.
void read_seed(const Value& value, std::uint64_t& seed, Problems& problems) {
  if (value.kind == Value::Kind::kText) {
    const char* const end = value.text.data() + value.text.size();
    const auto [rest, code] = std::from_chars(value.text.data(), end, seed);
    if (code == std::errc{} && rest == end) return;
    problems.add(value.place, "must be a whole number; got " + base::to_toml(value));
    return;
  }
  if (const auto read = base::read_integer(value, base::at_least(0), problems)) {
    seed = static_cast<std::uint64_t>(*read);
  }
}

Value write_seed(std::uint64_t seed) {
  if (seed > static_cast<std::uint64_t>(INT64_MAX)) return Value::of(fmt::format("{}", seed));
  return Value::of(static_cast<std::int64_t>(seed));
}

}  // namespace

const SchemaOf<MarkOptions>& mark_schema() {
  using M = MarkOptions;
  static const auto schema =
      SchemaOf<M>()
          .duration("time", &M::time, kUpTo90Days, "0 s", "0 s: no time mark")
          .real("tokens", &M::tokens, base::at_least(0), 0.0,
                "tokens consumed (processed, neither rolled back nor discarded); 0: no token mark")
          .real("energy_kwh", &M::energy_kwh, base::at_least(0), 0.0,
                "energy used, at the declared stall power; 0: no energy mark")
          .real("cost_usd", &M::cost_usd, base::at_least(0), 0.0, "money spent; 0: no cost mark")
          .real("loss", &M::loss, base::at_least(0), 0.0,
                "the first evaluation at or below it; 0: no loss mark")
          .duration("limit", &M::limit,
                    {.low = 0, .high = 90.0 * 86400, .low_open = true,
                     .hint = "no run lasts longer than 90 d"},
                    "90 d", "an arm that has not reached its marks by then ends: not reached");
  return schema;
}

const SchemaOf<Scenario>& head_schema() {
  using S = Scenario;
  const auto whole = [](auto& scenario) -> auto& { return scenario; };
  static const auto schema =
      SchemaOf<S>()
          .custom("format", "integer", "1", whole, read_format,
                  [](const S&) { return Value::of(kFormat); }, kRequired,
                  "version of this form: format = 1")
          .text("name", &S::name, kRequired, "what the scenario asks, in a few words")
          .custom("seed", "integer", "at least 0", &S::seed, read_seed, write_seed, kRequired,
                  "all random streams derive from it")
          .choice("overload", &S::allow_overload,
                  base::Choices<bool>{{"refuse", false}, {"allow", true}}, "refuse",
                  "a steady state that needs more than a link has")
          .choice("memory", &S::ignore_memory,
                  base::Choices<bool>{{"refuse", false}, {"ignore", true}}, "refuse",
                  "a model whose state and gradients do not fit the chips of its slice")
          .table("marks", &S::marks, mark_schema(), "where arms are compared")
          .table("model", &S::model, methods::nominal_model_schema(), "nominal model")
          .table("network", &S::network, engine::network_schema(), "how transfers are simulated")
          .table("spread", &S::spread, methods::speed_spread_schema(), "unequal speeds")
          .table("energy", &S::energy, readers::energy_schema(), "what joules are charged for")
          .table("cost", &S::cost, readers::cost_schema(), "what dollars are charged for");
  return schema;
}

const std::vector<std::string>& body_names() {
  static const std::vector<std::string> names = {"learning", "region",  "link", "island", "training",
                                                 "failure",  "fault",   "arm",  "expect", "sweep"};
  return names;
}

const std::vector<Section>& sections() {
  static const std::vector<Section> list = {
      {"", false, &head_schema(), "The top of the file."},
      {"marks", false, &mark_schema(), "Where arms are compared; at least one mark is needed."},
      {"model", false, &methods::nominal_model_schema(),
       "The nominal model: what time and links are charged for."},
      {"learning", false, &trainer::learning_schema(), "The proxy: what is really trained."},
      {"network", false, &engine::network_schema(), "How transfers are simulated."},
      {"region", true, &engine::region_schema(), "A place with a fast network inside."},
      {"link", true, &engine::link_schema(), "A wide-area link between two regions."},
      {"island", true, &methods::island_schema(), "A tightly coupled group of slices."},
      {"spread", false, &methods::speed_spread_schema(), "Unequal speeds of islands and steps."},
      {"energy", false, &readers::energy_schema(),
       "Joules: what chips, hosts and links draw. Measures at nominal energy, losses of the proxy."},
      {"cost", false, &readers::cost_schema(), "Dollars: prices are yours, none is built in."},
      {"training", false, &methods::training_schema(), "The first arm."},
      {"failure", true, &chaos::failure_schema(), "A random failure model; several act together."},
      {"fault", true, &chaos::fault_schema(), "One scripted fault."},
      {"sweep", false, &sweep_schema(), "What `atoll sweep` varies; also a file of its own, with `base`."},
      {"sweep.axis", true, &axis_schema(), "One key and its values."},
  };
  return list;
}

}  // namespace sim::scenario
