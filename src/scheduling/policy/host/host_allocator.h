#pragma once

#include <memory>
#include <span>

#include "scheduling/policy/host/hosting.h"

namespace orrery {

// Decides how many CPUs and how much memory come with a job's GPUs: the stage that can follow any
// order of jobs.
class HostAllocator {
 public:
  virtual ~HostAllocator() = default;

  // A job that asks to be seated.
  struct Asker {
    JobId job = kNoJob;
    const HostNeed* need = nullptr;
    const Sensitivity* sensitivity = nullptr;  // none: CPUs and memory do not change its speed
    SensitivityId kind = kNoSensitivity;       // its number, which never means another
    Shape gpus{};                              // what it asks for besides CPUs and memory
    // Where it is, if it may stay there: its GPUs are kept for it in the ledger.
    const Devices* stays = nullptr;
    // Only for allocators that weigh moves:
    double left_s = 0;   // it would take so long with its fair share
    double start_s = 0;  // what a move costs it
  };
  virtual bool weighs_moves() const { return false; }

  // Seats the jobs that fit, in the order given; perhaps by taking from others what they hold
  // beyond their fair share. The first `same` askers are those of the last call, and none of them
  // stays: as far as they go, `hosting` is as that call left it.
  virtual void seat(Hosting& hosting, std::span<const Asker> askers, std::size_t same) = 0;
  // True if it can begin where something has changed; otherwise `same` is 0 and no job is seated.
  virtual bool resumes() const { return false; }
};

using FindDevices = bool (*)(const Ledger& ledger, const Shape& shape, Devices& devices);

// Every job has a share in proportion to the GPUs.
std::unique_ptr<HostAllocator> make_proportional(FindDevices find);
// Every job has all it wants, or waits.
std::unique_ptr<HostAllocator> make_greedy(FindDevices find);
// All they want where it is to be had; else their fair share, which others give up.
// After Synergy (OSDI '22), section 4.
std::unique_ptr<HostAllocator> make_tune(FindDevices find);
// Ours: levels between by marginal gain, jobs where they gain most, moves worth their cost.
std::unique_ptr<HostAllocator> make_tune_plus();

}  // namespace orrery
