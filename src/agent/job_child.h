#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "agent/launch.h"
#include "base/result.h"

namespace orrery {

struct JobUser {
  std::string name{};
  std::string home{};
  uid_t uid = 0;
  gid_t gid = 0;
};

// Who the job runs as; nothing: as the agent does. A user that does not exist, or that this process
// may not become, is an error, never ignored.
Result<std::optional<JobUser>> find_job_user(const std::string& name);

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
[[noreturn]] void become_job(const JobChild& child);

}  // namespace orrery
