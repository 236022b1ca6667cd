#include "scheduling/policy/grouping/antman_devices.h"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

NodeShare& share_on(Devices& held, int node) {
  const auto found = std::ranges::find(held, static_cast<NodeId>(node), &NodeShare::node);
  if (found != held.end()) return *found;
  held.push_back({static_cast<NodeId>(node), 0});
  return held.back();
}

template <class Visit>
void for_each_gpu(int node, std::uint64_t gpus, Visit visit) {
  for (; gpus != 0; gpus &= gpus - 1) visit(node, std::countr_zero(gpus));
}

template <class Visit>
void for_each_gpu(const Devices& held, Visit visit) {
  for (const NodeShare& share : held) {
    for_each_gpu(static_cast<int>(share.node), share.gpus, visit);
  }
}

}  // namespace

AntmanDevices::AntmanDevices(const Ledger& blank, const AntmanUse& use)
    : use_(use), devices_(static_cast<std::size_t>(blank.node_count() * kGpusPerNodeMax)) {
  for (int node = 0; node < blank.node_count(); ++node) {
    usable_.push_back(blank.free_mask(node));
    for (int gpu = 0; gpu < kGpusPerNodeMax; ++gpu) {
      at(node, gpu).memory_free = blank.gpu_memory_of(node);
      at(node, gpu).memory_known = blank.gpu_memory_of(node) > 0;
    }
  }
  unguaranteed_ = blank.gpus_total();
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

std::uint64_t AntmanDevices::open(const Ledger& blank, int node, const Request& request) {
  if (!blank.serves(node, request.shape)) return 0;
  std::uint64_t gpus = 0;
  if (blank.gpus_of(node) == 0) return 0;
  for_each_gpu(node, usable_[static_cast<std::size_t>(node)], [&](int /*node*/, int gpu) {
    const Device& device = at(node, gpu);
    const bool memory = !request.at_once || memory_fits(device, request.shape);
    if (device.guaranteed == kNoJob && memory) gpus |= 1ULL << gpu;
  });
  return gpus;
}

void AntmanDevices::reserve_on(const Ledger& blank, int node, int count, const Request& request,
                               Devices& held) {
  std::uint64_t gpus = open(blank, node, request);
  for (int taken = 0; taken < count; ++taken, gpus &= gpus - 1) {
    Device& device = at(node, std::countr_zero(gpus));
    device.guaranteed = request.job;
    device.use += use_.guaranteed - use_.starting;
    device.memory_free -= request.shape.gpu_memory_bytes;
    share_on(held, node).gpus |= gpus & (0 - gpus);
  }
  unguaranteed_ -= count;
}

// Notes in found_ how many devices to reserve where; whether that is all that is missing.
bool AntmanDevices::find(const Ledger& blank, const Request& request, const Devices& held) {
  found_.clear();
  const Shape& shape = request.shape;
  int left = shape.gpus - gpu_count(held);
  const int most = blank.gpus_per_node_max();
  const bool consolidated = request.manner == Manner::Consolidated;
  if (consolidated && shape.gpus <= most) {
    Found best;
    for (int node = 0; node < blank.node_count() && best.count < left; ++node) {
      const bool home = held.empty() ? blank.fits(node, left, shape)
                                     : held.front().node == static_cast<NodeId>(node);
      const int count = home ? std::popcount(open(blank, node, request)) : 0;
      if (count > best.count) best = {node, std::min(count, left)};
    }
    if (best.count > 0) found_.push_back(best);
    return best.count == left;
  }
  for (int node = 0; node < blank.node_count() && left > 0; ++node) {
    const auto here = std::ranges::find(held, static_cast<NodeId>(node), &NodeShare::node);
    const int has = here == held.end() ? 0 : std::popcount(here->gpus);
    const int fitting =
        std::min(std::popcount(open(blank, node, request)), blank.gpus_fitting(node, shape) - has);
    const int wanted = consolidated ? std::min(left, most) : std::min(left, fitting);
    if (wanted <= 0 || fitting < wanted) continue;
    found_.push_back({node, wanted});
    left -= wanted;
  }
  return left == 0;
}

bool AntmanDevices::reserve(const Ledger& blank, const Shape& shape, JobId job, Manner manner,
                            Devices& held) {
  if (gpu_count(held) < shape.gpus) {
    if (unguaranteed_ == 0) return false;
    // Devices with enough memory, if there are enough of them. Otherwise any, and it waits for
    // memory as well: left to those behind it, which wait for others themselves, it would not get
    // it.
    Request request{.shape = shape, .job = job, .manner = manner, .at_once = true};
    if (!find(blank, request, held)) {
      request.at_once = false;
      if (!find(blank, request, held) && manner == Manner::AnywhereAtOnce) return false;
    }
    for (const Found& found : found_) reserve_on(blank, found.node, found.count, request, held);
    if (gpu_count(held) < shape.gpus) return false;
  }
  bool has_memory = true;
  for_each_gpu(held, [&](int node, int gpu) {
    has_memory &= !at(node, gpu).memory_known || at(node, gpu).memory_free >= 0;
  });
  return has_memory;
}

void AntmanDevices::complete(const Devices& held) {
  for_each_gpu(held, [&](int node, int gpu) { at(node, gpu).use += use_.starting; });
}

void AntmanDevices::adopt(const Devices& held, JobId job, const Shape& shape, bool guaranteed) {
  for_each_gpu(held, [&](int node, int gpu) {
    Device& device = at(node, gpu);
    (guaranteed ? device.guaranteed : device.opportunistic) = job;
    device.use += guaranteed ? use_.guaranteed : use_.opportunistic;
    device.memory_free -= shape.gpu_memory_bytes;
    unguaranteed_ -= guaranteed ? 1 : 0;
  });
}

bool AntmanDevices::take(const Ledger& ledger, const Shape& shape, JobId job, Devices& held) {
  seats_.clear();
  for (int node = 0; node < ledger.node_count(); ++node) {
    const int fitting = ledger.gpus_fitting_shared(node, shape);
    if (fitting == 0) continue;
    for_each_gpu(node, usable_[static_cast<std::size_t>(node)], [&](int /*node*/, int gpu) {
      const Device& device = at(node, gpu);
      if (device.opportunistic == kNoJob && memory_fits(device, shape)) {
        seats_.push_back({node, gpu, device.use});
      }
    });
  }
  if (static_cast<int>(seats_.size()) < shape.gpus) return false;
  std::ranges::stable_sort(seats_, {}, &Seat::use);
  int left = shape.gpus;
  for (const Seat& seat : seats_) {
    NodeShare& share = share_on(held, seat.node);
    if (std::popcount(share.gpus) == ledger.gpus_fitting_shared(seat.node, shape)) continue;
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
    device.use += use_.opportunistic;
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
      device.use -= started ? use_.guaranteed : use_.guaranteed - use_.starting;
      ++unguaranteed_;
    } else {
      device.opportunistic = kNoJob;
      device.use -= use_.opportunistic;
    }
  });
}

}  // namespace orrery
