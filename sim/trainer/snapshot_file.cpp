// sim/trainer/snapshot_file.cpp: see snapshot_file.h. One listing of fields for both directions.
#include "sim/trainer/snapshot_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <istream>
#include <iterator>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sim/tape/coder.h"

namespace sim::trainer {
namespace {

using tape::code;
using tape::code_all;
using tape::code_enum;
using tape::code_list;

constexpr std::string_view kMagic = "ATOLSNAP";
constexpr std::uint64_t kFormat = 2;
constexpr std::size_t kHeaderBytes = 32;

static_assert(std::endian::native == std::endian::little, "blocks are written as they lie in memory");

template <class C, class Numbers>
void code_numbers(C& c, Numbers& numbers) {
  using Number = std::remove_cvref_t<decltype(*numbers.data())>;
  std::uint64_t count = numbers.size();
  code(c, count);
  if constexpr (C::kDecodes) {
    if (count >> 32 != 0) throw tape::TapeFileError("a list is longer than its block");
    const std::string_view bytes = c.raw(static_cast<std::size_t>(count) * sizeof(Number));
    numbers = Numbers(static_cast<std::size_t>(count));
    if (count > 0) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  } else if (count > 0) {
    c.raw({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)});
  }
}

template <class C> void code_value(C& c, SharedBlock& block) { code_numbers(c, block.values); }
template <class C> void code_value(C& c, SharedState& shared) {
  code_numbers(c, shared.state.parameters);
  code_numbers(c, shared.state.inner.first);
  code_numbers(c, shared.state.inner.second);
  code(c, shared.state.inner.updates);
}

// A null pointer is one byte.
template <class C, class Shared>
void code_shared(C& c, std::shared_ptr<Shared>& pointer) {
  bool there = pointer != nullptr;
  code(c, there);
  if constexpr (C::kDecodes) pointer = there ? std::make_shared<Shared>() : nullptr;
  if (there) code_value(c, *pointer);
}

// `code_key` codes one key.
template <class C, class Key, class Shared, class CodeKey>
void code_map(C& c, std::map<Key, std::shared_ptr<Shared>>& map, CodeKey code_key) {
  std::uint64_t count = map.size();
  code(c, count);
  if constexpr (C::kDecodes) {
    for (std::uint64_t i = 0; i < count; ++i) {
      Key key{};
      code_key(key);
      code_shared(c, map[key]);
    }
  } else {
    for (auto& [key, value] : map) {
      Key copy = key;
      code_key(copy);
      code_shared(c, value);
    }
  }
}

template <class C>
void code_kept_by_shards(C& c, GlobalModel::FragmentCut& cut) {
  using Kept = GlobalModel::KeptByShard;
  std::vector<std::pair<std::uint16_t, Kept>> list(cut.kept_by_shard.begin(),
                                                   cut.kept_by_shard.end());
  code_list(c, list, [&c](std::pair<std::uint16_t, Kept>& entry) {
    code(c, entry.first);
    code_shared(c, entry.second.block);
    if constexpr (C::kDecodes) entry.second.moments = std::make_shared<Kept::Moments>();
    code_numbers(c, entry.second.moments->velocity);
    code_numbers(c, entry.second.moments->second_moment);
  });
  if constexpr (C::kDecodes) cut.kept_by_shard = {list.begin(), list.end()};
}

// The current version is nearly always the newest that is kept: then it is written once.
template <class C>
void code_fragment(C& c, GlobalModel::FragmentCut& cut) {
  std::vector<GlobalModel::Kept> kept(cut.kept.begin(), cut.kept.end());
  code_list(c, kept, [&c](GlobalModel::Kept& version) {
    code_all(c, version.sync, version.number);
    code_shared(c, version.block);
    code_list(c, version.due, [&c](std::uint32_t& times) { code(c, times); });
  });
  bool is_newest = !kept.empty() && cut.current == kept.back().block;
  code(c, is_newest);
  if constexpr (C::kDecodes) {
    if (is_newest && kept.empty()) throw tape::TapeFileError("a fragment has no version");
    if (is_newest) cut.current = kept.back().block;
    cut.kept.assign(kept.begin(), kept.end());
  }
  if (!is_newest) code_shared(c, cut.current);
  code_numbers(c, cut.velocity);
  code_numbers(c, cut.second_moment);
  code(c, cut.merge_count);
  code_shared(c, cut.saved);
  code_numbers(c, cut.saved_velocity);
  code_numbers(c, cut.saved_second_moment);
  code_kept_by_shards(c, cut);
}

template <class C> void code_evaluation(C& c, Evaluation& e) { code_all(c, e.at, e.tokens, e.loss); }

template <class C>
void code_results(C& c, Snapshot& s) {
  code_list(c, s.evaluations, [&c](Evaluation& e) { code_evaluation(c, e); });
  code_list(c, s.marks, [&c](MarkLoss& m) {
    code_enum(c, m.mark, tape::MarkKind::kLoss);
    code_evaluation(c, m.evaluation);
  });
  std::uint8_t has_diverged = s.diverged.has_value();
  code(c, has_diverged);
  Divergence divergence = s.diverged.value_or(Divergence{});
  if (has_diverged != 0) code_all(c, divergence.at, divergence.step);
  if (has_diverged != 0) s.diverged = divergence;
  std::vector<ConvergenceRow> rows = s.convergence.rows();
  std::uint64_t stride = s.convergence.stride();
  code(c, stride);
  code_list(c, rows, [&c](ConvergenceRow& r) {
    code_all(c, r.at, r.merge_index, r.sync, r.step, r.version, r.fragment, r.epoch, r.contributors,
             r.outer_gradient_norm, r.cosine_mean, r.replica_spread_rms);
  });
  if constexpr (C::kDecodes) s.convergence = ConvergenceRecord(std::move(rows), stride);
  code_all(c, s.merge_count, s.model_is_evaluated);
}

template <class C>
void code_all_of(C& c, SnapshotOrigin& origin, Snapshot& s) {
  code_all(c, origin.version, origin.scenario_hash, origin.arm, origin.seed, s.number, s.step);
  code_list(c, s.fragments, [&c](GlobalModel::FragmentCut& cut) { code_fragment(c, cut); });
  code_list(c, s.learners, [&c](Snapshot::Learner& learner) {
    code_shared(c, learner.state);
    code_shared(c, learner.checkpoint);
    code(c, learner.checkpoint_step);
  });
  code_map(c, s.takes, [&c](TakeKey& key) {
    auto& [sync, fragment, learner] = key;
    code_all(c, sync, fragment, learner);
  });
  code_map(c, s.transfers, [&c](std::uint32_t& transfer) { code(c, transfer); });
  code_map(c, s.restores, [&c](std::uint16_t& epoch) { code(c, epoch); });
  code_results(c, s);
}

// Eight bytes at a time; each step is one to one in the word, so a flipped byte always shows.
std::uint64_t checksum(std::string_view payload) {
  std::uint64_t hash = (0xcbf29ce484222325ull ^ payload.size()) * 0x100000001b3ull;
  for (std::size_t i = 0; i < payload.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, payload.data() + i, std::min<std::size_t>(8, payload.size() - i));
    hash = std::rotl((hash ^ word) * 0x9e3779b97f4a7c15ull, 29);
  }
  return hash;
}

