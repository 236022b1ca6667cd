#include "policy/antman_devices.h"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

// Use of a device, as in Muri's simulator. Kept in floating point, step by step, because the
// devices are compared by it and the published runs contain its rounding.
constexpr double kGuaranteed = 0.1;
constexpr double kStarting = 0.01;
constexpr double kOpportunistic = 0.9;
constexpr double kFull = 0.8;

NodeShare& share_on(Devices& held, int node) {
  const auto found = std::ranges::find(held, static_cast<NodeId>(node), &NodeShare::node);
  if (found != held.end()) return *found;
  return held.emplace_back(NodeShare{static_cast<NodeId>(node), 0});
}

template <class Visit>
void for_each_gpu(const Devices& held, Visit visit) {
  for (const NodeShare& share : held) {
    for (std::uint64_t gpus = share.gpus; gpus != 0; gpus &= gpus - 1) {
      visit(static_cast<int>(share.node), std::countr_zero(gpus));
    }
  }
}

}  // namespace

AntmanDevices::AntmanDevices(const Ledger& ledger)
    : devices_(static_cast<std::size_t>(ledger.node_count() * kGpusPerNodeMax)) {
  for (int node = 0; node < ledger.node_count(); ++node) {
    for (int gpu = 0; gpu < ledger.gpus_of(node); ++gpu) {
      at(node, gpu).memory_free = ledger.gpu_memory_of(node);
      at(node, gpu).memory_known = ledger.gpu_memory_of(node) > 0;
    }
  }
  unguaranteed_ = ledger.gpus_total();
}

bool AntmanDevices::consolidates(const Ledger& blank, const Shape& shape) {
  int left = shape.gpus;
  for (int node = 0; node < blank.node_count(); ++node) {
    const int gpus = blank.gpus_of(node);
    if (shape.gpus <= blank.gpus_per_node_max()) {
      if (blank.fits(node, shape.gpus, shape)) return true;
    } else if (gpus == std::min(left, blank.gpus_per_node_max()) && gpus > 0 &&
               blank.fits(node, gpus, shape)) {
      left -= gpus;
    }
  }
  return left == 0;
}

std::uint64_t AntmanDevices::open(const Ledger& blank, int node, const Shape& shape) {
  if (!blank.serves(node, shape)) return 0;
  std::uint64_t gpus = 0;
  for (int gpu = 0; gpu < blank.gpus_of(node); ++gpu) {
    const Device& device = at(node, gpu);
    if (device.guaranteed == kNoJob && memory_fits(device, shape)) gpus |= 1ULL << gpu;
  }
  return gpus;
}

int AntmanDevices::reserve_on(const Ledger& blank, int node, int count, const Shape& shape,
                              JobId job, Devices& held) {
  int taken = 0;
  for (std::uint64_t gpus = open(blank, node, shape); gpus != 0 && taken < count;
       gpus &= gpus - 1, ++taken) {
    Device& device = at(node, std::countr_zero(gpus));
    device.guaranteed = job;
    device.use += kGuaranteed - kStarting;
    device.memory_free -= shape.gpu_memory_bytes;
    share_on(held, node).gpus |= gpus & (0 - gpus);
  }
  unguaranteed_ -= taken;
  return taken;
}

bool AntmanDevices::reserve(const Ledger& blank, const Shape& shape, JobId job, bool consolidated,
                            Devices& held) {
  int left = shape.gpus - gpu_count(held);
  if (left == 0) return true;
  if (unguaranteed_ == 0) return false;
  const int nodes = blank.node_count();
  const bool one_node = consolidated && shape.gpus <= blank.gpus_per_node_max();
  if (one_node) {
    int home = held.empty() ? -1 : static_cast<int>(held.front().node);
    int most = 0;
    for (int node = 0; node < nodes && held.empty(); ++node) {
      if (!blank.fits(node, left, shape)) continue;
      const int count = std::popcount(open(blank, node, shape));
      if (count <= most) continue;
      most = count;
      home = node;
      if (count >= left) break;
    }
    return home >= 0 && reserve_on(blank, home, left, shape, job, held) == left;
  }
  for (int node = 0; node < nodes && left > 0; ++node) {
    const int count = std::popcount(open(blank, node, shape));
    const int wanted = consolidated ? std::min(left, blank.gpus_per_node_max()) : left;
    if (count == 0 || (consolidated && count < wanted)) continue;
    left -= reserve_on(blank, node, wanted, shape, job, held);
  }
  return left == 0;
}

void AntmanDevices::complete(const Devices& held) {
  for_each_gpu(held, [&](int node, int gpu) { at(node, gpu).use += kStarting; });
}

bool AntmanDevices::take(const Ledger& ledger, const Shape& shape, JobId job, Devices& held) {
  seats_.clear();
  for (int node = 0; node < ledger.node_count(); ++node) {
    const int room = ledger.room_besides_gpus(node, shape);
    if (room == 0) continue;
    for (int gpu = 0; gpu < ledger.gpus_of(node); ++gpu) {
      const Device& device = at(node, gpu);
      if (device.use < kFull && device.opportunistic == kNoJob && memory_fits(device, shape)) {
        seats_.push_back({node, gpu, device.use});
      }
    }
  }
  if (static_cast<int>(seats_.size()) < shape.gpus) return false;
  std::ranges::stable_sort(seats_, {}, &Seat::use);
  int left = shape.gpus;
  for (const Seat& seat : seats_) {
    NodeShare& share = share_on(held, seat.node);
    if (std::popcount(share.gpus) == ledger.room_besides_gpus(seat.node, shape)) continue;
    share.gpus |= 1ULL << seat.gpu;
    if (--left == 0) break;
  }
  if (left > 0) {
    held.clear();
    return false;
  }
  for_each_gpu(held, [&](int node, int gpu) {
    Device& device = at(node, gpu);
    device.opportunistic = job;
    device.use += kOpportunistic;
    device.memory_free -= shape.gpu_memory_bytes;
  });
  return true;
}

void AntmanDevices::release(const Devices& held, JobId job, const Shape& shape, bool started) {
  for_each_gpu(held, [&](int node, int gpu) {
    Device& device = at(node, gpu);
    device.memory_free += shape.gpu_memory_bytes;
    if (device.guaranteed == job) {
      device.guaranteed = kNoJob;
      device.use -= started ? kGuaranteed : kGuaranteed - kStarting;
      ++unguaranteed_;
    } else {
      device.opportunistic = kNoJob;
      device.use -= kOpportunistic;
    }
  });
}

}  // namespace orrery
