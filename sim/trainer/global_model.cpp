// sim/trainer/global_model.cpp: see global_model.h.
#include "sim/trainer/global_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/trainer/fragment_copy.h"

namespace sim::trainer {
GlobalModel::GlobalModel(const Options& options, const optim::Model& model,
                         std::span<const float> initial, TaskGraph& graph)
    : options_(options),
      model_(model),
      graph_(graph),
      fragments_(options.fragment_count > 0 ? optim::partition(model, options.fragment_count)
                                            : std::vector<optim::Fragment>{}),
      states_(fragments_.size()) {
  for (std::size_t p = 0; p < fragments_.size(); ++p) {
    states_[p].current = std::make_shared<SharedBlock>();
    states_[p].current->values = optim::AlignedBlock(fragments_[p].size);
    pack(fragments_[p], initial, states_[p].current->values.span());
    states_[p].velocity.assign(fragments_[p].size, 0.0);
    if (optim::has_second_moment(options.outer.kind)) {
      states_[p].second_moment.assign(fragments_[p].size, 0.0);
    }
    states_[p].saved = states_[p].current;
    states_[p].saved_velocity = states_[p].velocity;
    states_[p].saved_second_moment = states_[p].second_moment;
    if (options.anchor == Anchor::kReceived) {
      states_[p].received.assign(options.learner_count, states_[p].current);
    }
  }
}

const optim::Fragment& GlobalModel::fragment(std::uint16_t index) const {
  if (index < fragments_.size()) return fragments_[index];
  throw std::logic_error(fmt::format("fragment {} of {}", index, fragments_.size()));
}

GlobalModel::FragmentCut& GlobalModel::state(std::uint16_t fragment) {
  if (fragment < states_.size()) return states_[fragment];
  throw std::logic_error(fmt::format("fragment {} of {}", fragment, states_.size()));
}

void GlobalModel::merge(std::uint16_t fragment_index, std::uint32_t sync, std::vector<Part> parts,
                        ConvergenceRow* row) {
  FragmentCut& fragment = state(fragment_index);
  if (parts.empty()) throw std::logic_error(fmt::format("sync {} merges nobody", sync));
  if (std::ranges::any_of(fragment.kept, [&](const Kept& v) { return v.sync == sync; })) {
    throw std::logic_error(fmt::format("sync {} merges fragment {} twice", sync, fragment_index));
  }
  std::vector<NodeId> after = {fragment.current->producer, fragment.reads_velocity};
  for (const Part& part : parts) {
    after.push_back(part.taken->producer);
    if (part.anchor) after.push_back(part.anchor->producer);
  }
  auto next = std::make_shared<SharedBlock>();
  next->producer = graph_.add(
      after, [this, &fragment, fragment_index, row, next, current = fragment.current,
              parts = std::move(parts)](const Worker&) {
        next->values = current->values;
        compute(fragments_[fragment_index], parts, current, fragment, next->values.span(), row);
      });
  fragment.current = next;
  fragment.kept.push_back({sync, ++fragment.merge_count, std::move(next),
                           std::vector<std::uint32_t>(options_.learner_count, 1)});
  forget_old(fragment);
}

void GlobalModel::compute(const optim::Fragment& fragment, const std::vector<Part>& parts,
                          const Version& current, FragmentCut& state, std::span<float> theta,
                          ConvergenceRow* row) const {
  // The merge takes anchor - contribution in double. What was rounded on the wire, or measured from
  // another version, goes in as 0 - (-delta), which is exact.
  const bool whole = arrives_whole(parts, current);
  const std::vector<float> zeros(whole ? 0 : fragment.size, 0.0f);
  const std::span<const float> anchor = whole ? current->values.span() : std::span(zeros);
  std::vector<std::vector<float>> deltas;
  std::vector<optim::Contribution> contributions;
  for (const Part& part : parts) {
    if (part.weight == 0) continue;
    if (whole) {
      contributions.push_back({part.weight, part.taken->values.span()});
      continue;
    }
    const Version& from = part.anchor ? part.anchor : current;
    deltas.push_back(sent_delta(fragment, from->values.span(), part.taken->values.span()));
    contributions.push_back({part.weight, deltas.back()});
  }
  std::vector<double> delta(fragment.size, 0.0);
  if (!contributions.empty()) {
    optim::merge(options_.merge, model_.tensors(), fragment, anchor, contributions, delta);
  }
  if (row != nullptr) measure_merge(anchor, contributions, delta, *row);
  optim::outer_update(options_.outer, theta, delta, state.velocity, state.second_moment);
}

std::shared_ptr<SharedBlock> GlobalModel::adopt(std::uint16_t fragment_index, std::uint32_t sync,
                                                std::uint16_t learner) {
  FragmentCut& fragment = state(fragment_index);
  const auto version =
      std::ranges::find_if(fragment.kept, [&](const Kept& v) { return v.sync == sync; });
  if (version == fragment.kept.end()) {
    throw std::logic_error(
        fmt::format("learner {} adopts fragment {} of sync {}, which is not kept", learner,
                    fragment_index, sync));
  }
  std::shared_ptr<SharedBlock> block = version->block;
  for (auto older = fragment.kept.begin(); older <= version; ++older) older->due.at(learner) = 0;
  forget_old(fragment);
  if (!fragment.received.empty()) fragment.received[learner] = block;
  return block;
}

// Nothing is rounded, and all outer gradients are measured from one version: the current one.
bool GlobalModel::arrives_whole(const std::vector<Part>& parts, const Version& current) const {
  return options_.wire == optim::WireFormat::kFp32 &&
         std::ranges::all_of(
             parts, [&](const Part& part) { return !part.anchor || part.anchor == current; });
}

// The outer gradient as it arrives, with the sign turned.
std::vector<float> GlobalModel::sent_delta(const optim::Fragment& fragment,
                                           std::span<const float> anchor,
                                           std::span<const float> taken) const {
  std::vector<float> delta(fragment.size);
  for (std::size_t i = 0; i < delta.size(); ++i) {
    delta[i] = static_cast<float>(double{anchor[i]} - double{taken[i]});
  }
  std::size_t first = 0;
  for (const optim::Piece& piece : fragment.pieces) {
    optim::send_through(options_.wire, std::span(delta).subspan(first, piece.size));
    first += piece.size;
  }
  for (float& value : delta) value = -value;
  return delta;
}

std::vector<GlobalModel::Version> GlobalModel::received(std::uint16_t learner) const {
  std::vector<Version> versions;
  for (const FragmentCut& fragment : states_) {
    if (!fragment.received.empty()) versions.push_back(fragment.received.at(learner));
  }
  return versions;
}

GlobalModel::Version GlobalModel::received(std::uint16_t fragment, std::uint16_t learner) const {
  const FragmentCut& state = states_.at(fragment);
  return state.received.empty() ? nullptr : state.received.at(learner);
}

void GlobalModel::set_received(std::uint16_t learner, const std::vector<Version>& versions) {
  for (std::size_t p = 0; p < versions.size(); ++p) states_.at(p).received.at(learner) = versions[p];
}

std::vector<GlobalModel::Version> GlobalModel::current() const {
  std::vector<Version> versions;
  if (options_.anchor != Anchor::kReceived) return versions;
  for (const FragmentCut& fragment : states_) versions.push_back(fragment.current);
  return versions;
}

void GlobalModel::broadcast_changed(std::uint16_t index, std::uint32_t sync, std::uint16_t learner,
                                    bool sent) {
  FragmentCut& fragment = state(index);
  const auto version =
      std::ranges::find_if(fragment.kept, [&](const Kept& v) { return v.sync == sync; });
  if (version == fragment.kept.end()) return;
  std::uint32_t& due = version->due.at(learner);
  if (sent) ++due;
  if (!sent && due > 0) --due;
  forget_old(fragment);
}

void GlobalModel::share_broadcasts(std::uint16_t donor, std::uint16_t receiver) {
  for (FragmentCut& fragment : states_) {
    for (Kept& version : fragment.kept) version.due.at(receiver) += version.due.at(donor);
  }
}

void GlobalModel::forget_old(FragmentCut& fragment) {
  const Version newest = fragment.kept.back().block;
  std::erase_if(fragment.kept, [&newest](const Kept& version) {
    return version.block != newest &&
           std::ranges::all_of(version.due, [](std::uint32_t times) { return times == 0; });
  });
}

std::size_t GlobalModel::kept_versions() const {
  std::size_t count = 0;
  for (const FragmentCut& fragment : states_) count += fragment.kept.size();
  return count;
}

void GlobalModel::restore(std::shared_ptr<SharedBlock> flat) {
  for (std::size_t p = 0; p < fragments_.size(); ++p) {
    FragmentCut& fragment = states_[p];
    auto next = std::make_shared<SharedBlock>();
    const NodeId after[] = {fragment.current->producer, fragment.reads_velocity, flat->producer};
    next->producer = graph_.add(after, [this, p, &fragment, next, flat](const Worker&) {
      next->values = optim::AlignedBlock(fragments_[p].size);
      pack(fragments_[p], flat->values.span(), next->values.span());
      std::ranges::fill(fragment.velocity, 0.0);
      std::ranges::fill(fragment.second_moment, 0.0);
    });
    fragment.current = std::move(next);
  }
}

void GlobalModel::save() {
  for (FragmentCut& fragment : states_) {
    const NodeId after[] = {fragment.current->producer, fragment.reads_velocity};
    fragment.saved = fragment.current;
    fragment.reads_velocity = graph_.add(after, [&fragment](const Worker&) {
      fragment.saved_velocity = fragment.velocity;
      fragment.saved_second_moment = fragment.second_moment;
    });
  }
}

// The very blocks: who received one before the save has received the current one again.
void GlobalModel::load() {
  for (FragmentCut& fragment : states_) {
    const NodeId after[] = {fragment.current->producer, fragment.reads_velocity};
    fragment.reads_velocity = graph_.add(after, [&fragment](const Worker&) {
      fragment.velocity = fragment.saved_velocity;
      fragment.second_moment = fragment.saved_second_moment;
    });
    fragment.current = fragment.saved;
  }
}

void GlobalModel::keep(std::uint16_t index, std::uint16_t shard) {
  FragmentCut& fragment = state(index);
  auto moments = std::make_shared<KeptByShard::Moments>();
  const NodeId after[] = {fragment.current->producer, fragment.reads_velocity};
  fragment.reads_velocity = graph_.add(after, [&fragment, moments](const Worker&) {
    moments->velocity = fragment.velocity;
    moments->second_moment = fragment.second_moment;
  });
  fragment.kept_by_shard[shard] = {fragment.current, std::move(moments)};
}

void GlobalModel::drop_kept(std::uint16_t fragment, std::uint16_t shard) {
  state(fragment).kept_by_shard.erase(shard);
}

void GlobalModel::go_back(std::uint16_t index, std::uint16_t shard) {
  FragmentCut& fragment = state(index);
  const auto found = fragment.kept_by_shard.find(shard);
  if (found == fragment.kept_by_shard.end()) {
    throw std::logic_error(fmt::format("shard {} keeps no version of fragment {}", shard, index));
  }
  const NodeId after[] = {fragment.current->producer, fragment.reads_velocity};
  fragment.reads_velocity =
      graph_.add(after, [&fragment, moments = found->second.moments](const Worker&) {
        fragment.velocity = moments->velocity;
        fragment.second_moment = moments->second_moment;
      });
  fragment.current = found->second.block;
}

std::vector<GlobalModel::FragmentCut> GlobalModel::cut() const {
  if (graph_.size() > 0) throw std::logic_error("a cut through work that has not been done");
  return states_;
}

void GlobalModel::resume(const std::vector<FragmentCut>& cuts) {
  if (cuts.size() != states_.size()) {
    throw std::invalid_argument(
        fmt::format("a snapshot of {} fragments, expected {}", cuts.size(), states_.size()));
  }
  for (std::size_t p = 0; p < cuts.size(); ++p) {
    const FragmentCut& cut = cuts[p];
    if (cut.current->values.size() != fragments_[p].size ||
        cut.velocity.size() != fragments_[p].size ||
        cut.second_moment.size() != states_[p].second_moment.size() ||
        !std::ranges::all_of(cut.kept, [this](const Kept& version) {
          return version.due.size() == options_.learner_count;
        })) {
      throw std::invalid_argument(fmt::format("fragment {} of the snapshot has another size", p));
    }
    states_[p] = cut;
  }
}

std::shared_ptr<SharedBlock> GlobalModel::assemble() {
  std::vector<NodeId> after;
  std::vector<std::shared_ptr<SharedBlock>> versions;
  for (const FragmentCut& fragment : states_) {
    versions.push_back(fragment.current);
    after.push_back(fragment.current->producer);
  }
  auto flat = std::make_shared<SharedBlock>();
  flat->producer = graph_.add(after, [this, flat, versions](const Worker&) {
    flat->values = optim::AlignedBlock(model_.block_size());
    for (std::size_t p = 0; p < versions.size(); ++p) {
      unpack(fragments_[p], versions[p]->values.span(), flat->values.span());
    }
  });
  return flat;
}

}  // namespace sim::trainer
