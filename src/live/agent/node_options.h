#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "live/agent/machine.h"
#include "live/api/agent_words.h"
#include "live/job_runner/launch.h"

namespace orrery {

// What an agent knows about its node before it looks.
struct NodeOptions {
  std::string instance{};    // of the state directory, for good
  std::string machine_id{};  // identifies the machine; empty: unknown
  std::string boot{};        // and its boot
  std::string name{};        // of the node; empty: the machine's
  std::string address{};
  std::string zone{};         // nodes of one zone may be lost together; empty: not known
  double losses_per_day = 0;  // how often such a node is lost; 0: not known
  Machine machine{};
  CgroupHome cgroup_home{};
  std::int64_t processes_most = 0;  // of one launch; 0: no limit
  std::int64_t core_bytes = 0;      // of a core file; -1: no limit
  std::string only_user{};          // whose jobs alone can run here; empty: those of every user
  std::function<void(std::string_view)> log{};  // a line for people; may be empty
};

NodeOffer offer_of(const NodeOptions& options);

// What is started for an assignment, on these CPUs. Its numbers are within bounds. Where the
// assignment leaves the master port open, it is still 0.
Launch launch_of(const Assignment& wanted, const std::vector<int>& cpus,
                 const NodeOptions& options);
// Why there cannot be one here; empty: there can.
std::string why_not_here(const Assignment& wanted, const Machine& machine);

// The GPUs a launch was given, as an assignment names them.
std::uint64_t gpus_of(const Launch& launch, const Machine& machine);
LaunchName name_of(const Launch& launch);

}  // namespace orrery
