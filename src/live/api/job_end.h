#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orrery {

// How one process of a job ended. Exactly one is written for each launch.
struct JobEnd {
  enum class Kind {
    Exited,          // by itself, with `exit_code`
    Signalled,       // by `signal`, which was not ours
    OutOfMemory,     // the kernel killed it at its memory limit
    Stopped,         // we were asked to; exit_code or signal say how it took it
    LeaseLost,       // the agent did not renew its lease in time
    NotStarted,      // its program never ran, as `message` says
    SupervisorLost,  // the agent or its supervisor was killed or the machine went down, before or
                     // after the program began; it does not run any more
    TimeLimit,       // it ran for its time limit; exit_code or signal say how it took it
  };
  Kind kind = Kind::NotStarted;
  int exit_code = -1;  // -1: none
  int signal = 0;      // 0: none
  std::string message{};
  std::int64_t ran_ns = -1;  // from the start of its program to its end; -1: not known

  friend bool operator==(const JobEnd&, const JobEnd&) = default;
};

std::string_view end_name(JobEnd::Kind kind);
std::optional<JobEnd::Kind> parse_end(std::string_view name);

// It ended by itself and well.
inline bool succeeded(const JobEnd& end) {
  return end.kind == JobEnd::Kind::Exited && end.exit_code == 0;
}

}  // namespace orrery
