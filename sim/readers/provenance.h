// sim/readers/provenance.h: a version or a state stands where it was made or where bytes carried it.
//
// Checked on every tape from what it says of transfers and deaths, without asking the method:
//   - a merge is made in a region that holds the version before and has all of its takes; whoever
//     exchanged bulk bytes may hold what the other held when the last came (control messages carry none);
//   - a version is adopted only in a region that may hold it;
//   - a fragment goes back only to a version that the region of its keeper may hold;
//   - a region whose hosts died holds nothing until bytes come, or the store is read;
//   - a learner all of whose hosts died steps again only in a new life.
// A region is taken to hold all that any of its hosts holds, a transfer to carry all that its source holds,
// and a learner over several regions to be in each of them: so the law may miss a loss inside a region,
// and never sees one that is none.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "sim/tape/reader.h"
#include "sim/tape/run_shape.h"

namespace sim::readers {

using base::Nanoseconds;

class Provenance : public tape::Reader {
 public:
  // The shape outlives the reader. Where transfers leave no facts (no network), whatever stands
  // somewhere can be had everywhere.
  Provenance(const tape::RunShape& shape, bool transfers_are_told);

  void on(const tape::Fact& fact) override;

  // The first 20, in tape order, each with its date.
  const std::vector<std::string>& violations() const { return violations_; }
  std::uint64_t violation_count() const { return violation_count_; }

 private:
  static constexpr Nanoseconds kNothing = -1;
  // What a region has: of each region, its news up to a date; of each fragment, the newest merge.
  struct Store {
    std::vector<Nanoseconds> news;      // (regions)
    std::vector<std::int64_t> merge;    // (P); -1: nothing, 0: the initial value
  };
  struct Exchange {
    std::vector<std::pair<std::uint16_t, std::uint16_t>> hops;  // (source, target)
    std::size_t open = 0;
    bool broken = false;
  };
  struct Take {
    std::uint32_t sync;
    std::uint16_t learner;
    Nanoseconds at;
  };
  struct Made {
    std::uint32_t sync, version;
    std::int64_t merge;
  };
  struct Fragment {
    std::int64_t newest = 0;
    std::vector<Take> takes;   // open
    std::deque<Made> made;     // of the present epoch; the oldest may be forgotten
    bool forgot = false;
  };

  void on_started(const tape::TransferStarted& started);
  void on_done(const tape::TransferDone& done);
  void deliver(const Exchange& exchange);
  void on_taken(const tape::FragmentTaken& taken);
  void on_merged(const tape::FragmentMerged& merged);
  void on_adopted(const tape::FragmentAdopted& adopted);
  void on_gone_back(const tape::FragmentRestored& restored);
  void on_restored(const tape::GlobalRestored& restored);
  void on_fault(const tape::FaultStarted& fault);
  void on_slice(const tape::SliceChanged& change);
  void on_steps(const tape::StepsDone& steps);
  void on_new_life(std::uint16_t learner);
  void share_everywhere();
  void wipe(std::uint16_t region);
  void begin_epoch(Fragment& fragment);
  std::uint16_t region_of(std::uint16_t learner) const { return shape_.learners.at(learner).region; }
  bool spans_regions(std::uint16_t learner) const;
  bool has_merge(std::uint16_t learner, std::uint16_t fragment, std::int64_t merge) const;
  void violation(const std::string& text);

  const tape::RunShape& shape_;
  bool transfers_are_told_;
  std::vector<Store> stores_;               // (regions)
  std::map<std::uint32_t, Exchange> exchanges_;  // open
  std::map<std::uint32_t, std::uint32_t> exchange_of_;  // by open transfer
  std::vector<Fragment> fragments_;         // (P)
  std::int64_t merges_ = 0;
  std::vector<bool> host_holds_;            // (slices) the state of its learner
  std::vector<bool> joined_;                // (slices)
  std::vector<Nanoseconds> gone_since_;     // (learners) its last host died; kNever: it did not
  Nanoseconds now_ = 0;
  std::vector<std::string> violations_;
  std::uint64_t violation_count_ = 0;
};

}  // namespace sim::readers
