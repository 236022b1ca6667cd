#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "model/job.h"
#include "model/node_change.h"

namespace orrery {

// Nodes that come and go in a run.
struct NodeScenario {
  FaultRules rules{};
  std::vector<NodeChange> changes{};
  Time end{};            // of what is known; later no node is lost
  std::string text{};    // what it was made of, for readers
  std::string remark{};  // what was odd in the files; empty: nothing
};

// The texts of a command line that describe one.
struct ScenarioTexts {
  std::string faults{};              // file
  std::int64_t fault_servers = 0;    // of the cluster that `faults` is about; 0: as the file has it
  std::vector<std::string> spot{};   // files, a zone each
  std::int64_t on_demand_nodes = 0;  // with `spot`: the first nodes, which are never revoked
  std::string notice{};              // a duration; empty: none
  std::string checkpoint_interval{};  // a duration, or none; empty: none
  std::string checkpoint_cost{};      // a duration; empty: 0
  std::string lasting{};              // a duration; empty: 0, all jobs
  std::string prices{};               // on-demand=X,spot=Y

  bool has_nodes() const { return !faults.empty() || !spot.empty(); }
  bool operator==(const ScenarioTexts&) const = default;
};

// The same jobs, where those that run this long or longer are `lasting`.
Result<std::shared_ptr<const Workload>> mark_lasting(const Workload& workload,
                                                     const ScenarioTexts& texts);

// Reads the files. The seed draws which spot nodes are lost. Null: nodes stay.
Result<std::shared_ptr<const NodeScenario>> read_scenario(const ScenarioTexts& texts,
                                                          const Cluster& cluster,
                                                          std::uint64_t seed);

}  // namespace orrery
