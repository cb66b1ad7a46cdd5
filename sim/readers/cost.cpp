// sim/readers/cost.cpp: see cost.h for what is billed.
#include "sim/readers/cost.h"

namespace sim::readers {
namespace {

constexpr double kNanosecondsPerHour = 3.6e12;

double dollars(ChipNanoseconds price_time) {
  return static_cast<double>(price_time) / 1e9 / kNanosecondsPerHour;
}

}  // namespace

CostLedger::CostLedger(const tape::RunShape& shape, CostOptions options)
    : shape_(shape),
      options_(options),
      slices_(shape.slices.size()),
      egress_(shape.regions.size() * shape.regions.size(), 0.0) {
  for (std::size_t s = 0; s < shape.slices.size(); ++s) {
    if (!is_billed(s)) continue;
    priced_ = priced_ && shape.slices[s].nanodollars_per_h > 0;
    fleet_price_ += price(s);
  }
  for (const tape::LinkShape& link : shape.links) {
    egress_[link.region_a * shape.regions.size() + link.region_b] = link.dollars_per_gb;
    egress_[link.region_b * shape.regions.size() + link.region_a] = link.dollars_per_gb;
  }
}

bool CostLedger::is_billed(std::size_t slice) const {
  return options_.bill_unused || shape_.slices[slice].learner != tape::kNoLearner;
}

std::int64_t CostLedger::price(std::size_t slice) const {
  return shape_.slices[slice].chips * shape_.slices[slice].nanodollars_per_h;
}

void CostLedger::on(const tape::Fact& fact) {
  if (fact.kind != tape::Kind::kSliceChanged || options_.bill_failed) return;
  const std::uint32_t index = fact.slice_changed.slice;
  Slice& slice = slices_.at(index);
  if (slice.failed && is_billed(index)) {
    not_billed_ += chip_time(price(index), fact.at - slice.since);
  }
  slice = {fact.slice_changed.state == tape::SliceState::kFailed, fact.at};
}

std::optional<Cost> CostLedger::at(Nanoseconds now, const TrafficLedger& traffic) const {
  if (!priced_) return std::nullopt;
  ChipNanoseconds billed = chip_time(fleet_price_, now) - not_billed_;
  for (std::size_t s = 0; s < slices_.size(); ++s) {
    if (slices_[s].failed && is_billed(s)) billed -= chip_time(price(s), now - slices_[s].since);
  }
  Cost result;
  result.chips = dollars(billed);
  result.egress =
      egress(traffic, [](const ByteTotals& bytes) { return bytes.received + bytes.lost; });
  result.total = result.chips + result.egress;
  return result;
}

double CostLedger::in_flight(const TrafficLedger& traffic) const {
  return egress(traffic, [](const ByteTotals& bytes) { return bytes.in_flight; });
}

template <class Count>
double CostLedger::egress(const TrafficLedger& traffic, Count count) const {
  double sum = 0;
  const std::size_t regions = shape_.regions.size();
  for (std::size_t a = 0; a < regions; ++a) {
    for (std::size_t b = 0; b < regions; ++b) {
      const double price = egress_[a * regions + b];
      if (a == b || price == 0) continue;
      const std::int64_t bytes =
          count(traffic.between(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b)));
      sum += static_cast<double>(bytes) / 1e9 * price;
    }
  }
  return sum;
}

double CostLedger::dollars_per_s_max() const {
  return static_cast<double>(fleet_price_) / 1e9 / 3600.0;
}

double CostLedger::egress_per_s_max() const {
  double sum = 0;
  for (const tape::LinkShape& link : shape_.links) {
    sum += 2.0 * link.bytes_per_s / 1e9 * link.dollars_per_gb;
  }
  return sum;
}

}  // namespace sim::readers
