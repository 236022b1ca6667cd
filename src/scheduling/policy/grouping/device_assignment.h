#pragma once

#include <span>
#include <vector>

#include "scheduling/policy/grouping/grouper.h"
#include "scheduling/policy/policy.h"

namespace orrery {

// A group and where it is to run.
struct AssignedGroup {
  Group group{};
  ShapeId shape{};  // of the whole group
  int gpus = 0;
  Devices devices{};
};

// Finds devices for groups so that as many as possible stay where they are.
class DeviceAssignment {
 public:
  // Groups are in order of rank. Those that do not fit are removed; the others get devices.
  void assign(const View& view, Packer& packer, std::vector<AssignedGroup>& groups);

 private:
  bool settle(const View& view, Packer& packer, std::vector<AssignedGroup>& groups);
  bool keep(const View& view, const Packer& packer, Ledger& ledger, AssignedGroup& assigned);
  void clear_a_node(const Packer& packer, Ledger& ledger, std::vector<AssignedGroup>& groups,
                    int gpus);

  std::vector<AssignedGroup*> unplaced_;
  Devices devices_;
};

}  // namespace orrery
