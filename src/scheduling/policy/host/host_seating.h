#pragma once

#include <span>
#include <vector>

#include "scheduling/policy/host/host_servers.h"

namespace orrery {

// A job on the way to its seat.
struct HostGuest {
  const HostAllocator::Asker* asker = nullptr;
  int kind = 0;
  HostShare modest;  // what it can do with
  HostShare meant;   // what it is to have if it fits
  int seat = -1;     // in the hosting; -1: none
  int node = -1;     // if it sits on one server
};

// Gives guests seats with what they can do with: where they stay, or else where what they are meant
// to have is likely to fit.
class HostSeating {
 public:
  void begin(Hosting& hosting) { hosting_ = &hosting; }

  void seat(std::span<HostGuest> guests);
  // Wherever there is room, on as few servers as possible.
  void seat_anywhere(HostGuest& guest);
  // One on several servers has the first of these cells for which there is room on all of them.
  void raise(const HostGuest& guest, std::span<const HostCell> cells);

 private:
  Ledger& ledger() { return hosting_->ledger(); }
  void seat_wide(HostGuest& guest);
  void seat_singles(std::span<HostGuest> guests);
  void seat_at(HostGuest& guest, const HostServers::Job& job);
  bool fits_at(const Devices& devices, const Shape& shape);
  void sit(HostGuest& guest, const Shape& shape, const Devices& devices);

  Hosting* hosting_ = nullptr;
  HostServers servers_;
  std::vector<HostGuest*> singles_;
  std::vector<HostServers::Job> on_servers_;
  Devices devices_;
};

}  // namespace orrery
