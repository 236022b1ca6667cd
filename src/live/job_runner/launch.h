#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "live/job_runner/cgroup.h"
#include "live/job_runner/fields.h"
#include "model/ids.h"
#include "model/time.h"

namespace orrery {

using Environment = std::vector<std::pair<std::string, std::string>>;

// Which part of a job a node runs: `ranks` processes are all of the job's, and the one started here
// is number `rank`. An ordinary job is alone.
struct Gang {
  int rank = 0;
  int ranks = 1;
  int local_rank = 0;  // among the ranks on this node
  int local_ranks = 1;
  int node = 0;  // among the job's nodes
  int nodes = 1;
  std::string master_address = "127.0.0.1";
  int master_port = 29500;
};

// All there is to know to start one job here, or one rank of it. It is written to a file before
// anything is started, and nothing else is.
struct Launch {
  JobId job = kNoJob;
  std::int64_t epoch = 0;  // of the scheduler's decision; the same job in a later epoch is another
  Gang gang{};
  std::vector<std::string> argv{};
  Environment environment{};  // all of it: nothing is taken over from the agent
  std::string directory = "/";
  std::string output{};             // files that are appended to; empty: thrown away
  std::string errors{};             // the same file as `output` keeps the order of lines
  std::string user{};               // empty: the agent's own
  std::vector<int> cpus{};          // empty: not pinned
  std::vector<std::string> gpus{};  // its own, as CUDA calls them; none: none is seen
  // Those of all the job's processes on this node, in the order of local ranks; none: its own.
  std::vector<std::string> gpus_visible{};
  std::int64_t cpu_milli = 0;     // its share; 0: not stated
  std::int64_t memory_bytes = 0;  // 0: no limit
  CgroupHome cgroup_home{};
  std::int64_t processes = 0;                 // with threads; 0: no limit
  std::vector<std::string> closed_devices{};  // files of devices that it cannot open
  std::int64_t core_bytes = 0;                // of a core file; -1: no limit
  bool wants_private_tmp = false;  // is given one by LocalProcesses, and is not written down
  std::string private_tmp{};  // JOB.EPOCH.RANK: its /tmp and /var/tmp, removed with it; or empty
  Duration grace = std::chrono::seconds(30);  // between the request to stop and the end
  bool ends_with_lease = false;  // stops by itself when the agent's lease runs out (see lease.h)
  Duration node_timeout{};       // how long it outlives the last answered report; 0: the lease
  std::string socket{};          // where the job reaches us (see job_socket.h); empty: nowhere
  std::string checkpoint_directory{};  // the job's own, the same in every epoch; empty: none
  bool resumed = false;                // an earlier epoch of the job has run
  Duration time_left{};                // to run; then it is stopped; 0: no limit
  int signal = 0;                      // sent to its group `signal_before` ahead of that; 0: none
  Duration signal_before{};
};

// "JOB.EPOCH.RANK", the name of the job's state directory and cgroup.
std::string launch_name(const Launch& launch);

// Checks what comes from outside before it is written down: a program, no zero bytes, no '=' in a
// variable's name, absolute paths, ranks within their gang.
Status check_launch(const Launch& launch);

Fields launch_fields(const Launch& launch);
// The "cgroup_CONTROLLER" fields of a file.
CgroupFolders read_cgroup_others(const Fields& fields);
Result<Launch> read_launch(const Fields& fields);

// The environment the job gets: its own, and ours over it. Ours are ORRERY_*, CUDA_VISIBLE_DEVICES,
// what torchrun sets, and what the usual MPI launchers set. PATH gets a default. As under torchrun,
// a process sees all GPUs of its job on the node, and LOCAL_RANK is the place of its own among
// them.
Environment job_environment(const Launch& launch);

}  // namespace orrery
