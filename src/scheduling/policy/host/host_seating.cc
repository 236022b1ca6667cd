#include "scheduling/policy/host/host_seating.h"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

using Asker = HostAllocator::Asker;

Shape modest_shape(const HostGuest& guest) { return with_host(guest.asker->gpus, guest.modest); }

bool stays_on_one(const Asker& asker) { return asker.stays != nullptr && asker.stays->size() == 1; }

}  // namespace

void HostSeating::seat(std::span<HostGuest> guests) {
  for (HostGuest& guest : guests) seat_wide(guest);
  seat_singles(guests);
  for (HostGuest& guest : guests) {
    if (guest.seat < 0) seat_anywhere(guest);
  }
}

// Those on several servers come first: the others find room in the gaps.
void HostSeating::seat_wide(HostGuest& guest) {
  const Devices* stays = guest.asker->stays;
  if (stays != nullptr && stays->size() > 1) {
    ledger().release(*stays, guest.asker->gpus);
    if (fits_at(*stays, modest_shape(guest))) sit(guest, modest_shape(guest), *stays);
  } else if (stays == nullptr && guest.asker->gpus.gpus > ledger().gpus_per_node_max()) {
    seat_anywhere(guest);
  }
}

void HostSeating::seat_singles(std::span<HostGuest> guests) {
  servers_.begin(ledger());
  singles_.clear();
  on_servers_.clear();
  for (HostGuest& guest : guests) {
    const Asker& asker = *guest.asker;
    if (guest.seat >= 0 || asker.gpus.gpus > ledger().gpus_per_node_max()) continue;
    const bool stays = stays_on_one(asker);
    const int node = stays ? static_cast<int>(asker.stays->front().node) : -1;
    singles_.push_back(&guest);
    on_servers_.push_back({&asker, guest.modest, guest.meant, node, stays});
  }
  servers_.assign(on_servers_);
  for (const HostGuest* guest : singles_) {
    if (stays_on_one(*guest->asker)) ledger().release(*guest->asker->stays, guest->asker->gpus);
  }
  for (const bool stays : {true, false}) {
    for (std::size_t i = 0; i < singles_.size(); ++i) {
      if (on_servers_[i].stays == stays) seat_at(*singles_[i], on_servers_[i]);
    }
  }
}

void HostSeating::seat_at(HostGuest& guest, const HostServers::Job& job) {
  if (job.node < 0) return;
  const Shape shape = modest_shape(guest);
  if (job.stays) return sit(guest, shape, *guest.asker->stays);
  devices_.clear();
  devices_.push_back({static_cast<NodeId>(job.node), ledger().lowest_free(job.node, shape.gpus)});
  sit(guest, shape, devices_);
}

void HostSeating::seat_anywhere(HostGuest& guest) {
  const Shape shape = modest_shape(guest);
  if (find_gathered(ledger(), shape, devices_)) sit(guest, shape, devices_);
}

void HostSeating::raise(const HostGuest& guest, std::span<const HostCell> cells) {
  const auto seat = static_cast<std::uint32_t>(guest.seat);
  const HostShare held = hosting_->seat(seat).held();
  hosting_->change(seat, {});
  const Devices& devices = hosting_->seat(seat).devices;
  const auto cell = std::ranges::find_if(cells, [&](const HostCell& one) {
    return fits_at(devices, with_host(guest.asker->gpus, one.share));
  });
  hosting_->change(seat, cell == cells.end() ? held : cell->share);
}

bool HostSeating::fits_at(const Devices& devices, const Shape& shape) {
  return std::ranges::all_of(devices, [&](const NodeShare& share) {
    return ledger().fits_besides_gpus(static_cast<int>(share.node), std::popcount(share.gpus),
                                      shape);
  });
}

void HostSeating::sit(HostGuest& guest, const Shape& shape, const Devices& devices) {
  guest.seat = static_cast<int>(hosting_->seats().size());
  if (devices.size() == 1) guest.node = static_cast<int>(devices.front().node);
  hosting_->sit(guest.asker->job, *guest.asker->need, shape, devices);
}

}  // namespace orrery
