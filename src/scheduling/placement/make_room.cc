#include "scheduling/placement/make_room.h"

#include <algorithm>
#include <bit>

#include "scheduling/placement/blocks.h"

namespace orrery {
namespace {

constexpr int kCandidates = 6;

struct Candidate {
  double cost = 0;
  int node = 0;
  std::uint64_t gpus = 0;
};

class RoomMaker {
 public:
  RoomMaker(Packer& packer, Ledger& ledger, std::span<Resident> residents, std::vector<Move>& moves)
      : packer_(packer), ledger_(ledger), residents_(residents), moves_(moves) {
    on_node_.resize(static_cast<std::size_t>(ledger.node_count()));
    for (std::size_t i = 0; i < residents.size(); ++i) enter(i);
  }

  bool place(ShapeId id, Devices& devices) {
    if (packer_.place(ledger_, id, devices)) return true;
    const Shape shape = packer_.shape(id);
    if (shape.gpus > ledger_.gpus_free()) return false;
    return shape.gpus <= ledger_.gpus_per_node_max() ? clear_block(id, shape, devices)
                                                     : clear_nodes(id, shape, devices);
  }

 private:
  void enter(std::size_t resident) {
    for (const NodeShare& share : residents_[resident].devices) {
      on_node_[index(share.node)].push_back(resident);
    }
  }
  void leave(std::size_t resident) {
    for (const NodeShare& share : residents_[resident].devices) {
      std::erase(on_node_[index(share.node)], resident);
    }
  }

  // The GPUs of the block or of the whole nodes that so many take.
  int room(int gpus) const {
    const int per_node = ledger_.gpus_per_node_max();
    return gpus <= per_node ? block_size(gpus) : (gpus + per_node - 1) / per_node * per_node;
  }

  // What it costs to empty these GPUs of all who take less than `size`; below 0: it cannot be.
  double cost(int node, std::uint64_t gpus, int size) const {
    double sum = 0;
    std::uint64_t known = ledger_.free_mask(node);
    for (const std::size_t i : on_node_[static_cast<std::size_t>(node)]) {
      const Resident& resident = residents_[i];
      const auto share =
          std::ranges::find(resident.devices, static_cast<NodeId>(node), &NodeShare::node);
      known |= share->gpus;
      if ((share->gpus & gpus) == 0) continue;
      if (resident.cost < 0 || room(packer_.shape(resident.shape).gpus) >= size) return -1;
      sum += resident.cost;
    }
    return (gpus & ~known) == 0 ? sum : -1;  // Somebody else is there.
  }

  bool clear_block(ShapeId id, const Shape& shape, Devices& devices) {
    std::vector<Candidate> candidates;
    const int size = block_size(shape.gpus);
    for (int node = 0; node < ledger_.node_count(); ++node) {
      if (!ledger_.serves(node, shape)) continue;
      for (int at = 0; at + size <= ledger_.gpus_of(node); at += size) {
        const double price = cost(node, block_mask(at, size), size);
        if (price >= 0) candidates.push_back({price, node, block_mask(at, size)});
      }
    }
    return try_each(id, shape, candidates, 1, devices);
  }

  bool clear_nodes(ShapeId id, const Shape& shape, Devices& devices) {
    std::vector<Candidate> candidates;
    for (int node = 0; node < ledger_.node_count(); ++node) {
      if (!ledger_.serves(node, shape)) continue;
      const std::uint64_t all = block_mask(0, ledger_.gpus_of(node));
      const double price = cost(node, all, room(shape.gpus));
      if (price >= 0) candidates.push_back({price, node, all});
    }
    const int per_node = ledger_.gpus_per_node_max();
    return try_each(id, shape, candidates, (shape.gpus + per_node - 1) / per_node, devices);
  }

  // Empties `count` candidates at once, the cheapest first, then others.
  bool try_each(ShapeId id, const Shape& shape, std::vector<Candidate>& candidates, int count,
                Devices& devices) {
    std::ranges::stable_sort(candidates, {}, &Candidate::cost);
    for (int first = 0; first < kCandidates && first + count <= std::ssize(candidates); ++first) {
      if (try_these(id, shape,
                    std::span(candidates)
                        .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                    devices)) {
        return true;
      }
    }
    return false;
  }

  bool try_these(ShapeId id, const Shape& shape, std::span<const Candidate> cleared,
                 Devices& devices) {
    const Ledger::Mark mark = ledger_.mark();
    const std::size_t moves_before = moves_.size();
    std::vector<std::size_t> out = residents_of(cleared);
    std::vector<Devices> old;
    for (const std::size_t i : out) {
      old.push_back(residents_[i].devices);
      ledger_.release(residents_[i].devices, packer_.shape(residents_[i].shape));
      leave(i);
      residents_[i].devices.clear();
    }
    devices.clear();
    int left = shape.gpus;
    for (const Candidate& one : cleared) {
      const int gpus = std::min(left, std::popcount(one.gpus));
      if (ledger_.room(one.node, shape) < gpus) break;
      const int begin = std::countr_zero(one.gpus);
      devices.push_back({static_cast<NodeId>(one.node), block_mask(begin, gpus)});
      left -= gpus;
    }
    bool ok = left == 0;
    if (ok) ledger_.take(devices, packer_.shape(id));
    for (std::size_t k = 0; ok && k < out.size(); ++k) ok = settle(out[k], old[k]);
    if (ok) return true;
    take_back(moves_before);
    for (std::size_t k = 0; k < out.size(); ++k) reseat(out[k], old[k]);
    ledger_.undo(mark);
    devices.clear();
    return false;
  }

  bool settle(std::size_t resident, const Devices& from) {
    Devices to;
    if (!place(residents_[resident].shape, to)) return false;
    from_.push_back(from);
    reseat(resident, to);
    moves_.push_back({resident, std::move(to)});
    return true;
  }

  std::vector<std::size_t> residents_of(std::span<const Candidate> cleared) const {
    std::vector<std::size_t> out;
    for (const Candidate& one : cleared) {
      for (const std::size_t i : on_node_[static_cast<std::size_t>(one.node)]) {
        const auto share = std::ranges::find(residents_[i].devices, static_cast<NodeId>(one.node),
                                             &NodeShare::node);
        if ((share->gpus & one.gpus) == 0) continue;
        if (std::ranges::find(out, i) == out.end()) out.push_back(i);
      }
    }
    std::ranges::stable_sort(out, std::ranges::greater{}, [&](std::size_t i) {
      return packer_.shape(residents_[i].shape).gpus;
    });
    return out;
  }

  void reseat(std::size_t resident, const Devices& devices) {
    leave(resident);
    residents_[resident].devices = devices;
    enter(resident);
  }

  // Moves that were made on the way to something that failed, the last one first.
  void take_back(std::size_t moves_before) {
    while (moves_.size() > moves_before) {
      reseat(moves_.back().resident, from_.back());
      moves_.pop_back();
      from_.pop_back();
    }
  }

  Packer& packer_;
  Ledger& ledger_;
  std::span<Resident> residents_;
  std::vector<Move>& moves_;
  std::vector<Devices> from_;  // beside the moves made here
  std::vector<std::vector<std::size_t>> on_node_;
};

}  // namespace

bool make_room(Packer& packer, Ledger& ledger, ShapeId shape, std::span<Resident> residents,
               Devices& devices, std::vector<Move>& moves) {
  return RoomMaker(packer, ledger, residents, moves).place(shape, devices);
}

}  // namespace orrery
