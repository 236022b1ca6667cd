#pragma once

#include <memory>

#include "scheduling/policy/host/host_allocator.h"
#include "scheduling/policy/order/order.h"
#include "scheduling/policy/policy.h"

namespace orrery {

// Serves jobs in an order, and gives each CPUs and memory beside its GPUs by an allocator: what
// `srtf+tune` is made of.
struct HostStageOptions {
  // All jobs are placed again in each round. Otherwise running jobs stay.
  bool rebuilds = false;
  bool preempt = true;  // a job may take the place of running jobs that rank behind it
  // The jobs that run are chosen by GPUs alone, before CPUs and memory are looked at...
  bool chosen_by_gpus = false;
  bool largest_first = false;  // ...and then seated by size
  Duration boost{};            // a job that waits longer goes before all others; 0: never
};

std::unique_ptr<Policy> make_host_stage(std::unique_ptr<Order> order,
                                        std::unique_ptr<HostAllocator> allocator,
                                        const HostStageOptions& options);

}  // namespace orrery
