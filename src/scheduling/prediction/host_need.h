#pragma once

#include "model/cluster.h"
#include "model/job.h"

namespace orrery {

// A server of the cluster, where all are taken for equal: the mean of those that have GPUs.
struct ServerSize {
  int gpus = 0;
  HostShare host;      // 0: not stated, never binding
  HostShare each_gpu;  // what there is for each GPU wherever it is: of unlike servers the least
};
ServerSize mean_server(const Cluster& cluster);

inline bool within(const HostShare& part, const HostShare& whole) {
  return part.cpu_milli <= whole.cpu_milli && part.memory_bytes <= whole.memory_bytes;
}

// What a job wants of CPUs and memory for all its GPUs, and what that brings.
struct HostNeed {
  HostShare fair;     // in proportion to its GPUs; what it asks for, if it does
  HostShare ideal;    // what it wants, never more than a server has
  HostShare minimum;  // of both the less, if it is as fast with that as with `fair`; else `fair`
  double fair_speed = 1;  // with `fair`, over the speed that iteration_s was measured at
  double gain = 1;        // how many times as fast as that it is with `ideal`

  bool wants_more() const {
    return ideal.cpu_milli > fair.cpu_milli || ideal.memory_bytes > fair.memory_bytes;
  }
  // True if this is all it wants.
  bool met_by(const HostShare& held) const { return within(ideal, held); }
};

// After Synergy (OSDI '22). Where a server has too few CPUs for the ideal, the gain shrinks in
// proportion to the CPUs; too little memory does not change it, as published. No job wants what is
// slower than the fair share. A job whose speed does not depend on them gets what it asks for, or
// its fair share where it does not say.
HostNeed host_need(const Workload& workload, const JobSpec& spec, const ServerSize& server);

// The speed on this many GPUs with these CPUs and this memory in all, over the speed that
// iteration_s was measured at. 1 for a job that does not depend on them or has none of its own.
double host_speed(const Workload& workload, const JobSpec& spec, const HostShare& held, int gpus);

}  // namespace orrery
