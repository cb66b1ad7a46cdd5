// tests/trainer/crew_test.cpp: the graph's order, its errors, and shared parts.
//
// Goal:   whatever the number of threads, a node sees all that its predecessors wrote, and an error
//         comes out once, the same one.
// Method: chains that would give another number in another order; planted exceptions.
// Teeth:  seen failing with edges that hold nobody up, with ids that start again at every run,
//         and with errors of shared parts dropped.
#include "sim/trainer/crew.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sim/trainer/task_graph.h"

namespace sim::trainer {
namespace {

TEST_CASE("task graph: a chain runs in order on any number of threads", "[unit][trainer]") {
  for (const std::size_t threads : {1, 2, 8}) {
    CAPTURE(threads);
    TaskGraph graph(threads);
    // Four chains; value = value * 31 + i tells every order apart.
    std::vector<std::uint64_t> values(4, 1), expected(4, 1);
    std::vector<NodeId> last(4, kNoNode);
    for (int round = 0; round < 3; ++round) {
      for (std::uint64_t i = 0; i < 100; ++i) {
        const std::size_t c = static_cast<std::size_t>(i * 7 % 4);
        last[c] = graph.add({&last[c], 1}, [&values, c, i](const Worker&) {
          values[c] = values[c] * 31 + i;
        });
        expected[c] = expected[c] * 31 + i;
      }
      graph.run();
      CHECK(graph.size() == 0);
    }
    CHECK(values == expected);
  }
}

TEST_CASE("task graph: a node waits for all of its predecessors", "[unit][trainer]") {
  TaskGraph graph(4);
  std::vector<int> parts(64, 0);
  std::vector<NodeId> nodes;
  for (int& part : parts) nodes.push_back(graph.add({}, [&part](const Worker&) { part = 1; }));
  int sum = 0;
  graph.add(nodes, [&](const Worker&) { sum = std::accumulate(parts.begin(), parts.end(), 0); });
  graph.run();
  CHECK(sum == 64);
}

TEST_CASE("task graph: a node grows only while nothing waits for it", "[unit][trainer]") {
  TaskGraph graph(1);
  std::string order;
  const auto say = [&order](char letter) {
    return Task([&order, letter](const Worker&) { order += letter; });
  };
  const NodeId a = graph.add({}, say('a'));
  const NodeId b = graph.add({}, say('b'));
  Task c = say('c'), d = say('d');
  CHECK_FALSE(graph.extend(a, {&b, 1}, c));  // an edge from newer to older
  CHECK(graph.extend(a, {}, c));
  graph.add({&a, 1}, say('e'));
  CHECK_FALSE(graph.extend(a, {}, d));  // e waits for a
  graph.drop_tasks(a);                  // refused for the same reason
  graph.drop_tasks(b);
  graph.run();
  CHECK(order == "ace");
  CHECK_FALSE(graph.extend(a, {}, d));  // has run
  const NodeId unknown = 99;
  CHECK_THROWS_WITH(graph.add({&unknown, 1}, say('x')), "node 4 waits for node 99");
}

TEST_CASE("crew: an error comes out, nothing that waited for it runs, and the crew works on",
          "[unit][trainer]") {
  for (const std::size_t threads : {1, 2, 8}) {
    CAPTURE(threads);
    TaskGraph graph(threads);
    bool ran = false;
    // The second waits for the first, so that the first has failed when it would start.
    const NodeId first = graph.add({}, [](const Worker&) { throw std::logic_error("first"); });
    graph.add({&first, 1}, [&ran](const Worker&) { ran = true; });
    CHECK_THROWS_WITH(graph.run(), "first");
    CHECK_FALSE(ran);
    graph.add({}, [&ran](const Worker&) { ran = true; });
    graph.run();
    CHECK(ran);
  }
}

TEST_CASE("crew: shared parts are all done once, and share returns afterwards", "[unit][trainer]") {
  for (const std::size_t threads : {1, 2, 8}) {
    CAPTURE(threads);
    TaskGraph graph(threads);
    std::vector<std::vector<int>> done(3, std::vector<int>(50, 0));
    std::vector<int> sums;
    NodeId last = kNoNode;
    for (std::vector<int>& row : done) {
      last = graph.add({&last, 1}, [&row, &sums](const Worker& worker) {
        worker.crew->share(row.size(), [&row](std::size_t i, const Worker&) { ++row[i]; }, worker);
        sums.push_back(std::accumulate(row.begin(), row.end(), 0));
      });
    }
    graph.run();
    CHECK(sums == std::vector<int>{50, 50, 50});
    CHECK(std::ranges::all_of(done, [](const auto& row) { return row == std::vector(50, 1); }));
  }
}

TEST_CASE("crew: an error in a shared part comes out of the node", "[unit][trainer]") {
  for (const std::size_t threads : {1, 4}) {
    CAPTURE(threads);
    TaskGraph graph(threads);
    graph.add({}, [threads](const Worker& worker) {
      while (threads > 1 && !worker.crew->has_idle()) std::this_thread::yield();  // a guest is sure
      worker.crew->share(
          10,
          [](std::size_t i, const Worker&) {
            if (i == 3) throw std::logic_error("part 3");
          },
          worker);
    });
    CHECK_THROWS_WITH(graph.run(), "part 3");
  }
}

TEST_CASE("crew: no threads are refused", "[unit][trainer]") {
  CHECK_THROWS_WITH(TaskGraph(0), "thread_count must be positive; got 0");
}

}  // namespace
}  // namespace sim::trainer
