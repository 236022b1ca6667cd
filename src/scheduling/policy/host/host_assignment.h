#pragma once

#include <span>
#include <vector>

#include "scheduling/policy/host/host_servers.h"

namespace orrery {

// A job on the way to its seat.
struct HostRequest {
  const HostAllocator::Asker* asker = nullptr;
  int kind = 0;
  HostShare minimum;  // what it can do with
  HostShare meant;    // what it is to have if it fits
  int seat = -1;      // in the hosting; -1: none
  int node = -1;      // if it sits on one server
};

// Gives requests seats with what they can do with: where they stay, or else where what they are
// meant to have is likely to fit.
class HostAssignment {
 public:
  void begin(Hosting& hosting) { hosting_ = &hosting; }

  void seat(std::span<HostRequest> requests);
  // Wherever it fits, on as few servers as possible.
  void seat_anywhere(HostRequest& request);
  // One on several servers has the first of these cells that fits on all of them.
  void raise(const HostRequest& request, std::span<const HostCell> cells);

 private:
  Ledger& ledger() { return hosting_->ledger(); }
  void seat_wide(HostRequest& request);
  void seat_singles(std::span<HostRequest> requests);
  void seat_at(HostRequest& request, const HostServers::Job& job);
  bool fits_at(const Devices& devices, const Shape& shape);
  void sit(HostRequest& request, const Shape& shape, const Devices& devices);

  Hosting* hosting_ = nullptr;
  HostServers servers_;
  std::vector<HostRequest*> singles_;
  std::vector<HostServers::Job> on_servers_;
  Devices devices_;
};

}  // namespace orrery
