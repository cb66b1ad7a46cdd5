// sim/engine/conductor.cpp: see conductor.h.
#include "sim/engine/conductor.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sim::engine {

Conductor::~Conductor() {
  for (std::uint32_t i = 0; i < frames_.size(); ++i) destroy(i);
}

Conductor::Outcome Conductor::run() {
  std::exception_ptr failure;
  network_.run([&] {
    // An exception must not leave the engine's actor: that would abort without telling the seed.
    try {
      loop();
    } catch (...) {
      failure = std::current_exception();
    }
    for (std::uint32_t i = 0; i < frames_.size(); ++i) destroy(i);
  });
  if (failure) std::rethrow_exception(failure);
  return stuck_ ? Outcome::kStuck : Outcome::kStopped;
}

void Conductor::loop() {
  while (!stopped_) {
    while (!agenda_.empty() && !entry_is_live(agenda_.top())) agenda_.pop();
    const bool flows = network_.any_in_flight();
    if (agenda_.empty() && !flows) {
      stuck_ = true;
      return;
    }
    const Nanoseconds next = agenda_.empty() ? base::kNever : agenda_.top().date;
    if (next > now_) {
      if (flows) {
        now_ = std::max(now_, network_.wait_until(next, ended_));
        for (const FlowId flow : ended_) flow_listener_(flow);
        continue;  // an arrival may stand before `next` now
      }
      now_ = next;
    }
    const Entry entry = agenda_.top();
    agenda_.pop();
    wake(entry);
  }
}

void Conductor::wake(const Entry& entry) {
  ++event_count_;
  Slot& slot = slots_[entry.slot];
  const ProcessId owner = slot.owner;
  if (slot.handle) {
    const std::coroutine_handle<> handle = slot.handle;
    free_slot(entry.slot);
    running_ = owner;
    handle.resume();
    running_ = {};
    settle(owner);
  } else {
    const std::function<void()> callback = std::move(slot.callback);
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
  frames_[index].handle = process.release();
  const ProcessId id{index, frames_[index].generation};
  const ProcessId parent = std::exchange(running_, id);
  wake_at(now_, turn, frames_[index].handle);
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
  const std::uint64_t priority = static_cast<std::uint8_t>(turn.priority);
  agenda_.push(
      {date, priority << 32 | turn.order, sequence_++, slot, slots_[slot].generation});
}

WakeId Conductor::bring_forward(WakeId wake, Turn turn) {
  Slot& slot = slots_[wake.slot];
  if (slot.generation != wake.generation) return wake;
  ++slot.generation;  // the old entry, if any, is dead now
  push(now_, turn, wake.slot);
  return {wake.slot, slot.generation};
}

WakeId Conductor::call_at(Nanoseconds date, Turn turn, std::function<void()> callback) {
  const WakeId wake = enter(date, turn);
  slots_[wake.slot].callback = std::move(callback);
  return wake;
}

WakeId Conductor::wake_at(Nanoseconds date, Turn turn, std::coroutine_handle<> handle) {
  const WakeId wake = enter(date, turn);
  slots_[wake.slot].handle = handle;
  slots_[wake.slot].owner = running_;
  return wake;
}

void Conductor::cancel(WakeId wake) {
  if (wake.slot >= slots_.size() || slots_[wake.slot].generation != wake.generation) return;
  free_slot(wake.slot);
}

bool Conductor::entry_is_live(const Entry& entry) const {
  return slots_[entry.slot].generation == entry.generation;
}

void Conductor::free_slot(std::uint32_t slot) {
  slots_[slot].handle = nullptr;
  slots_[slot].callback = nullptr;
  ++slots_[slot].generation;
  free_slots_.push_back(slot);
}

void Signal::Wait::await_suspend(std::coroutine_handle<> handle) {
  handle_ = handle;
  listed_ = true;
  signal_.waiting_.push_back(this);
  // A slot is taken even without a deadline: it keeps the owner until notify() enters a date.
  wake_ = signal_.conductor_->wake_at(date_, turn_, handle);
}

Signal::Wait::~Wait() {
  signal_.conductor_->cancel(wake_);
  if (listed_) std::erase(signal_.waiting_, this);
}

void Signal::notify() {
  for (Wait* wait : waiting_) {
    wait->notified_ = true;
    wait->listed_ = false;
    wait->wake_ = conductor_->bring_forward(wait->wake_, wait->turn_);
  }
  waiting_.clear();
}

}  // namespace sim::engine
