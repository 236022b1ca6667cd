#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "live/job_runner/job_user.h"
#include "live/job_runner/launch.h"

namespace orrery {

// What failed between the fork and the job's program, as it goes through a pipe.
struct JobChildFault {
  enum class Stage : int { Pin, Memory, User, Output, Directory, Program, Core, Tmp };
  Stage stage = Stage::Program;
  int number = 0;  // errno
};
std::string fault_text(const JobChildFault& fault, const Launch& launch);

inline constexpr char kGo = 'g';
inline constexpr char kGoWithRlimit = 'r';

struct JobChild {
  const Launch& launch;
  std::optional<JobUser> user{};
  std::string cookie{};  // "NAME=value", by which all of the job's processes are known
  pid_t supervisor = 0;
  int go = -1;     // says when to begin, and how
  int fault = -1;  // closed by a successful exec
};

// The forked process becomes the job: its own session and group, no signals blocked, limits, user,
// output, directory, program. Output and directory are opened with the user's rights. The job dies
// with its supervisor. There is no shell on the way, not even for a script without a first line
// that names its interpreter.
[[noreturn]] void exec_job(const JobChild& child);

}  // namespace orrery
