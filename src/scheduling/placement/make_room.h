#pragma once

#include <span>
#include <vector>

#include "scheduling/placement/packer.h"

namespace orrery {

// A job that holds devices and could be asked to move.
struct Resident {
  JobId job = kNoJob;
  ShapeId shape{};
  Devices devices;
  double cost = 1;  // of moving it; below 0: it stays
};

struct Move {
  std::size_t resident = 0;  // which of them
  Devices to;
};

// Finds devices for a shape by moving a few smaller residents elsewhere: the aligned block, or the
// whole nodes, whose residents cost least to move. Where sizes are powers of two, nodes are alike
// with a power of two of GPUs, only GPUs bind, nobody must stay and the total is within the
// cluster, it always succeeds.
//
// On success the ledger holds the new places, `devices` those of the shape, and `moves` what has to
// be done; residents have their new devices. Otherwise nothing changes. A resident may be named
// more than once in `moves`; the last place counts.
bool make_room(Packer& packer, Ledger& ledger, ShapeId shape, std::span<Resident> residents,
               Devices& devices, std::vector<Move>& moves);

}  // namespace orrery
