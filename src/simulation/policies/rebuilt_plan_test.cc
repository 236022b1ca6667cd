#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "simulation/kernel/simulation.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/generators/generate.h"

namespace orrery {
namespace {

using What = std::tuple<Time, EventKind, JobId, std::vector<std::uint64_t>>;

class Record final : public EventSink {
 public:
  void write(const Event& event) override {
    std::vector<std::uint64_t> devices;
    if (event.grant != nullptr) {
      for (const NodeShare& share : event.grant->devices) {
        devices.push_back(index(share.node));
        devices.push_back(share.gpus);
      }
    }
    events.emplace_back(event.time, event.kind, event.job, devices);
  }

  std::vector<What> events;
};

std::vector<What> run(const Workload& workload, const Cluster& cluster, const std::string& policy,
                      SemanticsKind semantics) {
  SimulationSetup setup;
  setup.workload = &workload;
  setup.cluster = &cluster;
  setup.run.policy.name = policy;
  setup.run.semantics = semantics;
  setup.run.policy.options = {{"sticky", "false"}, {"placement", "first-fit"}};
  Record record;
  EXPECT_TRUE(simulate(setup, record).ok());
  return record.events;
}

// Jobs that ask for some of more CPUs than all jobs together could use up are tried out in an empty
// cluster; of those that ask for GPUs alone, only what changed since the last plan is counted
// again.
TEST(RebuiltPlan, IsTheSameByCountingAndByTryingOut) {
  for (const char* seed : {"1", "2", "3"}) {
    const auto workload =
        generate("philly-like", {{"jobs", "300"},
                                 {"gpus", "32"},
                                 {"sizes", "1:30/2:15/3:5/4:15/6:5/8:20/16:8/32:2"},
                                 {"seed", seed},
                                 {"load", "1.2"}});
    const auto read = read_cluster("4x8");
    ASSERT_TRUE(workload.ok() && read.ok());
    Cluster cluster = read.value();
    for (Node& node : cluster.nodes) node.cpu_milli = 1'000'000;
    Workload counted = workload.value();
    Workload tried = workload.value();
    for (JobSpec& job : counted.jobs) job.cpu_milli = job.memory_bytes = 0;
    for (JobSpec& job : tried.jobs) {
      job.cpu_milli = 1;
      job.memory_bytes = 0;
    }
    for (const char* policy : {"srtf", "srsf", "las", "gittins"}) {
      for (const auto semantics : {SemanticsKind::Orrery, SemanticsKind::Muri}) {
        const auto first = run(counted, cluster, policy, semantics);
        EXPECT_GT(first.size(), 3 * counted.jobs.size());
        EXPECT_EQ(first, run(tried, cluster, policy, semantics))
            << policy << ", seed " << seed << ", " << to_string(semantics);
      }
    }
  }
}

}  // namespace
}  // namespace orrery
