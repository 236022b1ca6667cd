#include "placement/ledger.h"

#include <algorithm>
#include <bit>

#include "base/invariant.h"

namespace orrery {
namespace {

constexpr int kWordBits = 64;

NameId find_name(std::span<const std::string> names, const std::string& wanted) {
  if (wanted.empty()) return kNoName;
  const auto found = std::ranges::find(names, wanted);
  // A type that no job asks for has no name in the workload; any id that no job has will do.
  return static_cast<NameId>(found - names.begin());
}

}  // namespace

Ledger::Ledger(const Cluster& cluster, std::span<const std::string> names) {
  int last_switch = -1;
  for (const Node& node : cluster.nodes) {
    INVARIANT(node.gpus >= 0 && node.gpus <= kGpusPerNodeMax, "a node's GPUs are one word's bits");
    if (node.switch_index != last_switch) {
      switch_begin_.push_back(static_cast<int>(empty_.size()));
      last_switch = node.switch_index;
    }
    NodeState state;
    state.gpus = node.gpus;
    state.free_count = node.gpus;
    state.free = node.gpus == kGpusPerNodeMax ? ~0ULL : (1ULL << node.gpus) - 1;
    state.free_cpu_milli = node.cpu_milli;
    state.free_memory_bytes = node.memory_bytes;
    state.gpu_memory_bytes = node.gpu_memory_bytes;
    state.switch_index = static_cast<std::int32_t>(switch_begin_.size()) - 1;
    state.gpu_type = find_name(names, node.gpu_type);
    empty_.push_back(state);
    gpus_total_ += node.gpus;
    gpus_per_node_max_ = std::max(gpus_per_node_max_, node.gpus);
  }
  switch_begin_.push_back(static_cast<int>(empty_.size()));
  extra_users_.assign(empty_.size() * kGpusPerNodeMax, 0);
  words_ = (empty_.size() + kWordBits - 1) / kWordBits;
  empty_by_free_.assign((static_cast<std::size_t>(gpus_per_node_max_) + 1) * words_, 0);
  for (std::size_t node = 0; node < empty_.size(); ++node) {
    const auto count = static_cast<std::size_t>(empty_[node].free_count);
    empty_by_free_[count * words_ + node / kWordBits] |= 1ULL << (node % kWordBits);
  }
  clear();
  forget();
}

bool Ledger::fits_all(const NodeState& state, int gpus, const Shape& shape) const {
  if (shape.cpu_milli != 0 && share_of(shape.cpu_milli, gpus, shape.gpus) > state.free_cpu_milli) {
    return false;
  }
  if (shape.memory_bytes != 0 &&
      share_of(shape.memory_bytes, gpus, shape.gpus) > state.free_memory_bytes) {
    return false;
  }
  if (shape.gpu_type == kNoName && shape.gpu_memory_bytes == 0) return true;
  return serves(static_cast<int>(&state - nodes_.data()), shape);
}

int Ledger::room_within(int node, int gpus_at_most, const Shape& shape) const {
  const NodeState& state = at(node);
  if (asks_for_gpus_alone(shape)) return std::min(gpus_at_most, shape.gpus);
  if (!serves(node, shape)) return 0;
  std::int64_t gpus = std::min(gpus_at_most, shape.gpus);
  const auto limit = [&](std::int64_t wanted, std::int64_t free) {
    if (wanted == 0 || share_of(wanted, static_cast<int>(gpus), shape.gpus) <= free) return;
    gpus = std::max<std::int64_t>(free, 0) * shape.gpus / wanted;
  };
  limit(shape.cpu_milli, state.free_cpu_milli);
  limit(shape.memory_bytes, state.free_memory_bytes);
  return static_cast<int>(gpus);
}

int Ledger::next_with_free(int count, int begin, int end) const {
  if (begin >= end || count > gpus_per_node_max_) return end;
  const std::uint64_t* words = with_free(count);
  auto word = static_cast<std::size_t>(begin / kWordBits);
  std::uint64_t bits = words[word] & (~0ULL << (begin % kWordBits));
  while (bits == 0) {
    ++word;
    if (static_cast<int>(word) * kWordBits >= end) return end;
    bits = words[word];
  }
  return std::min(end, static_cast<int>(word) * kWordBits + std::countr_zero(bits));
}

int Ledger::first_fit(int begin, int end, int gpus, const Shape& shape) const {
  // Words of the index are joined over all sufficient counts, so that the scan is in node order.
  if (begin >= end) return end;
  const auto first_word = static_cast<std::size_t>(begin / kWordBits);
  const auto last_word = static_cast<std::size_t>((end - 1) / kWordBits);
  for (auto word = first_word; word <= last_word; ++word) {
    std::uint64_t bits = 0;
    const std::uint64_t* enough = with_free(gpus) + word;
    for (int count = gpus; count <= gpus_per_node_max_; ++count, enough += words_) bits |= *enough;
    if (word == first_word) bits &= ~0ULL << (begin % kWordBits);
    while (bits != 0) {
      const int node = static_cast<int>(word) * kWordBits + std::countr_zero(bits);
      if (node >= end) return end;
      if (fits_besides_gpus(at(node), gpus, shape)) return node;
      bits &= bits - 1;
    }
  }
  return end;
}

int Ledger::tightest_fit(int begin, int end, int gpus, const Shape& shape) const {
  for (int count = gpus; count <= gpus_per_node_max_; ++count) {
    for (int node = next_with_free(count, begin, end); node < end;
         node = next_with_free(count, node + 1, end)) {
      if (fits_besides_gpus(at(node), gpus, shape)) return node;
    }
  }
  return end;
}

std::uint64_t Ledger::lowest_free(int node, int count) const {
  std::uint64_t rest = at(node).free;
  if (std::popcount(rest) == count) return rest;
  std::uint64_t chosen = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t lowest = rest & (0 - rest);
    chosen |= lowest;
    rest ^= lowest;
  }
  return chosen;
}

