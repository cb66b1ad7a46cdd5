// sim/trainer/crew.cpp: see crew.h.
#include "sim/trainer/crew.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sim::trainer {
namespace {

// How often an idle thread looks again before it sleeps. Steps of a small model last about 100 us,
// and waking a sleeper costs half of that.
constexpr int kLooksBeforeSleep = 200;

}  // namespace

Crew::Crew(std::size_t thread_count) : thread_count_(thread_count) {
  if (thread_count == 0) throw std::invalid_argument("thread_count must be positive; got 0");
}

Crew::~Crew() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
    signal();
  }
  for (std::thread& thread : threads_) thread.join();
}

void Crew::run(std::vector<Node>& nodes) {
  if (thread_count_ == 1) return run_inline(nodes);
  start_threads();
  Lock lock(mutex_);
  nodes_ = &nodes;
  remaining_ = nodes.size();
  failed_node_ = UINT32_MAX;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].waits_for == 0) ready_.push(i);
  }
  signal();
  work({this, 0}, lock);
  nodes_ = nullptr;
  remaining_ = 0;  // after a failure some never ran
  ready_ = {};
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

// Index order is an order in which every node comes after its predecessors.
void Crew::run_inline(std::vector<Node>& nodes) {
  for (Node& node : nodes) {
    for (Task& task : node.tasks) task({this, 0});
    node.tasks.clear();
  }
}

void Crew::share(std::size_t count, const Part& part, const Worker& self) {
  if (count < 2 || !has_idle()) {
    for (std::size_t i = 0; i < count; ++i) part(i, self);
    return;
  }
  Share share{&part, count};
  {
    const Lock lock(mutex_);
    shares_.push_back(&share);
    signal();
  }
  take_parts(share, self);
  {
    const Lock lock(mutex_);
    std::erase(shares_, &share);
  }
  while (share.guests.load(std::memory_order_acquire) > 0) std::this_thread::yield();
  if (share.error) std::rethrow_exception(share.error);
}

void Crew::take_parts(Share& share, const Worker& self) {
  for (std::size_t i = share.next++; i < share.count; i = share.next++) {
    try {
      (*share.part)(i, self);
    } catch (...) {
      const std::scoped_lock lock(share.error_mutex);
      if (i < share.error_index) {
        share.error_index = i;
        share.error = std::current_exception();
      }
    }
  }
}

void Crew::start_threads() {
  for (std::size_t i = threads_.size() + 1; i < thread_count_; ++i) {
    threads_.emplace_back([this, i] { thread_main(i); });
  }
}

void Crew::thread_main(std::size_t index) {
  Lock lock(mutex_);
  while (!stopping_) {
    if (nodes_ != nullptr && !run_is_over()) {
      work({this, index}, lock);
    } else {
      wake_.wait(lock);  // between runs nobody hurries
    }
  }
}

void Crew::work(const Worker& self, Lock& lock) {
  while (!run_is_over()) {
    if (!ready_.empty() && !failure_) {
      const std::uint32_t index = ready_.top();
      ready_.pop();
      run_node(index, self, lock);
    } else if (!visit_share(self, lock)) {
      wait_for_signal(lock);
    }
  }
}

void Crew::run_node(std::uint32_t index, const Worker& self, Lock& lock) {
  Node& node = (*nodes_)[index];
  ++running_;
  lock.unlock();
  std::exception_ptr error;
  try {
    for (Task& task : node.tasks) task(self);
  } catch (...) {
    error = std::current_exception();
  }
  node.tasks.clear();
  lock.lock();
  --running_;
  --remaining_;
  if (error && index < failed_node_) {
    failed_node_ = index;
    failure_ = error;
  }
  release_successors(node);
  if (run_is_over()) signal();
}

void Crew::release_successors(const Node& node) {
  for (const std::uint32_t successor : node.successors) {
    if (--(*nodes_)[successor].waits_for == 0) ready_.push(successor);
  }
  if (!ready_.empty() && has_idle()) signal();
}

bool Crew::visit_share(const Worker& self, Lock& lock) {
  const auto open = std::ranges::find_if(
      shares_, [](const Share* share) { return share->next.load() < share->count; });
  if (open == shares_.end()) return false;
  Share& share = **open;
  ++share.guests;  // keeps the share alive
  lock.unlock();
  take_parts(share, self);
  share.guests.fetch_sub(1, std::memory_order_release);
  lock.lock();
  return true;
}

bool Crew::run_is_over() const {
  return remaining_ == 0 || (failure_ != nullptr && running_ == 0);
}

void Crew::wait_for_signal(Lock& lock) {
  const std::uint64_t seen = signals_.load();
  ++idle_;
  lock.unlock();
  for (int look = 0; look < kLooksBeforeSleep && signals_.load() == seen; ++look) {
    std::this_thread::yield();
  }
  lock.lock();
  wake_.wait(lock, [&] { return signals_.load() != seen; });
  --idle_;
}

// Requires: mutex_ is held.
void Crew::signal() {
  ++signals_;
  wake_.notify_all();
}

}  // namespace sim::trainer
