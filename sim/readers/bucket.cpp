// sim/readers/bucket.cpp: names of the buckets, and which activity fills which.
#include "sim/readers/bucket.h"

#include <array>
#include <stdexcept>

namespace sim::readers {

std::string_view bucket_name(Bucket bucket) {
  static constexpr std::array<std::string_view, kBucketCount> kNames = {
      "compute",           "waiting_for_slowest", "exposed_communication", "rolled_back",
      "interrupted_step",  "unfinished_step",     "starting",              "detecting",
      "downscaling",       "upscaling",           "restarting",            "loading_checkpoint",
      "saving_checkpoint", "copying_state",       "waiting_for_repair",    "waiting_for_merge",
      "waiting_for_network", "finished",          "failed",                "waiting_to_join",
      "unused"};
  return kNames.at(static_cast<std::size_t>(bucket));
}

Bucket bucket_of(tape::Activity activity) {
  using tape::Activity;
  if (activity == Activity::kStepping) throw std::logic_error("stepping has more than one bucket");
  // Activities after kStepping and buckets after kStarting stand in the same order.
  constexpr int kShift = static_cast<int>(Bucket::kDetecting) - static_cast<int>(Activity::kDetecting);
  static_assert(static_cast<int>(Activity::kFinished) + kShift == static_cast<int>(Bucket::kFinished));
  return static_cast<Bucket>(static_cast<int>(activity) + kShift);
}

}  // namespace sim::readers
