// sim/engine/conductor.h: the one actor: an agenda of dates, and the processes that it resumes.
//
// Everything that happens at one date is ordered by (priority, order, sequence), never by what the
// network engine happens to do first. Processes are coroutines; the conductor resumes one at a
// time, and kills one by destroying its frame. Decided by measurement: design section 7.
#pragma once

#include <coroutine>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/base/time.h"
#include "sim/engine/flow_network.h"
#include "sim/engine/process.h"

namespace sim::engine {

// At one date: steps end, then messages arrive, then faults strike, then decisions are taken on all
// that was collected, then marks are read.
enum class Priority : std::uint8_t { kStep, kArrival, kFault, kDecision, kMark };

struct Turn {
  Priority priority = Priority::kDecision;
  std::uint32_t order = 0;  // the learner's index where there is one
};

struct ProcessId {
  std::uint32_t index = UINT32_MAX;
  std::uint32_t generation = 0;
  bool operator==(const ProcessId&) const = default;
};

// Names one pending wake-up; cancelling one that has happened does nothing.
struct WakeId {
  std::uint32_t slot = UINT32_MAX;
  std::uint32_t generation = 0;
};

class Conductor {
 public:
  enum class Outcome : std::uint8_t { kStopped, kStuck };

  explicit Conductor(FlowNetwork& network) : network_(network) {}
  Conductor(const Conductor&) = delete;
  ~Conductor();

  Nanoseconds now() const { return now_; }

  // Runs until stop(), or until nothing can ever happen again (kStuck: agenda empty, no flow in
  // flight). An exception that leaves a process or a callback leaves run() too. All processes are
  // destroyed, in the order of their start, before it returns, also those that destructors spawn.
  // Once; else std::logic_error.
  Outcome run();
  void stop() { stopped_ = true; }
  // The run is over and its processes are being destroyed: what is in flight stays in flight.
  bool tearing_down() const { return tearing_down_; }

  // The process starts at the current date, on its turn.
  ProcessId spawn(Process process, Turn turn);
  // Destroys the process's frame now; if it is the running one, as soon as it suspends. Killing
  // one that has ended does nothing.
  void kill(ProcessId process);
  bool alive(ProcessId process) const;

  // A date of kNever takes no place on the agenda: only bring_forward() ends such a wait.
  // Calls back at `date` (not before now). For code that is no coroutine; it may spawn and kill.
  WakeId call_at(Nanoseconds date, Turn turn, std::function<void()> callback);
  // Resumes the running process at `date`. Called from await_suspend; else std::logic_error.
  WakeId wake_at(Nanoseconds date, Turn turn, std::coroutine_handle<> handle);
  void cancel(WakeId wake);
  // Moves a pending wake-up to the current date; returns its new name. One that has happened or was
  // cancelled stays so.
  WakeId bring_forward(WakeId wake, Turn turn);

  // Called, in order of flow id, for each flow that ends; the date is now().
  void on_flow_end(std::function<void(FlowId)> listener) { flow_listener_ = std::move(listener); }

  class Sleep;
  Sleep sleep_until(Nanoseconds date, Turn turn);
  Sleep sleep_for(Nanoseconds duration, Turn turn);

  std::uint64_t event_count() const { return event_count_; }
  // Places in memory for pending wake-ups and for agenda entries, dead ones included.
  std::size_t slot_count() const { return slots_.size(); }
  std::size_t agenda_size() const { return agenda_.size(); }

 private:
  struct Entry {
    Nanoseconds date;
    std::uint64_t rank;  // priority and order
    std::uint64_t sequence;
    std::uint32_t slot, generation;
    bool operator>(const Entry& other) const {
      if (date != other.date) return date > other.date;
      if (rank != other.rank) return rank > other.rank;
      return sequence > other.sequence;
    }
  };
  struct Slot {
    std::coroutine_handle<> handle;
    std::function<void()> callback;
    ProcessId owner;
    std::uint32_t generation = 0;
    bool on_agenda = false;
  };
  struct Frame {
    Process::Handle handle;
    WakeId start;
    std::uint64_t number = 0;  // how many processes were spawned before it
    std::uint32_t generation = 0;
    bool kill_requested = false;
  };

  void loop();
  void wake(const Entry& entry);
  void settle(ProcessId process);
  void destroy(std::uint32_t index);
  void tear_down();
  bool is_pending(WakeId wake) const;
  bool entry_is_live(const Entry& entry) const { return is_pending({entry.slot, entry.generation}); }
  WakeId enter(Nanoseconds date, Turn turn);
  void push(Nanoseconds date, Turn turn, std::uint32_t slot);
  void free_slot(std::uint32_t slot);
  void drop_top();
  void forget_entry(Slot& slot);

  FlowNetwork& network_;
  Nanoseconds now_ = 0;
  bool started_ = false, stopped_ = false, stuck_ = false, tearing_down_ = false;
  std::uint64_t sequence_ = 0, event_count_ = 0, spawn_count_ = 0;
  std::vector<Entry> agenda_;  // a heap, earliest on top
  std::size_t dead_entries_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> free_frames_;
  ProcessId running_;
  std::function<void(FlowId)> flow_listener_;
  std::vector<FlowId> ended_;
};

// Awaitable: the process goes on at the date. Destroying it takes the date off the agenda.
class Conductor::Sleep {
 public:
  Sleep(Conductor& conductor, Nanoseconds date, Turn turn)
      : conductor_(conductor), date_(date), turn_(turn) {}
  Sleep(const Sleep&) = delete;
  ~Sleep() { conductor_.cancel(wake_); }
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    wake_ = conductor_.wake_at(date_, turn_, handle);
  }
  void await_resume() noexcept { wake_ = {}; }

 private:
  Conductor& conductor_;
  Nanoseconds date_;
  Turn turn_;
  WakeId wake_;
};

inline Conductor::Sleep Conductor::sleep_until(Nanoseconds date, Turn turn) {
  return Sleep(*this, date, turn);
}
inline Conductor::Sleep Conductor::sleep_for(Nanoseconds duration, Turn turn) {
  return Sleep(*this, now_ + duration, turn);
}

// What processes wait on for each other. notify() wakes all that wait, each on its own turn at the
// current date; who starts to wait later waits for the next one.
class Signal {
 public:
  explicit Signal(Conductor& conductor) : conductor_(conductor) {}
  Signal(const Signal&) = delete;
  // Who still waits is woken by his date only.
  ~Signal();

  class Wait;
  Wait wait(Turn turn);
  // Resumes with true when notified, false when `date` came first.
  Wait wait_until(Nanoseconds date, Turn turn);
  void notify();

 private:
  Conductor& conductor_;
  std::vector<Wait*> waiting_;
};

class Signal::Wait {
 public:
  Wait(Signal& signal, Nanoseconds date, Turn turn)
      : conductor_(signal.conductor_), signal_(&signal), date_(date), turn_(turn) {}
  Wait(const Wait&) = delete;
  ~Wait();
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle);
  bool await_resume();

 private:
  friend class Signal;
  void leave_list();

  Conductor& conductor_;
  Signal* signal_;
  Nanoseconds date_;
  Turn turn_;
  WakeId wake_;
  bool notified_ = false, listed_ = false;
};

inline Signal::Wait Signal::wait(Turn turn) { return Wait(*this, base::kNever, turn); }
inline Signal::Wait Signal::wait_until(Nanoseconds date, Turn turn) {
  return Wait(*this, date, turn);
}

}  // namespace sim::engine
