// sim/trainer/crew.h: a fixed number of threads that work off a graph of nodes.
//
// Which thread runs a node, and when, is left to chance; what a node may read is fixed by its
// edges. So results are the same for any number of threads as long as nodes touch nothing that
// their edges do not order. Threads start at the first run, because a run of the simulator forks
// before it computes (design section 7), and one thread needs none of this machinery.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

namespace sim::trainer {

class Crew;

// Who runs a task: `index` is below the crew's thread count and names its private scratch space.
struct Worker {
  Crew* crew;
  std::size_t index;
};

using Task = std::function<void(const Worker&)>;

struct Node {
  std::vector<Task> tasks;                // run in this order by one worker
  std::vector<std::uint32_t> successors;  // indices into the same list, all higher
  std::uint32_t waits_for = 0;            // predecessors that are not done
};

class Crew {
 public:
  // Requires: thread_count > 0; else std::invalid_argument.
  explicit Crew(std::size_t thread_count);
  Crew(const Crew&) = delete;
  ~Crew();

  std::size_t thread_count() const { return thread_count_; }

  // Runs every node after its predecessors; returns when all are done. Nodes that are ready start
  // in order of index. A node's tasks are destroyed when it is done.
  // Errors: what a task throws; of several, the one of the lowest node that threw. Nodes that had
  //         not started by then never run.
  void run(std::vector<Node>& nodes);

  // Within a task: calls part(i, worker) for each i below `count`, on this worker and on others
  // that have nothing better to do. Parts must write apart from each other.
  // Errors: what a part throws; of several, the lowest part's.
  using Part = std::function<void(std::size_t, const Worker&)>;
  void share(std::size_t count, const Part& part, const Worker& self);
  // Whether share() would find somebody now. May be out of date when it returns.
  bool has_idle() const { return idle_.load(std::memory_order_relaxed) > 0; }

 private:
  struct Share {
    const Part* part;
    std::size_t count;
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> guests{0};  // changed under mutex_, polled without
    std::mutex error_mutex{};
    std::exception_ptr error{};
    std::size_t error_index = SIZE_MAX;
  };
  using Lock = std::unique_lock<std::mutex>;

  void run_inline(std::vector<Node>& nodes);
  void start_threads();
  void thread_main(std::size_t index);
  void work(const Worker& self, Lock& lock);
  void run_node(std::uint32_t index, const Worker& self, Lock& lock);
  void release_successors(const Node& node);
  bool visit_share(const Worker& self, Lock& lock);
  static void take_parts(Share& share, const Worker& self);
  bool run_is_over() const;
  void wait_for_signal(Lock& lock);
  void signal();

  const std::size_t thread_count_;
  std::vector<std::thread> threads_;

  std::mutex mutex_;  // guards what follows; the atomics are also polled without it
  std::condition_variable wake_;
  std::atomic<std::uint64_t> signals_{0};
  std::atomic<std::size_t> idle_{0};
  bool stopping_ = false;
  std::vector<Node>* nodes_ = nullptr;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready_;
  std::vector<Share*> shares_;
  std::size_t remaining_ = 0;  // nodes not done
  std::size_t running_ = 0;
  std::exception_ptr failure_;
  std::uint32_t failed_node_ = UINT32_MAX;
};

}  // namespace sim::trainer
