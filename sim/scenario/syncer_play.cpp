// sim/scenario/syncer_play.cpp: see syncer_play.h.
#include "sim/scenario/syncer_play.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "sim/methods/fragment_traffic.h"
#include "sim/methods/grace.h"

namespace sim::scenario {
namespace {

using methods::LatePolicy;
using methods::Tracked;

constexpr std::uint32_t kNone = UINT32_MAX;

// At one date in this order: a decision sees all that has arrived.
enum class Event : std::uint8_t { kStepEnd, kReport, kPush, kWideStart, kWideEnd, kMerge, kDecide };

struct Due {
  Nanoseconds at;
  Event event;
  std::uint32_t sequence;
  std::uint32_t learner, sync;
  bool operator>(const Due& other) const {
    if (at != other.at) return at > other.at;
    if (event != other.event) return event > other.event;
    return sequence > other.sequence;
  }
};

struct Take {
  std::uint32_t learner;
  double steps;
};

struct Sync {
  std::uint16_t fragment;
  std::uint32_t step, version;
  Nanoseconds first_report, decided;
  std::vector<Take> takes;
  double wide_left;  // ns alone on the link
};

// A learner's fragment, in its own steps.
struct Held {
  double settled = 0, received = 0;
  std::uint32_t version = 0, merge = kNone, merge_before = kNone;
};

struct Learner {
  double steps = 0;
  std::uint32_t reported_step = 0;
  bool reported = false, again = false, heard = false, waits = false;
  Nanoseconds reported_at = 0;
  std::vector<std::uint32_t> inbox;  // syncs
};

class Player {
 public:
  explicit Player(const SyncerPlay& play)
      : play_(play),
        training_(*play.training),
        learners_(play.learners.size()),
        held_(learners_.size() * play.fragments.size()),
        versions_(play.fragments.size(), 0),
        last_begun_(versions_.size(), 0),
        settled_step_(versions_.size(), 0),
        quorum_estimate_(training_.tracking),
        sync_estimate_(training_.tracking) {
    std::vector<Nanoseconds> steps;
    for (const PlayedLearner& learner : play.learners) steps.push_back(learner.step);
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
    std::ranges::nth_element(steps, middle);
    step_estimate_ = *middle;
  }

  SyncerCounts run() {
    for (std::uint32_t m = 0; m < learners_.size(); ++m) {
      plan(play_.learners[m].step - play_.learners[m].phase, Event::kStepEnd, m, 0);
    }
    while (!due_.empty() && due_.top().at <= play_.until && steps_ < play_.most_steps) {
      const Due next = due_.top();
      due_.pop();
      if (steps_ <= play_.most_steps / 2) {
        half_ = counts_;
        half_at_ = now_;
      }
      now_ = next.at;
      meet(next);
    }
    return drawn_out();
  }

 private:
  void plan(Nanoseconds at, Event event, std::uint32_t learner, std::uint32_t sync) {
    due_.push({at, event, sequence_++, learner, sync});
  }

  void meet(const Due& due) {
    switch (due.event) {
      case Event::kStepEnd: return end_step(due.learner);
      case Event::kReport: return report(due.learner);
      case Event::kPush: return arrive(due.learner, due.sync);
      case Event::kWideStart: return start_wide(due.sync);
      case Event::kWideEnd: return due.sync == wide_plan_ ? end_wide() : void();
      case Event::kMerge: return publish(due.sync);
      case Event::kDecide: return decide();
    }
  }

  void end_step(std::uint32_t m) {
    learners_[m].steps += 1;
    steps_ += 1;
    counts_.computed += play_.learners[m].tokens;
    plan(now_ + play_.learners[m].report, Event::kReport, m, 0);
    go_on(m);
  }

  void go_on(std::uint32_t m) {
    learners_[m].waits = must_wait(m);
    if (learners_[m].waits) return;
    adopt(m);
    plan(now_ + play_.learners[m].step, Event::kStepEnd, m, 0);
  }

  bool pinned() const { return training_.adoption == methods::Adoption::kPinned; }

  bool must_wait(std::uint32_t m) const {
    const auto due = static_cast<std::int64_t>(learners_[m].steps) - training_.overlap_steps;
    if (!pinned() || due < 1) return false;
    const auto step = static_cast<std::uint32_t>(due);
    return std::ranges::any_of(methods::fragments_due(training_, step),
                               [&](std::uint16_t p) { return settled_step_[p] < step; });
  }

  void settle(std::uint16_t fragment, std::uint32_t step) {
    settled_step_[fragment] = std::max(settled_step_[fragment], step);
    for (std::uint32_t m = 0; m < learners_.size(); ++m) {
      if (learners_[m].waits) go_on(m);
    }
  }

  Held& held(std::uint32_t m, std::uint16_t p) { return held_[m * play_.fragments.size() + p]; }

  void adopt(std::uint32_t m) {
    std::vector<std::uint32_t> early;
    for (const std::uint32_t id : learners_[m].inbox) {
      const Sync& sync = syncs_[id];
      const double due = static_cast<double>(sync.step) + static_cast<double>(training_.overlap_steps);
      if (pinned() && learners_[m].steps < due) {
        early.push_back(id);
      } else {
        adopt_one(m, id);
      }
    }
    learners_[m].inbox = std::move(early);
  }

