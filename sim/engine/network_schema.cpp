// sim/engine/network_schema.cpp: the keys of [network], [[region]] and [[link]].
#include "sim/engine/network_schema.h"

namespace sim::engine {

using base::kRequired;
using base::Problems;
using base::SchemaOf;
using base::Value;

namespace {

constexpr double kDay90 = 90.0 * 86400;

// between = ["a", "b"]: exactly two names.
void read_between(const Value& value, LinkOptions& link, Problems& problems) {
  const auto names = base::read_text_list(value, problems);
  if (!names) return;
  if (names->size() != 2 || (*names)[0] == (*names)[1]) {
    problems.add(value.place, "must name two different regions; got " + base::to_toml(value));
    return;
  }
  link.region_a = (*names)[0];
  link.region_b = (*names)[1];
}

Value write_between(const LinkOptions& link) {
  Value list;
  list.kind = Value::Kind::kList;
  list.items = {Value::of(link.region_a), Value::of(link.region_b)};
  return list;
}

const SchemaOf<RegionOptions>& fabric_schema() {
  static const auto schema =
      SchemaOf<RegionOptions>()
          .quantity("bandwidth", &RegionOptions::fabric_bytes_per_s, base::Dimension::kRate,
                    base::above(0), "400 Gbps",
                    "between hosts of the region, each direction (a DGX H100 node has 8 x 400)")
          .duration("latency", &RegionOptions::fabric_latency, base::between(0, 60), "50 us",
                    "one way (assumed)");
  return schema;
}

}  // namespace

const SchemaOf<NetworkOptions>& network_schema() {
  using N = NetworkOptions;
  static const auto schema =
      SchemaOf<N>()
          .choice("model", &N::model,
                  base::Choices<NetworkModel>{{"simgrid", NetworkModel::kSimgrid},
                                              {"closed-form", NetworkModel::kClosedForm},
                                              {"none", NetworkModel::kNone}},
                  "simgrid",
                  "simgrid: flows share links; closed-form: the same by formula, faster; none: "
                  "transfers take no time (goodput questions)");
  return schema;
}

const SchemaOf<RegionOptions>& region_schema() {
  static const auto schema =
      SchemaOf<RegionOptions>()
          .text("name", &RegionOptions::name, kRequired, "what islands, links and faults refer to")
          .table("fabric", [](auto& region) -> auto& { return region; }, fabric_schema(),
                 "the network inside the region");
  return schema;
}

const SchemaOf<LinkOptions>& link_schema() {
  static const auto schema =
      SchemaOf<LinkOptions>()
          .custom("between", "list of text", "two regions",
                  [](auto& link) -> auto& { return link; }, read_between, write_between, kRequired,
                  "the two regions that it joins")
          .quantity("bandwidth", &LinkOptions::bytes_per_s, base::Dimension::kRate, base::above(0),
                    kRequired, "each direction, full duplex")
          .duration("rtt", &LinkOptions::rtt, base::between(0, kDay90), kRequired,
                    "round-trip time; a transfer waits half of it first")
          .quantity("egress", &LinkOptions::dollars_per_gb, base::Dimension::kMoneyPerData,
                    base::at_least(0), "0 USD/GB",
                    "price of what crosses it, either direction; 0: that of [cost]");
  return schema;
}

}  // namespace sim::engine
