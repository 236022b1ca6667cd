#pragma once

#include <span>
#include <vector>

#include "scheduling/policy/grouping/grouper.h"
#include "scheduling/policy/policy.h"

namespace orrery {

// A group and where it is to run.
struct Seated {
  Group group{};
  ShapeId shape{};  // of the whole group
  int gpus = 0;
  Devices devices{};
};

// Finds devices for groups so that as many as possible stay where they are.
class Seating {
 public:
  // Groups come in order of rank. Those that find no room are removed; the others get devices.
  void seat(const View& view, Packer& packer, std::vector<Seated>& groups);

 private:
  bool settle(const View& view, Packer& packer, std::vector<Seated>& groups);
  bool keep(const View& view, const Packer& packer, Ledger& ledger, Seated& seated);
  void clear_a_node(const Packer& packer, Ledger& ledger, std::vector<Seated>& groups, int gpus);

  std::vector<Seated*> homeless_;
  Devices devices_;
};

}  // namespace orrery
