#pragma once

#include <map>
#include <tuple>

#include "model/cluster.h"
#include "model/job.h"
#include "scheduling/placement/packer.h"
#include "scheduling/prediction/scaling_curve.h"

namespace orrery {

// Scaling curves of jobs on one cluster, kept by what they depend on.
//
// Nodes that are all alike, with a power of two of GPUs, and jobs that ask for no more CPUs and
// memory than go with their GPUs make a regular cluster: a count takes the aligned
// block it needs, or of whole nodes, and blocks of powers of two whose sum is within the cluster
// can always be laid out. So counting GPUs is enough to plan. Elsewhere their number promises
// nothing about places.
class ScalingCurves {
 public:
  // `all_there`: every GPU of an open node is the policy's to decide about.
  ScalingCurves(const Workload& workload, const Cluster& cluster, bool all_there);

  // Regular until a job is met that asks for more than goes with its GPUs.
  bool regular() const { return regular_; }
  const ScalingCurve& of(const JobSpec& spec, Packer& packer);

 private:
  using Key = std::tuple<CurveId, int, double, std::int64_t, std::int64_t, std::int64_t, NameId>;

  int capacity(const JobSpec& spec, int gpus) const;  // 0: does not fit
  int nodes(int gpus) const;
  bool is_light(const JobSpec& spec) const;

  const Workload& workload_;
  Node node_;
  bool regular_ = false;
  int node_count_ = 0;
  std::map<Key, ScalingCurve> curves_;
};

}  // namespace orrery
