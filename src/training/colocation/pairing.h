#pragma once

#include <span>
#include <utility>
#include <vector>

#include "model/ids.h"

namespace orrery {

// A parameter server or worker by what it does in one iteration: how long it needs the CPU, and how
// long it does not (a worker then computes on its GPU, a parameter server waits).
struct Rhythm {
  JobId job{};
  bool parameter_server = false;
  double busy_s = 0;
  double other_s = 0;
};

// Two that share a CPU, one computing while the other does not: the part of the time of one common
// iteration in which they do something, T = max(busy_a, other_b) + max(other_a, busy_b). 1: they
// fit like teeth; after STAR's gamma, which is Muri's of two resources.
double interleaving_efficiency(const Rhythm& a, const Rhythm& b);

struct PairingOptions {
  double efficiency_least = 0.7;      // pairs below are not made
  bool workers_with_workers = false;  // otherwise a pair is a parameter server and a worker
};

// Which two share a CPU, such that the sum of efficiencies is as great as can be: maximum
// weighted matching, in millionths, since weights that are not whole numbers need not end. Two of
// one job are never paired. Pairs are (lower, higher) places in `all`, ascending.
std::vector<std::pair<int, int>> pair_up(std::span<const Rhythm> all,
                                         const PairingOptions& options = {});

}  // namespace orrery
