#include "scheduling/placement/ledger.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "base/invariant.h"

namespace orrery {
namespace {

constexpr int kWordBits = 64;
constexpr NameId kUnheardOf{-2};  // a type that no job can ask for

NameId find_name(std::span<const std::string> names, const std::string& wanted) {
  if (wanted.empty()) return kNoName;
  const auto found = std::ranges::find(names, wanted);
  return found == names.end() ? kUnheardOf : static_cast<NameId>(found - names.begin());
}

}  // namespace

Ledger::Ledger(const Cluster& cluster, std::span<const std::string> names, Nodes nodes) {
  int last_switch = -1;
  std::map<std::pair<bool, int>, int> zones;  // from their own numbers, or those of switches
  for (const Node& node : cluster.nodes) {
    INVARIANT(node.gpus >= 0 && node.gpus <= kGpusPerNodeMax, "a node's GPUs are one word's bits");
    if (node.switch_index != last_switch) {
      switch_begin_.push_back(static_cast<int>(empty_.size()));
      last_switch = node.switch_index;
    }
    NodeState state;
    if (node.open || nodes == Nodes::All) {
      state.gpus = node.gpus;
      state.free_count = node.gpus;
      state.free = node.gpus == kGpusPerNodeMax ? ~0ULL : (1ULL << node.gpus) - 1;
      state.free_cpu_milli = node.cpu_milli;
      state.free_memory_bytes = node.memory_bytes;
    }
    state.gpu_memory_bytes = node.gpu_memory_bytes;
    state.switch_index = static_cast<std::int32_t>(switch_begin_.size()) - 1;
    state.gpu_type = find_name(names, node.gpu_type);
    empty_.push_back(state);
    losses_per_day_.push_back(node.losses_per_day);
    const bool has_zone = node.zone >= 0;
    const std::pair zone(has_zone, has_zone ? node.zone : state.switch_index);
    zones_.push_back(zones.try_emplace(zone, static_cast<int>(zones.size())).first->second);
    gpus_total_ += state.gpus;
    gpus_per_node_max_ = std::max(gpus_per_node_max_, state.gpus);
  }
  node_count_ = static_cast<int>(empty_.size());
  zone_count_ = static_cast<int>(zones.size());
  switch_begin_.push_back(node_count_);
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

int Ledger::gpus_fitting_within(int node, int gpus_at_most, const Shape& shape) const {
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
  int word = begin / kWordBits;
  std::uint64_t bits = words[word] & (~0ULL << (begin % kWordBits));
  while (bits == 0) {
    ++word;
    if (word * kWordBits >= end) return end;
    bits = words[word];
  }
  return std::min(end, word * kWordBits + std::countr_zero(bits));
}

int Ledger::next_with_at_least(int count, int begin, int end) const {
  // Words of the index are joined over all sufficient counts, so that the scan is in node order.
  std::uint64_t wanted = ~0ULL << (begin % kWordBits);
  for (int word = begin / kWordBits; word * kWordBits < end; ++word, wanted = ~0ULL) {
    std::uint64_t bits = 0;
    const std::uint64_t* enough = with_free(count) + word;
    for (int rest = gpus_per_node_max_ - count; rest >= 0; --rest) {
      bits |= *enough;
      enough += words_;
    }
    bits &= wanted;
    if (bits != 0) return std::min(end, word * kWordBits + std::countr_zero(bits));
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
  if (at(node).free_count == count) return rest;
  std::uint64_t chosen = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t lowest = rest & (0 - rest);
    chosen |= lowest;
    rest ^= lowest;
  }
  return chosen;
}

// For devices that a job holds already.
void Ledger::add_users(NodeState& state, std::uint64_t gpus) {
  std::uint8_t* extra = &extra_users_[static_cast<std::size_t>(&state - nodes_.data()) * kWordBits];
  ++second_takes_;
  for (state.shared |= gpus; gpus != 0; gpus &= gpus - 1) ++extra[std::countr_zero(gpus)];
}

// Returns those of the devices on which no job is left.
std::uint64_t Ledger::drop_users(NodeState& state, std::uint64_t gpus) {
  std::uint8_t* extra = &extra_users_[static_cast<std::size_t>(&state - nodes_.data()) * kWordBits];
  const std::uint64_t freed = gpus & ~state.shared;
  for (std::uint64_t kept = gpus & state.shared; kept != 0; kept &= kept - 1) {
    if (--extra[std::countr_zero(kept)] == 0) state.shared &= ~(kept & (0 - kept));
  }
  return freed;
}

void Ledger::apply(const Change& change) {
  NodeState& state = nodes_[static_cast<std::size_t>(change.node)];
  if (change.taken) {
    if ((change.gpus & ~state.free) != 0) add_users(state, change.gpus & ~state.free);
    state.free &= ~change.gpus;
    state.free_cpu_milli -= change.cpu_milli;
    state.free_memory_bytes -= change.memory_bytes;
  } else {
    const bool shared = (change.gpus & state.shared) != 0;
    const std::uint64_t freed = shared ? drop_users(state, change.gpus) : change.gpus;
    INVARIANT((freed & state.free) == 0, "only what is taken can be released");
    state.free |= freed;
    state.free_cpu_milli += change.cpu_milli;
    state.free_memory_bytes += change.memory_bytes;
  }
  const int before = std::exchange(state.free_count, std::popcount(state.free));
  gpus_free_ += state.free_count - before;
  if (state.free_count != before) move_in_index(change.node, before, state.free_count);
}

void Ledger::change(bool taken, const NodeShare& share, const Shape& shape) {
  const int gpus = std::popcount(share.gpus);
  const Change change{static_cast<std::int32_t>(share.node), taken, share.gpus,
                      share_of(shape.cpu_milli, gpus, shape.gpus),
                      share_of(shape.memory_bytes, gpus, shape.gpus)};
  apply(change);
  if (journaled_) journal_.push_back(change);
}

bool Ledger::can_take(std::span<const NodeShare> devices, const Shape& shape) const {
  return std::ranges::all_of(devices, [&](const NodeShare& share) {
    const NodeState& state = nodes_[index(share.node)];
    return (share.gpus & ~state.free) == 0 &&
           fits_besides_gpus(state, std::popcount(share.gpus), shape);
  });
}

void Ledger::take(std::span<const NodeShare> devices, const Shape& shape) {
  const bool gpus_alone = !journaled_ && (shape.cpu_milli | shape.memory_bytes) == 0;
  for (const NodeShare& share : devices) {
    NodeState& state = nodes_[index(share.node)];
    if (!gpus_alone || (share.gpus & ~state.free) != 0) {
      change(true, share, shape);
      continue;
    }
    // Most of what is tried out: nothing to note but that these are free no more.
    const int gpus = std::popcount(share.gpus);
    state.free ^= share.gpus;
    gpus_free_ -= gpus;
    move_in_index(static_cast<int>(share.node), state.free_count, state.free_count - gpus);
    state.free_count -= gpus;
  }
}

void Ledger::release(std::span<const NodeShare> devices, const Shape& shape) {
  for (const NodeShare& share : devices) change(false, share, shape);
}

void Ledger::undo(Mark mark) {
  while (journal_.size() > mark) {
    Change change = journal_.back();
    journal_.pop_back();
    change.taken = !change.taken;
    apply(change);
  }
}

void Ledger::withhold(std::span<const NodeShare> devices, const Shape& shape) {
  for (const NodeShare& share : devices) {
    const std::size_t node = index(share.node);
    if (node >= empty_.size()) continue;
    const std::uint64_t gpus = share.gpus & empty_[node].free;
    const int count = std::popcount(gpus);
    const int with = std::popcount(share.gpus);
    const auto take_from = [&](NodeState& state, std::vector<std::uint64_t>& by_free) {
      const auto word = [&](int free) -> std::uint64_t& {
        return by_free[static_cast<std::size_t>(free) * words_ + node / kWordBits];
      };
      INVARIANT((gpus & ~state.free) == 0, "only what is free can be withheld");
      word(state.free_count) &= ~(1ULL << (node % kWordBits));
      const bool offers = state.gpus > 0;
      state.free &= ~gpus;
      state.free_count -= count;
      state.gpus -= count;
      word(state.free_count) |= 1ULL << (node % kWordBits);
      if (!offers) return;
      state.free_cpu_milli -= share_of(shape.cpu_milli, with, shape.gpus);
      state.free_memory_bytes -= share_of(shape.memory_bytes, with, shape.gpus);
    };
    take_from(empty_[node], empty_by_free_);
    take_from(nodes_[node], by_free_);
    gpus_total_ -= count;
    gpus_free_ -= count;
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