  // As readers/token_ledger.h books it.
  void adopt_one(std::uint32_t m, std::uint32_t id) {
    const Sync& sync = syncs_[id];
    Held& mine = held(m, sync.fragment);
    if (sync.version <= mine.version) return;
    const double gone = (1 - training_.mixing) * (learners_[m].steps - mine.settled);
    const double tokens = gone * play_.learners[m].tokens * play_.fragments[sync.fragment].share;
    const bool contributed = mine.merge == id || mine.merge_before == id;
    (contributed ? counts_.overwritten : counts_.discarded) += tokens;
    mine.settled += gone;
    mine.received = learners_[m].steps;
    mine.version = sync.version;
  }

  void report(std::uint32_t m) {
    Learner& learner = learners_[m];
    learner.again = learner.reported;
    if (!learner.reported) learner.reported_at = now_;
    learner.reported = learner.heard = true;
    learner.reported_step = std::max(learner.reported_step, static_cast<std::uint32_t>(learner.steps));
    plan(now_, Event::kDecide, 0, 0);
  }

  bool has_reported(const Learner& learner) const {
    return learner.reported || (pinned() && learner.reported_step >= step_);
  }

  std::int64_t reporter_count() const {
    return std::ranges::count_if(learners_, [&](const Learner& l) { return has_reported(l); });
  }

  std::int64_t expected_count() const {
    return std::ranges::count_if(learners_,
                                 [&](const Learner& l) { return has_reported(l) || !l.waits; });
  }

  // The syncer's loop: quorum, grace, takes.
  void decide() {
    for (;;) {
      if (!in_grace_) {
        if (reporter_count() < training_.quorum) return;
        first_report_ = now_;
        for (const Learner& learner : learners_) {
          if (has_reported(learner)) first_report_ = std::min(first_report_, learner.reported_at);
        }
        quorum_estimate_.add(now_ - first_report_);
        const Nanoseconds grace = methods::decide_grace(
            training_, {step_estimate_, quorum_estimate_.estimate(), sync_estimate_.estimate()});
        counts_.grace_s += base::to_seconds(grace);
        counts_.graces += 1;
        grace_until_ = now_ + grace;
        in_grace_ = true;
        plan(grace_until_, Event::kDecide, 0, 0);
      }
      const bool a_step_further = std::ranges::any_of(learners_, [](const Learner& l) { return l.again; });
      if (now_ < grace_until_ && reporter_count() < expected_count() && !a_step_further) return;
      in_grace_ = false;
      consume_reports();
      begin_due();
      ++step_;
    }
  }

  // They have opened this step. For what is merged they count until something is.
  void consume_reports() {
    for (Learner& learner : learners_) {
      if (learner.again) learner.reported_at = now_;
      learner.reported = std::exchange(learner.again, false);
    }
  }

  std::vector<std::uint32_t> heard_learners() const {
    std::vector<std::uint32_t> members;
    for (std::uint32_t m = 0; m < learners_.size(); ++m) {
      if (learners_[m].heard || has_reported(learners_[m])) members.push_back(m);
    }
    return members;
  }

  // Who waits longest goes first; a skipped one waits for its own next turn before it takes another's.
  std::vector<std::uint16_t> queued(std::vector<std::uint16_t> queue, bool makes_up) const {
    for (const std::uint16_t p : late_) {
      const bool takes_another =
          makes_up || std::int64_t{step_} - last_begun_[p] >= 2 * training_.sync_every;
      if (takes_another && std::ranges::find(queue, p) == queue.end()) queue.push_back(p);
    }
    std::ranges::stable_sort(queue, {}, [this](std::uint16_t p) { return last_begun_[p]; });
    return queue;
  }

  void begin_due() {
    const std::vector<std::uint32_t> members = heard_learners();
    bool began = false;
    const auto now_due = methods::fragments_due(training_, step_);
    counts_.due += static_cast<double>(now_due.size());
    const bool makes_up = training_.late == LatePolicy::kMerge;
    const std::vector<std::uint16_t> queue = queued(now_due, makes_up);
    std::size_t turns = makes_up ? queue.size() : now_due.size();
    const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(1, training_.overlap_steps));
    for (const std::uint16_t p : queue) {
      std::erase(late_, p);
      const bool in_flight = std::ranges::find(in_flight_, p) != in_flight_.end();
      if (turns > 0 && !in_flight && (pinned() || in_flight_.size() < limit)) {
        --turns;
        began = true;
        last_begun_[p] = step_;
        begin(p, members);
        continue;
      }
      late_.push_back(p);
      const bool skipped = !makes_up && std::ranges::find(now_due, p) != now_due.end();
      if (skipped) settle(p, step_);
    }
    for (const std::uint32_t m : members) learners_[m].heard = learners_[m].heard && !began;
  }

