// sim/trainer/task_graph.h: gathers work as nodes with edges, and runs it when told to.
//
// Edges point from older nodes to newer ones only, so that the order of adding is one valid order
// of running (the one that a single thread takes), and a cycle cannot be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/trainer/crew.h"

namespace sim::trainer {

// Counts from 1 over the graph's whole life; kNoNode stands for "done long ago".
using NodeId = std::uint64_t;
constexpr NodeId kNoNode = 0;

class TaskGraph {
 public:
  explicit TaskGraph(std::size_t thread_count) : crew_(thread_count) {}

  // A new node that starts when all of `after` are done; ids of finished nodes cost nothing.
  // Requires: ids given out by this graph; else std::logic_error.
  NodeId add(std::span<const NodeId> after, Task task);

  // Adds a task to the end of a node instead of making a new one, where that is possible: the node
  // has not run, nothing waits for it yet, and all of `after` are older. Else returns false.
  bool extend(NodeId node, std::span<const NodeId> after, Task& task);

  // Takes the work out of a node that has not run and that nothing waits for, because what it would
  // write is overwritten. Any other node is left as it is.
  void drop_tasks(NodeId node);

  // Nodes gathered since the last run.
  std::size_t size() const { return nodes_.size(); }
  // Whether the node has run (or been dropped with a failed run).
  bool is_done(NodeId node) const { return node < first_id_; }

  // Runs all that has been gathered and forgets it. Errors: what a task throws (see Crew::run).
  void run();

 private:
  Node& node_at(NodeId id) { return nodes_[static_cast<std::size_t>(id - first_id_)]; }
  void wait_for(NodeId node, std::span<const NodeId> after);

  NodeId first_id_ = 1;  // of nodes_
  std::vector<Node> nodes_;
  Crew crew_;
};

}  // namespace sim::trainer
