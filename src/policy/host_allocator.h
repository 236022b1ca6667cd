#pragma once

#include <memory>

#include "policy/hosting.h"

namespace orrery {

// Decides how many CPUs and how much memory come with a job's GPUs: the stage that can follow any
// order of jobs.
class HostAllocator {
 public:
  virtual ~HostAllocator() = default;

  // A job that asks to be seated. One that `stays` has its GPUs already.
  struct Asker {
    JobId job = kNoJob;
    const HostNeed* need = nullptr;
    Shape gpus;  // what it asks for besides CPUs and memory
    const Devices* stays = nullptr;
  };

  // Seats the job, perhaps by taking from others what they hold beyond their fair share; false if
  // there is no room, and then nothing has changed but what others hold.
  virtual bool seat(Hosting& hosting, const Asker& asker) = 0;
};

using FindDevices = bool (*)(const Ledger& ledger, const Shape& shape, Devices& devices);

// Everybody has a share in proportion to the GPUs.
std::unique_ptr<HostAllocator> make_proportional(FindDevices find);
// Everybody has all they want, or waits.
std::unique_ptr<HostAllocator> make_greedy(FindDevices find);
// All they want where it is to be had; else their fair share, which others make room for.
// After Synergy (OSDI '22), section 4.
std::unique_ptr<HostAllocator> make_tune(FindDevices find);

}  // namespace orrery
