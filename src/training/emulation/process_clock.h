#pragma once

#include <sys/types.h>

#include <string>

#include "base/files.h"
#include "base/result.h"

namespace orrery {

// How long a thread has waited for a core so far; 0 if it is gone.
double wait_of_s(pid_t thread);

// A process that is held on to, so that its number cannot come to mean another, and the CPU time it
// has used.
class ProcessClock {
 public:
  static Result<ProcessClock> open(pid_t pid);

  pid_t pid() const { return pid_; }
  // What it was last seen to have used, if it has ended.
  double cpu_s();
  // How long its first thread waited for a core.
  double waited_s();
  // False if it has ended.
  bool signal(int number) const;

 private:
  ProcessClock(pid_t pid, Fd fd, clockid_t clock) : pid_(pid), fd_(std::move(fd)), clock_(clock) {}

  pid_t pid_;
  Fd fd_;
  clockid_t clock_;
  double cpu_s_ = 0, waited_s_ = 0;
};

}  // namespace orrery
