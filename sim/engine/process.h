// sim/engine/process.h: the two coroutine types in which methods are written.
//
// Process: a top-level activity, owned by the conductor, killed by destroying its frame.
// Task<T>: a part of one, run by `co_await`, owned by the frame that awaits it; so killing a
// process destroys its whole stack of tasks, destructors included, from the inside out.
//
// Write coroutines as free or member functions that take their arguments by value or as references
// to what outlives them; a lambda's captures die before its frame does. g++ 12 refuses a list of
// several elements in braces inside an awaited expression ("array used as initializer"): make the
// vector in a function of its own, or a parameter.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace sim::engine {

class Process {
 public:
  struct promise_type {
    std::exception_ptr failure;
    Process get_return_object() {
      return Process(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { failure = std::current_exception(); }
  };
  using Handle = std::coroutine_handle<promise_type>;

  explicit Process(Handle handle) : handle_(handle) {}
  Process(Process&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Process& operator=(Process&&) = delete;
  ~Process() {
    if (handle_) handle_.destroy();
  }
  Handle release() { return std::exchange(handle_, nullptr); }

 private:
  Handle handle_;
};

template <class T>
class [[nodiscard]] Task;

namespace detail {

struct TaskPromiseBase {
  std::coroutine_handle<> awaiting;
  std::exception_ptr failure;
  bool has_suspended = false;  // the awaiting frame is suspended too and must be resumed

  struct ResumeAwaiting {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> done) noexcept {
      const TaskPromiseBase& promise = done.promise();
      // The awaiting frame may destroy this one: nothing of it is touched after the resume.
      if (promise.has_suspended) promise.awaiting.resume();
    }
    void await_resume() noexcept {}
  };
  std::suspend_always initial_suspend() noexcept { return {}; }
  ResumeAwaiting final_suspend() noexcept { return {}; }
  void unhandled_exception() { failure = std::current_exception(); }
};

template <class T>
struct TaskPromise : TaskPromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  void return_value(T result) { value = std::move(result); }
};

template <>
struct TaskPromise<void> : TaskPromiseBase {
  Task<void> get_return_object();
  void return_void() {}
};

}  // namespace detail

template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  // Runs the task at once, nested in the caller's resume, up to its first wait; false when it never
  // waited. No symmetric transfer: g++ makes it a tail call only when optimizing, so that a loop
  // over tasks that never wait would overflow the stack in a debug build.
  bool await_suspend(std::coroutine_handle<> awaiting) {
    handle_.promise().awaiting = awaiting;
    handle_.resume();
    if (handle_.done()) return false;
    return handle_.promise().has_suspended = true;
  }
  T await_resume() {
    if (handle_.promise().failure) std::rethrow_exception(handle_.promise().failure);
    if constexpr (!std::is_void_v<T>) return std::move(*handle_.promise().value);
  }

 private:
  Handle handle_;
};

namespace detail {
template <class T>
Task<T> TaskPromise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<TaskPromise<T>>::from_promise(*this));
}
inline Task<void> TaskPromise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<TaskPromise<void>>::from_promise(*this));
}
}  // namespace detail

}  // namespace sim::engine
