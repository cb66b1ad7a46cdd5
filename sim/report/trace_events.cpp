// sim/report/trace_events.cpp: see trace_events.h.
#include "sim/report/trace_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace sim::report {

// Multiples of 2^32 over the golden ratio fill [0, 2^32) evenly, and the kept part halves.
bool is_sampled(std::uint32_t number, std::uint64_t one_in) {
  const std::uint64_t place = std::uint32_t{number * 0x9e3779b9u};
  return place < (std::uint64_t{1} << 32) / one_in;
}

void LongestSpans::add(const TraceEvent& span) {
  const std::uint32_t number = count_++;
  if (span.lasts < shortest_ || !is_sampled(number, one_in_)) return;
  kept_.push_back({span, number});
  while (kept_.size() > events_max_) {
    const Nanoseconds longer = std::max(base::kMillisecond, 2 * shortest_);
    const auto left = static_cast<std::size_t>(std::ranges::count_if(
        kept_, [longer](const Kept& kept) { return kept.span.lasts >= longer; }));
    if (left >= events_max_ / 4) {
      shortest_ = longer;
      std::erase_if(kept_, [longer](const Kept& kept) { return kept.span.lasts < longer; });
    } else {
      one_in_ *= 2;
      std::erase_if(kept_, [this](const Kept& kept) { return !is_sampled(kept.number, one_in_); });
    }
  }
}

void LongestSpans::append_to(std::vector<TraceEvent>& events) const {
  for (const Kept& kept : kept_) events.push_back(kept.span);
}

void SampledGroups::add(std::uint32_t number, std::vector<TraceEvent> group) {
  if (!wants(number)) return;
  count_ += group.size();
  groups_[number] = std::move(group);
  while (count_ > events_max_) {
    if (groups_.size() == 1) {  // too large by itself
      groups_.clear();
      count_ = 0;
    }
    one_in_ *= 2;
    std::erase_if(groups_, [&](const auto& entry) {
      if (wants(entry.first)) return false;
      count_ -= entry.second.size();
      return true;
    });
  }
}

std::uint32_t Rows::take() {
  const auto free = std::ranges::find(taken_, false);
  const auto row = static_cast<std::uint32_t>(free - taken_.begin());
  if (free == taken_.end()) {
    taken_.push_back(true);
  } else {
    *free = true;
  }
  return row;
}

std::string microseconds(Nanoseconds time) { return fmt::format("{}.{:03}", time / 1000, time % 1000); }

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

}  // namespace sim::report
