#include "scheduling/placement/move_candidates.h"

#include <algorithm>
#include <bit>

#include "scheduling/placement/blocks.h"

namespace orrery {
namespace {

constexpr int kTries = 6;

}  // namespace

void MoveCandidates::add(ShapeId shape, const Devices& devices, double cost) {
  candidates_.push_back({shape, devices, cost});
  enter(candidates_.size() - 1);
}

bool MoveCandidates::place(ShapeId id, Devices& devices) {
  if (packer_.place(ledger_, id, devices)) return true;
  const Shape shape = packer_.shape(id);
  if (shape.gpus > ledger_.gpus_free()) return false;
  return shape.gpus <= ledger_.gpus_per_node_max() ? clear_block(id, shape, devices)
                                                   : clear_nodes(id, shape, devices);
}

void MoveCandidates::enter(std::size_t candidate) {
  for (const NodeShare& share : candidates_[candidate].devices) {
    on_node_[index(share.node)].push_back(candidate);
  }
}

void MoveCandidates::leave(std::size_t candidate) {
  for (const NodeShare& share : candidates_[candidate].devices) {
    std::erase(on_node_[index(share.node)], candidate);
  }
}

// GPUs of the block, or of the whole nodes, that this many take.
int MoveCandidates::size_of(int gpus) const {
  const int per_node = ledger_.gpus_per_node_max();
  return gpus <= per_node ? block_size(gpus) : (gpus + per_node - 1) / per_node * per_node;
}

// What it costs to move all candidates off these GPUs; below 0: one must stay or is not smaller
// than `size`.
double MoveCandidates::cost(int node, std::uint64_t gpus, int size) const {
  double sum = 0;
  std::uint64_t known = ledger_.free_mask(node);
  for (const std::size_t i : on_node_[static_cast<std::size_t>(node)]) {
    const Candidate& candidate = candidates_[i];
    const auto share =
        std::ranges::find(candidate.devices, static_cast<NodeId>(node), &NodeShare::node);
    known |= share->gpus;
    if ((share->gpus & gpus) == 0) continue;
    if (candidate.cost < 0 || size_of(packer_.shape(candidate.shape).gpus) >= size) return -1;
    sum += candidate.cost;
  }
  return (gpus & ~known) == 0 ? sum : -1;  // A job that is no candidate is there.
}

bool MoveCandidates::clear_block(ShapeId id, const Shape& shape, Devices& devices) {
  std::vector<Target> targets;
  const int size = block_size(shape.gpus);
  for (int node = 0; node < ledger_.node_count(); ++node) {
    if (!ledger_.serves(node, shape)) continue;
    for (int at = 0; at + size <= ledger_.gpus_of(node); at += size) {
      const double moves_cost = cost(node, block_mask(at, size), size);
      if (moves_cost >= 0) targets.push_back({moves_cost, node, block_mask(at, size)});
    }
  }
  return try_each(id, shape, targets, 1, devices);
}

bool MoveCandidates::clear_nodes(ShapeId id, const Shape& shape, Devices& devices) {
  std::vector<Target> targets;
  for (int node = 0; node < ledger_.node_count(); ++node) {
    if (!ledger_.serves(node, shape)) continue;
    const std::uint64_t all = block_mask(0, ledger_.gpus_of(node));
    const double moves_cost = cost(node, all, size_of(shape.gpus));
    if (moves_cost >= 0) targets.push_back({moves_cost, node, all});
  }
  const int per_node = ledger_.gpus_per_node_max();
  return try_each(id, shape, targets, (shape.gpus + per_node - 1) / per_node, devices);
}

// Empties `count` targets at once, the cheapest first, then others.
bool MoveCandidates::try_each(ShapeId id, const Shape& shape, std::vector<Target>& targets,
                              int count, Devices& devices) {
  std::ranges::stable_sort(targets, {}, &Target::cost);
  for (int first = 0; first < kTries && first + count <= std::ssize(targets); ++first) {
    if (try_these(id, shape,
                  std::span(targets).subspan(static_cast<std::size_t>(first),
                                             static_cast<std::size_t>(count)),
                  devices)) {
      return true;
    }
  }
  return false;
}

bool MoveCandidates::try_these(ShapeId id, const Shape& shape, std::span<const Target> cleared,
                               Devices& devices) {
  const Ledger::Mark mark = ledger_.mark();
  const std::size_t moves_before = moves_.size();
  std::vector<std::size_t> out = candidates_on(cleared);
  std::vector<Devices> old;
  for (const std::size_t i : out) {
    old.push_back(candidates_[i].devices);
    ledger_.release(candidates_[i].devices, packer_.shape(candidates_[i].shape));
    leave(i);
    candidates_[i].devices.clear();
  }
  devices.clear();
  int left = shape.gpus;
  for (const Target& one : cleared) {
    const int gpus = std::min(left, std::popcount(one.gpus));
    if (ledger_.gpus_fitting(one.node, shape) < gpus) break;
    const int begin = std::countr_zero(one.gpus);
    devices.push_back({static_cast<NodeId>(one.node), block_mask(begin, gpus)});
    left -= gpus;
  }
  bool ok = left == 0;
  if (ok) ledger_.take(devices, packer_.shape(id));
  for (std::size_t k = 0; ok && k < out.size(); ++k) ok = move(out[k], old[k]);
  if (ok) return true;
  undo_moves(moves_before);
  for (std::size_t k = 0; k < out.size(); ++k) hold(out[k], old[k]);
  ledger_.undo(mark);
  devices.clear();
  return false;
}

bool MoveCandidates::move(std::size_t candidate, const Devices& from) {
  Devices to;
  if (!place(candidates_[candidate].shape, to)) return false;
  hold(candidate, to);
  moves_.push_back({candidate, from});
  return true;
}

std::vector<std::size_t> MoveCandidates::candidates_on(std::span<const Target> cleared) const {
  std::vector<std::size_t> out;
  for (const Target& one : cleared) {
    for (const std::size_t i : on_node_[static_cast<std::size_t>(one.node)]) {
      const auto share = std::ranges::find(candidates_[i].devices, static_cast<NodeId>(one.node),
                                           &NodeShare::node);
      if ((share->gpus & one.gpus) == 0) continue;
      if (std::ranges::find(out, i) == out.end()) out.push_back(i);
    }
  }
  std::ranges::stable_sort(out, std::ranges::greater{},
                           [&](std::size_t i) { return packer_.shape(candidates_[i].shape).gpus; });
  return out;
}

void MoveCandidates::hold(std::size_t candidate, const Devices& devices) {
  leave(candidate);
  candidates_[candidate].devices = devices;
  enter(candidate);
}

// Moves made on the way to a failure, the last one first.
void MoveCandidates::undo_moves(std::size_t moves_before) {
  while (moves_.size() > moves_before) {
    hold(moves_.back().candidate, moves_.back().from);
    moves_.pop_back();
  }
}

}  // namespace orrery
