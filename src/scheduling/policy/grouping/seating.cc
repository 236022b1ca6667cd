#include "scheduling/policy/grouping/seating.h"

#include <algorithm>
#include <bit>

namespace orrery {

void Seating::seat(const View& view, Packer& packer, std::vector<Seated>& groups) {
  // Who runs is decided in a cluster without history, so that no hole decides over a rank.
  Ledger& ledger = packer.blank();
  ledger.clear();
  std::erase_if(
      groups, [&](const Seated& seated) { return !packer.place(ledger, seated.shape, devices_); });
  if (settle(view, packer, groups)) return;
  // Holes nobody could fill: everything moves, large jobs first, as they fitted a moment ago.
  ledger.clear();
  std::vector<Seated*> by_size;
  for (Seated& seated : groups) by_size.push_back(&seated);
  std::ranges::stable_sort(by_size, std::ranges::greater{}, &Seated::gpus);
  for (Seated* seated : by_size) packer.place(ledger, seated->shape, seated->devices);
  std::erase_if(groups, [](const Seated& seated) { return seated.devices.empty(); });
}

bool Seating::settle(const View& view, Packer& packer, std::vector<Seated>& groups) {
  Ledger& ledger = packer.blank();
  ledger.clear();
  homeless_.clear();
  for (Seated& seated : groups) {
    if (!keep(view, packer, ledger, seated)) homeless_.push_back(&seated);
  }
  int patience = ledger.node_count() + static_cast<int>(homeless_.size());
  while (!homeless_.empty()) {
    std::ranges::stable_sort(homeless_, {}, &Seated::gpus);
    Seated* largest = homeless_.back();
    if (packer.place(ledger, largest->shape, largest->devices)) {
      homeless_.pop_back();
    } else if (--patience < 0) {
      return false;
    } else {
      clear_a_node(packer, ledger, groups, largest->gpus);
    }
  }
  return true;
}

// The devices of the member that has been on them longest, if they are still to be had.
bool Seating::keep(const View& view, const Packer& packer, Ledger& ledger, Seated& seated) {
  seated.devices.clear();
  const Job* oldest = nullptr;
  for (const JobId id : seated.group.members()) {
    const Job& job = view.job(id);
    if (job.state != JobState::Running) continue;
    if (oldest == nullptr || job.run_since < oldest->run_since) oldest = &job;
  }
  if (oldest == nullptr || gpu_count(oldest->held.devices) != seated.gpus) return false;
  const Shape& shape = packer.shape(seated.shape);
  for (const NodeShare& share : oldest->held.devices) {
    const int node = static_cast<int>(share.node);
    if ((ledger.free_mask(node) & share.gpus) != share.gpus) return false;
    if (!ledger.fits(node, std::popcount(share.gpus), shape)) return false;
  }
  seated.devices = oldest->held.devices;
  ledger.take(seated.devices, shape);
  return true;
}

// Sends away whoever sits on the emptiest node that is not empty and is alone there in the sense
// that none of them spans other nodes; they look for another place.
void Seating::clear_a_node(const Packer& packer, Ledger& ledger, std::vector<Seated>& groups,
                           int gpus) {
  int emptiest = -1;
  for (int node = 0; node < ledger.node_count(); ++node) {
    if (ledger.idle(node) || ledger.gpus_of(node) < std::min(gpus, ledger.gpus_per_node_max())) {
      continue;
    }
    if (emptiest < 0 || ledger.free_count(node) > ledger.free_count(emptiest)) emptiest = node;
  }
  if (emptiest < 0) return;
  for (Seated& seated : groups) {
    const bool here = std::ranges::any_of(seated.devices, [&](const NodeShare& share) {
      return static_cast<int>(share.node) == emptiest;
    });
    if (!here) continue;
    ledger.release(seated.devices, packer.shape(seated.shape));
    seated.devices.clear();
    homeless_.push_back(&seated);
  }
}

}  // namespace orrery
