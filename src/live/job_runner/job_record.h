#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "live/api/job_end.h"
#include "live/job_runner/cgroup.h"
#include "live/job_runner/fields.h"
#include "model/time.h"

namespace orrery {

enum class MemoryLimit { None, CgroupV2, CgroupV1, Rlimit };
std::string_view memory_limit_name(MemoryLimit limit);

// Written before the job's program begins.
struct JobRunning {
  pid_t supervisor = 0;
  pid_t pid = 0;           // also its process group and session
  std::int64_t start = 0;  // of pid, in ticks since boot
  std::string boot{};
  MemoryLimit memory_limit = MemoryLimit::None;
  std::string cgroup{};
  int cgroup_version = 0;
  CgroupFolders cgroup_others{};
  std::string enforced{};  // limits that hold by the cgroup, such as "memory pids"
};

// A request to stop the job, as the stop file holds it.
struct StopRequest {
  Duration grace{};
  JobEnd::Kind why = JobEnd::Kind::Stopped;  // or LeaseLost
};

Fields running_fields(const JobRunning& running);
JobRunning read_running(const Fields& fields);
Fields end_fields(const JobEnd& end);
Result<JobEnd> read_end(const Fields& fields);
Fields stop_fields(const StopRequest& request);
// `grace` where the file does not say.
StopRequest read_stop_request(const Fields& fields, Duration grace);
JobEnd stopped_before_it_began(const StopRequest& request);

// The files of one launch. They have no directory of their own: to make and remove one takes a disk
// file system a hundred times as long as a file.
struct JobFiles {
  std::string base{};  // STATE/JOB.EPOCH.RANK

  // Also what the supervisor locks. A process loses its lock when it closes any descriptor of the
  // file, so the holder of the lock does not open the file again.
  std::string launch() const { return base + ".launch"; }
  std::string running() const { return base + ".running"; }
  std::string stop() const { return base + ".stop"; }
  std::string ended() const { return base + ".ended"; }
};

}  // namespace orrery
