#include "scheduling/policy/host/host_assignment.h"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

using Asker = HostAllocator::Asker;

Shape minimum_shape(const HostRequest& request) {
  return with_host(request.asker->gpus, request.minimum);
}

bool stays_on_one(const Asker& asker) { return asker.stays != nullptr && asker.stays->size() == 1; }

}  // namespace

void HostAssignment::seat(std::span<HostRequest> requests) {
  for (HostRequest& request : requests) seat_wide(request);
  seat_singles(requests);
  for (HostRequest& request : requests) {
    if (request.seat < 0) seat_anywhere(request);
  }
}

// Those on several servers come first: the others fit in the gaps.
void HostAssignment::seat_wide(HostRequest& request) {
  const Devices* stays = request.asker->stays;
  if (stays != nullptr && stays->size() > 1) {
    ledger().release(*stays, request.asker->gpus);
    if (fits_at(*stays, minimum_shape(request))) sit(request, minimum_shape(request), *stays);
  } else if (stays == nullptr && request.asker->gpus.gpus > ledger().gpus_per_node_max()) {
    seat_anywhere(request);
  }
}

void HostAssignment::seat_singles(std::span<HostRequest> requests) {
  servers_.begin(ledger());
  singles_.clear();
  on_servers_.clear();
  for (HostRequest& request : requests) {
    const Asker& asker = *request.asker;
    if (request.seat >= 0 || asker.gpus.gpus > ledger().gpus_per_node_max()) continue;
    const bool stays = stays_on_one(asker);
    const int node = stays ? static_cast<int>(asker.stays->front().node) : -1;
    singles_.push_back(&request);
    on_servers_.push_back({&asker, request.minimum, request.meant, node, stays});
  }
  servers_.assign(on_servers_);
  for (const HostRequest* request : singles_) {
    if (stays_on_one(*request->asker))
      ledger().release(*request->asker->stays, request->asker->gpus);
  }
  for (const bool stays : {true, false}) {
    for (std::size_t i = 0; i < singles_.size(); ++i) {
      if (on_servers_[i].stays == stays) seat_at(*singles_[i], on_servers_[i]);
    }
  }
}

void HostAssignment::seat_at(HostRequest& request, const HostServers::Job& job) {
  if (job.node < 0) return;
  const Shape shape = minimum_shape(request);
  if (job.stays) return sit(request, shape, *request.asker->stays);
  devices_.clear();
  devices_.push_back({static_cast<NodeId>(job.node), ledger().lowest_free(job.node, shape.gpus)});
  sit(request, shape, devices_);
}

void HostAssignment::seat_anywhere(HostRequest& request) {
  const Shape shape = minimum_shape(request);
  if (find_gathered(ledger(), shape, devices_)) sit(request, shape, devices_);
}

void HostAssignment::raise(const HostRequest& request, std::span<const HostCell> cells) {
  const auto seat = static_cast<std::uint32_t>(request.seat);
  const HostShare held = hosting_->seat(seat).held();
  hosting_->change(seat, {});
  const Devices& devices = hosting_->seat(seat).devices;
  const auto cell = std::ranges::find_if(cells, [&](const HostCell& one) {
    return fits_at(devices, with_host(request.asker->gpus, one.share));
  });
  hosting_->change(seat, cell == cells.end() ? held : cell->share);
}

bool HostAssignment::fits_at(const Devices& devices, const Shape& shape) {
  return std::ranges::all_of(devices, [&](const NodeShare& share) {
    return ledger().fits_besides_gpus(static_cast<int>(share.node), std::popcount(share.gpus),
                                      shape);
  });
}

void HostAssignment::sit(HostRequest& request, const Shape& shape, const Devices& devices) {
  request.seat = static_cast<int>(hosting_->seats().size());
  if (devices.size() == 1) request.node = static_cast<int>(devices.front().node);
  hosting_->sit(request.asker->job, *request.asker->need, shape, devices);
}

}  // namespace orrery
