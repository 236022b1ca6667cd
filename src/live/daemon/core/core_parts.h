#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "live/daemon/agents/stops.h"
#include "live/daemon/policy/job_spec.h"
#include "live/daemon/server/outside.h"

namespace orrery {

struct CoreOptions {
  ChosenPolicy policy{.name = "fifo"};  // as long as the log names none
  // A node that is silent for longer is lost: it gets no more jobs.
  Duration lease = std::chrono::seconds(15);
  // How long the jobs of a lost node wait for it before they start elsewhere; 0: the lease.
  Duration node_timeout{};
  // On top of node timeout and grace (see Fences): supervisors look at their lease once a second,
  // and killing takes a moment.
  Duration margin = std::chrono::seconds(5);
  Duration round_gap{};                              // rounds are at least this far apart
  Duration progress_gap = std::chrono::seconds(10);  // entries about a job's progress as well
  std::string log_id{};        // of a log that has none yet; empty: made of the time
  JobNumber first_number = 1;  // of such a log's jobs
  SpecOptions specs{};
  StopPatience patience{};  // with jobs that are asked where they can stop
  // By which the processes of a job with several ranks know each other; the same each time it is
  // asked for. Not set: they are given none.
  std::function<std::string(JobNumber job, std::int64_t epoch)> gang_secret{};
};

}  // namespace orrery