  void begin(std::uint16_t p, const std::vector<std::uint32_t>& members) {
    const auto id = static_cast<std::uint32_t>(syncs_.size());
    syncs_.push_back({p, step_, 0, first_report_, now_, {},
                      static_cast<double>(play_.fragments[p].wide)});
    for (const std::uint32_t m : members) {
      Held& mine = held(m, p);
      if (learners_[m].steps <= mine.received) continue;
      syncs_[id].takes.push_back({m, learners_[m].steps - mine.settled});
      mine.settled = learners_[m].steps;
    }
    if (static_cast<std::int64_t>(syncs_[id].takes.size()) < training_.quorum) return give_up(id);
    in_flight_.push_back(p);
    plan(now_ + play_.fragments[p].before, Event::kWideStart, 0, id);
  }

  void give_up(std::uint32_t id) {
    for (const Take& take : syncs_[id].takes) held(take.learner, syncs_[id].fragment).settled -= take.steps;
    settle(syncs_[id].fragment, syncs_[id].step);
  }

  // Syncs on the slowest link share it in equal parts.
  void advance_wide() {
    const double each = static_cast<double>(now_ - wide_at_) / std::max<double>(1, double(wide_.size()));
    for (const std::uint32_t id : wide_) syncs_[id].wide_left -= each;
    wide_at_ = now_;
  }

  void start_wide(std::uint32_t id) {
    advance_wide();
    wide_.push_back(id);
    plan_wide_end();
  }

  void end_wide() {
    advance_wide();
    std::erase_if(wide_, [this](std::uint32_t id) {
      if (syncs_[id].wide_left > 0.5) return false;
      plan(now_ + play_.fragments[syncs_[id].fragment].after, Event::kMerge, 0, id);
      return true;
    });
    if (!wide_.empty()) plan_wide_end();
  }

  void plan_wide_end() {
    double least = syncs_[wide_.front()].wide_left;
    for (const std::uint32_t id : wide_) least = std::min(least, syncs_[id].wide_left);
    const double after = std::max(0.0, least) * static_cast<double>(wide_.size());
    plan(now_ + static_cast<Nanoseconds>(after + 0.5), Event::kWideEnd, 0, ++wide_plan_);
  }

  void publish(std::uint32_t id) {
    Sync& sync = syncs_[id];
    const std::uint16_t p = sync.fragment;
    sync_estimate_.add(now_ - sync.decided);
    sync.version = ++versions_[p];
    counts_.merges += 1;
    counts_.sync_s += base::to_seconds(now_ - sync.decided);
    counts_.in_time +=
        methods::grace_overrun(training_, step_estimate_, now_ - sync.first_report) == 0;
    counts_.lone += sync.takes.size() == 1;
    counts_.contributions += static_cast<double>(sync.takes.size());
    for (const Take& take : sync.takes) {
      counts_.merged += take.steps * play_.learners[take.learner].tokens * play_.fragments[p].share;
      Held& mine = held(take.learner, p);
      mine.merge_before = mine.merge;
      mine.merge = id;
    }
    std::erase(in_flight_, p);
    for (std::uint32_t m = 0; m < learners_.size(); ++m) {
      plan(now_ + play_.learners[m].push[p], Event::kPush, m, id);
    }
  }

  void arrive(std::uint32_t m, std::uint32_t id) {
    learners_[m].inbox.push_back(id);
    settle(syncs_[id].fragment, syncs_[id].step);
  }

  SyncerCounts drawn_out() const {
    SyncerCounts result = counts_;
    if (steps_ < play_.most_steps || now_ <= half_at_) return result;
    const double more = static_cast<double>(play_.until - now_) / static_cast<double>(now_ - half_at_);
    for (double SyncerCounts::* count :
         {&SyncerCounts::due, &SyncerCounts::merges, &SyncerCounts::in_time, &SyncerCounts::lone,
          &SyncerCounts::contributions, &SyncerCounts::merged, &SyncerCounts::overwritten,
          &SyncerCounts::discarded, &SyncerCounts::computed, &SyncerCounts::sync_s,
          &SyncerCounts::grace_s, &SyncerCounts::graces}) {
      result.*count += more * (counts_.*count - half_.*count);
    }
    return result;
  }

  const SyncerPlay& play_;
  const methods::TrainingOptions& training_;
  std::vector<Learner> learners_;
  std::vector<Held> held_;  // (M, P)
  std::vector<std::uint32_t> versions_, last_begun_, settled_step_;  // (P)
  std::vector<Sync> syncs_;
  std::vector<std::uint16_t> late_, in_flight_;
  std::vector<std::uint32_t> wide_;  // syncs on the links
  Nanoseconds wide_at_ = 0;          // to which their wide_left is true
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  Tracked quorum_estimate_, sync_estimate_;
  Nanoseconds step_estimate_ = 0, now_ = 0, first_report_ = 0, grace_until_ = 0, half_at_ = 0;
  bool in_grace_ = false;
  std::uint32_t step_ = 1, sequence_ = 0, wide_plan_ = 0;  // the last plan of a wide end holds
  std::int64_t steps_ = 0;
  SyncerCounts counts_, half_;
};

}  // namespace

SyncerCounts play_syncer(const SyncerPlay& play) { return Player(play).run(); }

}  // namespace sim::scenario