void Ledger::apply(const Change& change) {
  NodeState& state = nodes_[static_cast<std::size_t>(change.node)];
  const int before = state.free_count;
  std::uint8_t* extra = &extra_users_[static_cast<std::size_t>(change.node) * kGpusPerNodeMax];
  if (change.taken) {
    for (std::uint64_t again = change.gpus & ~state.free; again != 0; again &= again - 1) {
      ++extra[std::countr_zero(again)];
      state.shared |= again & (0 - again);
    }
    state.free &= ~change.gpus;
    state.free_cpu_milli -= change.cpu_milli;
    state.free_memory_bytes -= change.memory_bytes;
  } else {
    std::uint64_t freed = change.gpus & ~state.shared;
    for (std::uint64_t kept = change.gpus & state.shared; kept != 0; kept &= kept - 1) {
      if (--extra[std::countr_zero(kept)] == 0) state.shared &= ~(kept & (0 - kept));
    }
    INVARIANT((freed & state.free) == 0, "only what is taken can be released");
    state.free |= freed;
    state.free_cpu_milli += change.cpu_milli;
    state.free_memory_bytes += change.memory_bytes;
  }
  state.free_count = std::popcount(state.free);
  gpus_free_ += state.free_count - before;
  if (state.free_count != before) move_in_index(change.node, before, state.free_count);
}

void Ledger::take(std::span<const NodeShare> devices, const Shape& shape) {
  for (const NodeShare& share : devices) {
    NodeState& state = nodes_[index(share.node)];
    const int gpus = std::popcount(share.gpus);
    Change change{static_cast<std::int32_t>(share.node), true, share.gpus};
    if ((shape.cpu_milli | shape.memory_bytes) != 0) {
      change.cpu_milli = share_of(shape.cpu_milli, gpus, shape.gpus);
      change.memory_bytes = share_of(shape.memory_bytes, gpus, shape.gpus);
    }
    if ((share.gpus & ~state.free) == 0) {
      // Nobody else is on these devices, which is nearly always so.
      state.free ^= share.gpus;
      move_in_index(change.node, state.free_count, state.free_count - gpus);
      state.free_count -= gpus;
      gpus_free_ -= gpus;
      state.free_cpu_milli -= change.cpu_milli;
      state.free_memory_bytes -= change.memory_bytes;
    } else {
      apply(change);
    }
    if (journaled_) journal_.push_back(change);
  }
}

void Ledger::release(std::span<const NodeShare> devices, const Shape& shape) {
  for (const NodeShare& share : devices) {
    const int gpus = std::popcount(share.gpus);
    const Change change{static_cast<std::int32_t>(share.node), false, share.gpus,
                        share_of(shape.cpu_milli, gpus, shape.gpus),
                        share_of(shape.memory_bytes, gpus, shape.gpus)};
    apply(change);
    if (journaled_) journal_.push_back(change);
  }
}

void Ledger::undo(Mark mark) {
  while (journal_.size() > mark) {
    Change change = journal_.back();
    journal_.pop_back();
    change.taken = !change.taken;
    apply(change);
  }
}

void Ledger::clear() {
  journal_.clear();
  const auto shared = [](const NodeState& state) { return state.shared != 0; };
  if (std::ranges::any_of(nodes_, shared)) std::ranges::fill(extra_users_, std::uint8_t{0});
  nodes_ = empty_;
  by_free_ = empty_by_free_;
  gpus_free_ = gpus_total_;
}

}  // namespace orrery
