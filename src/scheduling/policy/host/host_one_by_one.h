#pragma once

#include "scheduling/policy/host/host_allocator.h"

namespace orrery {

// Seats one after another, each with no thought of those who follow. What the allocators of
// Synergy are made of.
class OneByOne : public HostAllocator {
 public:
  explicit OneByOne(FindDevices find) : find_(find) {}

  void seat(Hosting& hosting, std::span<const Asker> askers, std::size_t same) final;
  bool resumes() const final { return true; }

 protected:
  virtual bool seat(Hosting& hosting, const Asker& asker) = 0;
  // With exactly this, where it stays or where it fits.
  bool sit(Hosting& hosting, const Asker& asker, const HostShare& host);

 private:
  FindDevices find_;
  Devices devices_;
};

}  // namespace orrery
