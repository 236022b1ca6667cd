#include "scheduling/policy/grouping/device_assignment.h"

#include <algorithm>

namespace orrery {

void DeviceAssignment::assign(const View& view, Packer& packer,
                              std::vector<AssignedGroup>& groups) {
  // Groups are chosen in a cluster without history, so that no hole decides over a rank.
  Ledger& ledger = packer.blank();
  ledger.clear();
  std::erase_if(groups, [&](const AssignedGroup& assigned) {
    return !packer.place(ledger, assigned.shape, devices_);
  });
  if (settle(view, packer, groups)) return;
  // Holes that no group could fill: everything moves, large jobs first, as they fitted just now.
  ledger.clear();
  std::vector<AssignedGroup*> by_size;
  for (AssignedGroup& assigned : groups) by_size.push_back(&assigned);
  std::ranges::stable_sort(by_size, std::ranges::greater{}, &AssignedGroup::gpus);
  for (AssignedGroup* assigned : by_size) packer.place(ledger, assigned->shape, assigned->devices);
  std::erase_if(groups, [](const AssignedGroup& assigned) { return assigned.devices.empty(); });
}

bool DeviceAssignment::settle(const View& view, Packer& packer,
                              std::vector<AssignedGroup>& groups) {
  Ledger& ledger = packer.blank();
  ledger.clear();
  unplaced_.clear();
  for (AssignedGroup& assigned : groups) {
    if (!keep(view, packer, ledger, assigned)) unplaced_.push_back(&assigned);
  }
  int patience = ledger.node_count() + static_cast<int>(unplaced_.size());
  while (!unplaced_.empty()) {
    std::ranges::stable_sort(unplaced_, {}, &AssignedGroup::gpus);
    AssignedGroup* largest = unplaced_.back();
    if (packer.place(ledger, largest->shape, largest->devices)) {
      unplaced_.pop_back();
    } else if (--patience < 0) {
      return false;
    } else {
      clear_a_node(packer, ledger, groups, largest->gpus);
    }
  }
  return true;
}

// The devices of the member that has been on them longest, if they are still to be had.
bool DeviceAssignment::keep(const View& view, const Packer& packer, Ledger& ledger,
                            AssignedGroup& assigned) {
  assigned.devices.clear();
  const Job* oldest = nullptr;
  for (const JobId id : assigned.group.members()) {
    const Job& job = view.job(id);
    if (job.state != JobState::Running) continue;
    if (oldest == nullptr || job.run_since < oldest->run_since) oldest = &job;
  }
  if (oldest == nullptr || gpu_count(oldest->held.devices) != assigned.gpus) return false;
  const Shape& shape = packer.shape(assigned.shape);
  if (!ledger.can_take(oldest->held.devices, shape)) return false;
  assigned.devices = oldest->held.devices;
  ledger.take(assigned.devices, shape);
  return true;
}

// Clears the emptiest of the nodes that are not idle and are large enough: its groups have to be
// placed again.
void DeviceAssignment::clear_a_node(const Packer& packer, Ledger& ledger,
                                    std::vector<AssignedGroup>& groups, int gpus) {
  int emptiest = -1;
  for (int node = 0; node < ledger.node_count(); ++node) {
    if (ledger.idle(node) || ledger.gpus_of(node) < std::min(gpus, ledger.gpus_per_node_max())) {
      continue;
    }
    if (emptiest < 0 || ledger.free_count(node) > ledger.free_count(emptiest)) emptiest = node;
  }
  if (emptiest < 0) return;
  for (AssignedGroup& assigned : groups) {
    const bool here = std::ranges::any_of(assigned.devices, [&](const NodeShare& share) {
      return static_cast<int>(share.node) == emptiest;
    });
    if (!here) continue;
    ledger.release(assigned.devices, packer.shape(assigned.shape));
    assigned.devices.clear();
    unplaced_.push_back(&assigned);
  }
}

}  // namespace orrery
