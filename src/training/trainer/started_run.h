#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "training/trainer/test_run.h"

namespace orrery {

// This program as `orrery-train` in a process group of its own, for tests that send signals. A run
// that is still there is killed with its group.
class StartedRun {
 public:
  // `before`: words before the program's name, as of `ip netns exec NAME`.
  StartedRun(const std::vector<std::string>& arguments, std::string folder,
             const std::vector<std::string>& before = {});
  ~StartedRun();
  StartedRun(const StartedRun&) = delete;
  StartedRun& operator=(const StartedRun&) = delete;

  pid_t pid() const { return pid_; }
  bool ended();  // without waiting
  // The exit code, or 128 and the signal, with what it printed.
  TestRun wait();

  // From the tables in the run's folder.
  std::string table(const std::string& name) const;
  int count(const std::string& what) const;  // lines of processes.csv
  std::vector<pid_t> parts() const;          // every process that the head has started

 private:
  void note(int status);

  const std::string folder_;
  pid_t pid_ = 0;
  int exit_code_ = -1;
};

bool process_is_there(pid_t pid);

}  // namespace orrery
