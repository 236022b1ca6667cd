#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace orrery {

// Lets this process open as many files as the system allows, so that connections do not use up the
// ones that it needs. Supervisors and jobs keep the limit that was there before. Before threads.
void raise_open_files_limit();

// A process that has begun the supervisor's program once and forks a supervisor from itself for
// each job. Beginning a program costs more than all a supervisor does: most of it is the system
// loading it. It ends with its owner; the supervisors do not.
class ForkServer {
 public:
  static Result<std::unique_ptr<ForkServer>> start(const std::string& program);
  ~ForkServer();
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  // A supervisor for a launch, which has `ready` as kReadyFd; its pidfd. Where this fails the
  // supervisor may be there all the same, as far as the server came.
  Result<Fd> supervise(const std::string& state, const std::string& name, int ready) const;

 private:
  ForkServer(pid_t pid, Fd socket) : pid_(pid), socket_(std::move(socket)) {}

  pid_t pid_;
  Fd socket_;
};

// What a supervisor starts with: a session of its own, the signals it waits for blocked from its
// first moment, no input or output, and `inherited` as kReadyFd.
Result<pid_t> spawn_supervisor(const std::string& program, std::vector<std::string> arguments,
                               int inherited);

// The server's side: answers on kReadyFd until the other end is closed. In a process forked for a
// launch `supervise` is called, and its answer is the exit code.
int serve_forks(int (*supervise)(const std::string& state, const std::string& name));

}  // namespace orrery
