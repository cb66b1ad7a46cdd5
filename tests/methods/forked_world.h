// tests/methods/forked_world.h: a world on the real network, lived in a child process, its tape read here.
//
// The child writes its facts into a file without a name; the parent folds them into the ledgers anew,
// so a test reads a forked run like any other.
#pragma once

#include <cstdio>
#include <memory>
#include <stdexcept>

#include "tests/engine/run_forked.h"
#include "tests/methods/world_fixture.h"

namespace sim::methods {

namespace detail {

struct Ending {
  std::uint64_t trace_hash;
  std::size_t fact_count, merge_count;
  bool stuck, network_whole;
};

template <class Item>
void write_items(std::FILE* file, const Item* items, std::size_t count) {
  if (std::fwrite(items, sizeof(Item), count, file) != count) {
    throw std::runtime_error("forked world: the tape is not written");
  }
}

template <class Item>
std::vector<Item> read_items(std::FILE* file, std::size_t count) {
  std::vector<Item> items(count);
  if (std::fread(items.data(), sizeof(Item), count, file) != count) {
    throw std::runtime_error("forked world: the tape is not read");
  }
  return items;
}

inline Ending write_lived(std::FILE* file, const Lived& lived) {
  const Recorder& recorder = lived.recorder;
  write_items(file, recorder.facts.data(), recorder.facts.size());
  for (const auto& contributors : recorder.contributors) {
    write_items(file, contributors.data(), contributors.size());
  }
  std::fflush(file);
  return {lived.trace_hash, recorder.facts.size(), recorder.contributors.size(), lived.stuck,
          lived.network_whole};
}

inline void read_recorder(std::FILE* file, const Ending& ending, Recorder& recorder) {
  recorder.facts = read_items<tape::Fact>(file, ending.fact_count);
  recorder.contributors.reserve(ending.merge_count);  // the facts point into it
  for (tape::Fact& fact : recorder.facts) {
    if (fact.kind != tape::Kind::kFragmentMerged) continue;
    recorder.contributors.push_back(
        read_items<tape::Contributor>(file, fact.fragment_merged.contributor_count));
    fact.fragment_merged.contributors = recorder.contributors.back().data();
  }
}

}  // namespace detail

// The ledgers over facts that were recorded.
inline std::unique_ptr<readers::RunAccount> fold(const Setup& setup, const tape::RunShape& shape,
                                                 const std::vector<tape::Fact>& facts) {
  auto account = std::make_unique<readers::RunAccount>(shape, account_options(setup));
  for (const tape::Fact& fact : facts) account->on(fact);
  return account;
}

inline Lived live_forked(const Setup& setup) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  const detail::Ending ending = engine::run_forked(
      [&] { return detail::write_lived(file.get(), live(setup)); });
  std::rewind(file.get());
  Lived lived;
  detail::read_recorder(file.get(), ending, lived.recorder);
  lived.fleet = std::make_unique<Fleet>(make_fleet(setup.model, setup.spread, setup.network,
                                                   setup.islands, setup.training, 0, setup.seed));
  lived.account = fold(setup, lived.fleet->shape, lived.facts());
  lived.trace_hash = ending.trace_hash;
  lived.stuck = ending.stuck;
  lived.network_whole = ending.network_whole;
  return lived;
}

}  // namespace sim::methods
