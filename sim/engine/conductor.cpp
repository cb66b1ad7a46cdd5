// sim/engine/conductor.cpp: see conductor.h.
#include "sim/engine/conductor.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

namespace sim::engine {

namespace {

// Below this the agenda is not worth tidying.
constexpr std::size_t kFewEntries = 1024;

}  // namespace

Conductor::~Conductor() { tear_down(); }

Conductor::Outcome Conductor::run() {
  if (std::exchange(started_, true)) throw std::logic_error("conductor: a second run");
  std::exception_ptr failure;
  network_.run([&] {
    // An exception must not leave the engine's actor: that would abort without telling the seed.
    try {
      loop();
    } catch (...) {
      failure = std::current_exception();
    }
    tear_down();
  });
  if (failure) std::rethrow_exception(failure);
  return stuck_ ? Outcome::kStuck : Outcome::kStopped;
}

void Conductor::loop() {
  while (!stopped_) {
    while (!agenda_.empty() && !entry_is_live(agenda_.front())) {
      drop_top();
      --dead_entries_;
    }
    const bool flows = network_.any_in_flight();
    if (agenda_.empty() && !flows) {
      stuck_ = true;
      return;
    }
    const Nanoseconds next = agenda_.empty() ? base::kNever : agenda_.front().date;
    if (next > now_) {
      if (flows) {
        now_ = std::max(now_, network_.wait_until(next, ended_));
        for (const FlowId flow : ended_) flow_listener_(flow);
        continue;  // an arrival may stand before `next` now
      }
      now_ = next;
    }
    const Entry entry = agenda_.front();
    drop_top();
    wake(entry);
  }
}

// In the order of their start. Destructors may spawn: those come last.
void Conductor::tear_down() {
  tearing_down_ = true;
  running_ = {};
  while (free_frames_.size() < frames_.size()) {
    std::vector<std::uint32_t> left;
    for (std::uint32_t i = 0; i < frames_.size(); ++i) {
      if (frames_[i].handle) left.push_back(i);
    }
    std::ranges::sort(left, {}, [&](std::uint32_t i) { return frames_[i].number; });
    for (const std::uint32_t i : left) destroy(i);
  }
}

void Conductor::wake(const Entry& entry) {
  ++event_count_;
  Slot& slot = slots_[entry.slot];
  const ProcessId owner = slot.owner;
  if (slot.handle) {
    const std::coroutine_handle<> handle = slot.handle;
    slot.on_agenda = false;
    free_slot(entry.slot);
    running_ = owner;
    handle.resume();
    running_ = {};
    settle(owner);
  } else {
    const std::function<void()> callback = std::move(slot.callback);
    slot.on_agenda = false;
    free_slot(entry.slot);
    callback();
  }
}

void Conductor::settle(ProcessId process) {
  Frame& frame = frames_[process.index];
  if (!frame.handle || frame.generation != process.generation) return;
  if (frame.handle.done()) {
    const std::exception_ptr failure = frame.handle.promise().failure;
    destroy(process.index);
    if (failure) std::rethrow_exception(failure);
  } else if (frame.kill_requested) {
    destroy(process.index);
  }
}

void Conductor::destroy(std::uint32_t index) {
  Frame& frame = frames_[index];
  if (!frame.handle) return;
  cancel(frame.start);  // it may never have run
  const Process::Handle handle = std::exchange(frame.handle, nullptr);
  ++frame.generation;
  frame.kill_requested = false;
  free_frames_.push_back(index);
  handle.destroy();  // last: destructors may spawn or kill
}

ProcessId Conductor::spawn(Process process, Turn turn) {
  std::uint32_t index;
  if (free_frames_.empty()) {
    index = static_cast<std::uint32_t>(frames_.size());
    frames_.emplace_back();
  } else {
    index = free_frames_.back();
    free_frames_.pop_back();
  }
  Frame& frame = frames_[index];
  frame.handle = process.release();
  frame.number = spawn_count_++;
  const ProcessId id{index, frame.generation};
  const ProcessId parent = std::exchange(running_, id);
  frame.start = wake_at(now_, turn, frame.handle);
  running_ = parent;
  return id;
}

void Conductor::kill(ProcessId process) {
  if (!alive(process)) return;
  if (process == running_) {
    frames_[process.index].kill_requested = true;
  } else {
    destroy(process.index);
  }
}

bool Conductor::alive(ProcessId process) const {
  return process.index < frames_.size() && frames_[process.index].handle &&
         frames_[process.index].generation == process.generation &&
         !frames_[process.index].kill_requested;
}

WakeId Conductor::call_at(Nanoseconds date, Turn turn, std::function<void()> callback) {
  const WakeId wake = enter(date, turn);
  slots_[wake.slot].callback = std::move(callback);
  return wake;
}

WakeId Conductor::wake_at(Nanoseconds date, Turn turn, std::coroutine_handle<> handle) {
  if (running_ == ProcessId{}) throw std::logic_error("conductor: no process is running");
  const WakeId wake = enter(date, turn);
  slots_[wake.slot].handle = handle;
  slots_[wake.slot].owner = running_;
  return wake;
}

WakeId Conductor::bring_forward(WakeId wake, Turn turn) {
  if (!is_pending(wake)) return wake;
  Slot& slot = slots_[wake.slot];
  forget_entry(slot);
  ++slot.generation;
  push(now_, turn, wake.slot);
  return {wake.slot, slot.generation};
}

void Conductor::cancel(WakeId wake) {
  if (is_pending(wake)) free_slot(wake.slot);
}

WakeId Conductor::enter(Nanoseconds date, Turn turn) {
  if (date < now_) throw std::logic_error("conductor: a date in the past");
  std::uint32_t slot;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  if (date < base::kNever) push(date, turn, slot);
  return {slot, slots_[slot].generation};
}

void Conductor::push(Nanoseconds date, Turn turn, std::uint32_t slot) {
  // Waits that were cut short leave dead entries until their date: drop them before they prevail.
  if (dead_entries_ > kFewEntries && dead_entries_ > agenda_.size() / 2) {
    std::erase_if(agenda_, [this](const Entry& entry) { return !entry_is_live(entry); });
    std::ranges::make_heap(agenda_, std::greater<>());
    dead_entries_ = 0;
  }
  const std::uint64_t priority = static_cast<std::uint8_t>(turn.priority);
  agenda_.push_back(
      {date, priority << 32 | turn.order, sequence_++, slot, slots_[slot].generation});
  std::ranges::push_heap(agenda_, std::greater<>());
  slots_[slot].on_agenda = true;
}

void Conductor::drop_top() {
  std::ranges::pop_heap(agenda_, std::greater<>());
  agenda_.pop_back();
}

void Conductor::forget_entry(Slot& slot) {
  if (std::exchange(slot.on_agenda, false)) ++dead_entries_;
}

bool Conductor::is_pending(WakeId wake) const {
  return wake.slot < slots_.size() && slots_[wake.slot].generation == wake.generation;
}

void Conductor::free_slot(std::uint32_t index) {
  Slot& slot = slots_[index];
  forget_entry(slot);
  slot.handle = nullptr;
  slot.callback = nullptr;
  ++slot.generation;
  free_slots_.push_back(index);
}

Signal::~Signal() {
  for (Wait* wait : waiting_) wait->listed_ = false;
}

void Signal::notify() {
  for (Wait* wait : waiting_) {
    wait->notified_ = true;
    wait->listed_ = false;
    wait->wake_ = conductor_.bring_forward(wait->wake_, wait->turn_);
  }
  waiting_.clear();
}

void Signal::Wait::await_suspend(std::coroutine_handle<> handle) {
  // A slot is taken even without a deadline: it keeps the owner until notify() enters a date.
  wake_ = conductor_.wake_at(date_, turn_, handle);
  signal_->waiting_.push_back(this);
  listed_ = true;
}

bool Signal::Wait::await_resume() {
  leave_list();
  return notified_;
}

Signal::Wait::~Wait() {
  conductor_.cancel(wake_);
  leave_list();
}

void Signal::Wait::leave_list() {
  if (std::exchange(listed_, false)) std::erase(signal_->waiting_, this);
}

}  // namespace sim::engine
