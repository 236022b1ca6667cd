#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "base/files.h"
#include "base/result.h"
#include "live/api/job_request.h"

namespace orrery {

// The TCP ports on which the ranks of jobs meet (MASTER_PORT), on the node of rank 0. A run of a
// job, which is its number and epoch, has one port until it is given back. No two runs on a machine
// have the same one, also under several agents: each holds an abstract Unix socket named after the
// port, and the kernel keeps such names apart for each network namespace.
//
// A port is chosen from 20000 to 32767, below those that Linux gives to outgoing connections, and
// nothing listens on it when it is chosen. Another program may still take it before the job does.
class MasterPorts {
 public:
  using Run = std::pair<JobNumber, std::int64_t>;

  // The same port for the same run. Code::ResourceExhausted where all are in use.
  Result<int> take(const Run& run);
  // That of a run that has one already, as its launch says.
  void keep(const Run& run, int port);
  void give_back(const Run& run) { held_.erase(run); }

 private:
  struct Held {
    int port = 0;
    Fd name{};  // may be missing where another program has it
  };
  std::map<Run, Held> held_{};
};

// True if a socket could listen on it at all addresses of this machine.
bool is_port_free(int port);

}  // namespace orrery
