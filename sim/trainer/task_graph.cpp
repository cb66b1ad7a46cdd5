// sim/trainer/task_graph.cpp: see task_graph.h.
#include "sim/trainer/task_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sim::trainer {

NodeId TaskGraph::add(std::span<const NodeId> after, Task task) {
  const NodeId id = first_id_ + nodes_.size();
  for (const NodeId older : after) {
    if (older >= id) throw std::logic_error(fmt::format("node {} waits for node {}", id, older));
  }
  nodes_.emplace_back().tasks.push_back(std::move(task));
  wait_for(id, after);
  return id;
}

bool TaskGraph::extend(NodeId node, std::span<const NodeId> after, Task& task) {
  if (is_done(node) || !node_at(node).successors.empty()) return false;
  if (std::ranges::any_of(after, [&](NodeId older) { return older >= node; })) return false;
  node_at(node).tasks.push_back(std::move(task));
  wait_for(node, after);
  return true;
}

void TaskGraph::drop_tasks(NodeId node) {
  if (is_done(node) || !node_at(node).successors.empty()) return;
  node_at(node).tasks.clear();
}

void TaskGraph::run() {
  std::vector<Node> nodes = std::exchange(nodes_, {});
  first_id_ += nodes.size();
  crew_.run(nodes);
}

void TaskGraph::wait_for(NodeId node, std::span<const NodeId> after) {
  for (const NodeId older : after) {
    if (is_done(older)) continue;
    node_at(older).successors.push_back(static_cast<std::uint32_t>(node - first_id_));
    ++node_at(node).waits_for;
  }
}

}  // namespace sim::trainer