std::uint64_t integer_at(std::string_view bytes, std::size_t place) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + place, sizeof value);
  return value;
}

std::string_view checked_payload(const std::string& bytes) {
  if (bytes.size() < 8 || !std::string_view(bytes).starts_with(kMagic)) {
    throw SnapshotFileError("this file is not a snapshot");
  }
  if (bytes.size() < kHeaderBytes) throw SnapshotFileError("truncated: the header is cut off");
  const std::uint64_t format = integer_at(bytes, 8);
  if (format != kFormat) {
    throw SnapshotFileError(fmt::format("format must be {}; got {}", kFormat, format));
  }
  const std::uint64_t length = integer_at(bytes, 16);
  const std::string_view payload = std::string_view(bytes).substr(kHeaderBytes);
  if (payload.size() < length) {
    throw SnapshotFileError(fmt::format("truncated: {} of {} bytes are there", payload.size(), length));
  }
  if (payload.size() > length) throw SnapshotFileError("there is something after the end");
  if (checksum(payload) != integer_at(bytes, 24)) {
    throw SnapshotFileError("damaged: the checksum does not match");
  }
  return payload;
}

}  // namespace

void write_snapshot(const Snapshot& snapshot, const SnapshotOrigin& origin, std::ostream& out) {
  // The listing takes what it may also fill; an encoder changes nothing.
  Snapshot copy = snapshot;
  SnapshotOrigin whose = origin;
  tape::Encoder payload;
  code_all_of(payload, whose, copy);
  tape::Encoder header;
  header.raw(kMagic);
  header.fixed(kFormat);
  header.fixed(payload.bytes().size());
  header.fixed(checksum(payload.bytes()));
  out << header.bytes() << payload.bytes();
}

SnapshotFile read_snapshot(std::istream& in) {
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  tape::Decoder decoder(checked_payload(bytes));
  SnapshotFile file;
  try {
    code_all_of(decoder, file.origin, file.snapshot);
  } catch (const tape::TapeFileError&) {
    throw SnapshotFileError("damaged: its lists do not fit its length");
  }
  if (!decoder.at_end()) throw SnapshotFileError("damaged: its lists do not fit its length");
  return file;
}

}  // namespace sim::trainer
