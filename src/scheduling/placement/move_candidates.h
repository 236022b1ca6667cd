#pragma once

#include <span>
#include <vector>

#include "scheduling/placement/packer.h"

namespace orrery {

// Jobs that hold devices of a ledger and could be moved to others of it, so that one more shape
// fits. PreemptionCandidates stops jobs by rank; here no job loses its GPUs.
//
// place() empties the aligned block, or the whole nodes, whose jobs cost least to move, and finds
// other devices for them; they are all smaller than the shape. Where sizes are powers of two, nodes
// are alike with a power of two of GPUs, only GPUs bind, no job must stay and the total is within
// the cluster, it always succeeds.
class MoveCandidates {
 public:
  MoveCandidates(Packer& packer, Ledger& ledger)
      : packer_(packer), ledger_(ledger), on_node_(static_cast<std::size_t>(ledger.node_count())) {}

  // Candidates are numbered from 0 in the order they are added. A cost below 0: it must stay.
  void add(ShapeId shape, const Devices& devices, double cost);

  // On success the ledger and the candidates hold their new devices, and `devices` is the shape's.
  // Otherwise nothing changes.
  bool place(ShapeId shape, Devices& devices);

  struct Move {
    std::size_t candidate = 0;
    Devices from;
  };
  // A candidate may be moved more than once.
  std::span<const Move> moves() const { return moves_; }
  const Devices& devices(std::size_t candidate) const { return candidates_[candidate].devices; }

 private:
  struct Candidate {
    ShapeId shape{};
    Devices devices;
    double cost = 0;
  };
  // GPUs that could be emptied.
  struct Target {
    double cost = 0;
    int node = 0;
    std::uint64_t gpus = 0;
  };

  void enter(std::size_t candidate);
  void leave(std::size_t candidate);
  void hold(std::size_t candidate, const Devices& devices);
  int size_of(int gpus) const;
  double cost(int node, std::uint64_t gpus, int size) const;
  bool clear_block(ShapeId id, const Shape& shape, Devices& devices);
  bool clear_nodes(ShapeId id, const Shape& shape, Devices& devices);
  bool try_each(ShapeId id, const Shape& shape, std::vector<Target>& targets, int count,
                Devices& devices);
  bool try_these(ShapeId id, const Shape& shape, std::span<const Target> cleared, Devices& devices);
  bool move(std::size_t candidate, const Devices& from);
  std::vector<std::size_t> candidates_on(std::span<const Target> cleared) const;
  void undo_moves(std::size_t moves_before);

  Packer& packer_;
  Ledger& ledger_;
  std::vector<Candidate> candidates_;
  std::vector<Move> moves_;
  std::vector<std::vector<std::size_t>> on_node_;  // candidates
};

}  // namespace orrery
