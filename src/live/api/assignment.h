#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "live/api/job_request.h"

namespace orrery {

// One process of a job, in one of its runs: started at most once, ever.
struct LaunchName {
  JobNumber job = 0;
  std::int64_t epoch = 0;  // counts the times a job was given devices
  int rank = 0;

  auto operator<=>(const LaunchName&) const = default;
};
std::string text(const LaunchName& name);

// What one process shall be, and where among its gang.
struct Assignment {
  LaunchName name{};
  int ranks = 1;
  int local_rank = 0;
  int local_ranks = 1;
  int node = 0;  // among the job's nodes
  int nodes = 1;
  std::string master_address = "127.0.0.1";
  int master_port = 0;  // 0: the agent chooses one, the same for all of the job's ranks on the node
  std::vector<std::string> argv{};
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string directory = "/";
  std::string user{};
  std::uint64_t gpus = 0;  // bit i: GPU i of the node
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  Duration grace = std::chrono::seconds(30);
  std::string output{};
  std::string checkpoint_directory{};
  bool resumes = false;     // an earlier epoch has run
  bool shares = false;      // its GPUs may be held by others at the same time
  Duration node_timeout{};  // how long it may run after the last answered report; 0: the lease
  // All GPUs of the job on this node, its other processes' included: what the process can see.
  std::uint64_t gpus_visible = 0;
  std::string errors{};  // for standard error; empty: goes with the output
  Duration time_left{};  // to run until its time limit; 0: it has none
  int signal = 0;        // sent `signal_before` ahead of the limit; 0: none
  Duration signal_before{};
  bool private_tmp = false;

  bool operator==(const Assignment&) const = default;
};

}  // namespace orrery
