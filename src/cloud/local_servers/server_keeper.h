#pragma once

namespace orrery {

// What the keeper needs, made before it is forked: a process with several threads may call only a
// few functions between fork() and exec().
struct KeeperPlan {
  const char* const* arguments = nullptr;  // of the script's shell; nullptr: no script
  const char* const* environment = nullptr;
  int commands = -1;                // read end of the pipe
  int log = -1;                     // -1: none
  const char* exit_file = nullptr;  // nullptr: none
};

inline constexpr char kTerminate = 'T';

// The keeper's life, after fork(): starts the script, obeys the pipe, and kills all below it at the
// pipe's end. Calls functions only that are safe after fork().
[[noreturn]] void keep_server(const KeeperPlan& plan);

}  // namespace orrery
