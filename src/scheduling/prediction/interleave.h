#pragma once

#include <span>
#include <vector>

#include "model/job.h"

namespace orrery {

// Which job of a group takes which of the cyclic positions.
enum class Ordering {
  Best,     // shortest cycle
  Worst,    // longest cycle; an ablation
  AsGiven,  // member i takes position i; a null member leaves it idle
};

struct Interleaving {
  double cycle_s = 0;          // every member completes one iteration in this time
  std::vector<int> positions;  // of each member, in the order the members were given
};

// How many resources, and so how many slots in a cycle, a profile knows of.
int slots_in_cycle(const StageProfile& profile);

// How a group shares its GPUs when its members use R resources in rotation, after Muri
// (SIGCOMM'22).
//
// Time runs in slots. The member at position p begins its iteration in slot p, p + R, p + 2R, ...;
// stage after stage follows, each over its number of slots, and a slot ends when every stage that
// ends with it has ended. The cycle is the time R slots take once that has settled: two rounds and
// a relative 1e-3 for Muri's shape (slots 2, 1, 1), as published; up to 16 rounds, and a whole
// round without a change beyond 1e-3, for others. Without contention: see ContentionModel.
//
// Members: at least one, at most R, all with the same slots. Of positions that give the same cycle
// the lexicographically first permutation wins. A pair of Muri's shape may also sit at positions 0
// and 2 (considered last). Best and Worst are exact up to six members; beyond, they are the end of
// a descent by swaps of two members, starting as given.
Interleaving interleave(std::span<const StageProfile* const> members, Ordering ordering);

}  // namespace orrery
