// failure_models/renewal.cpp: see renewal.h for the contract.
#include "failure_models/renewal.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace failure_models {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool superposes(const RenewalOptions& options) {
  return options.life.law == Law::kExponential;
}

void expect_valid(const RenewalOptions& options) {
  if (options.members < 1 || options.members > std::numeric_limits<std::uint32_t>::max()) {
    throw std::invalid_argument(
        fmt::format("members must be from 1 to 2^32 - 1; got {}", options.members));
  }
  if (!(options.life.mean_s > 0.0)) {
    throw std::invalid_argument("a life of mean 0 would fail for ever at one date");
  }
  if (options.age == Age::kGiven && !(options.age_s >= 0.0)) {
    throw std::invalid_argument(
        fmt::format("age_s must not be negative; got {}", options.age_s));
  }
}

}  // namespace

RenewalStream::RenewalStream(const RenewalOptions& options, std::uint64_t seed,
                             const std::string& name)
    : options_(options), life_(options.life), stream_(seed, name + "/life") {
  expect_valid(options);
  if (superposes(options_)) {
    advance();
    return;
  }
  queue_first_lives();
  find_next();
}

void RenewalStream::advance() {
  if (superposes(options_)) {
    next_s_ += life_.draw_s(stream_) / static_cast<double>(options_.members);
    return;
  }
  // The chip that fails at next_s() starts a new life; the others go on.
  if (!later_.empty() && later_.top().end_s < front_first_s_) {
    const LaterLife ended = later_.top();
    later_.pop();
    renew(ended.chip, ended.number + 1);
  } else {
    const FirstLife ended = first_.top();
    first_.pop();
    front_first_s_ = first_.empty() ? kInfinity : first_end_s(first_.top().uniform);
    renew(ended.chip, 1);
  }
  find_next();
}

void RenewalStream::queue_first_lives() {
  std::vector<FirstLife> lives;
  lives.reserve(static_cast<std::size_t>(options_.members));
  for (std::int64_t i = 0; i < options_.members; ++i) {
    const auto chip = static_cast<std::uint32_t>(i);
    lives.push_back({stream_.at(chip, 0).next_uniform(), chip});
  }
  first_ = Queue<FirstLife>(std::greater<>{}, std::move(lives));
  front_first_s_ = first_end_s(first_.top().uniform);
}

double RenewalStream::first_end_s(double uniform) const {
  switch (options_.age) {
    case Age::kEquilibrium: return life_.equilibrium_quantile(uniform);
    case Age::kNew: return life_.quantile(uniform);
    case Age::kGiven: break;
  }
  return life_.residual_quantile(options_.age_s, uniform);
}

void RenewalStream::find_next() {
  next_s_ = later_.empty() ? front_first_s_ : std::min(front_first_s_, later_.top().end_s);
}

void RenewalStream::renew(std::uint32_t chip, std::uint32_t number) {
  sim::base::Stream stream = stream_.at(chip, number);
  later_.push({next_s_ + life_.draw_s(stream), chip, number});
}

}  // namespace failure_models
