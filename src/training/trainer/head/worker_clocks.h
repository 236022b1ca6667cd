#pragma once

#include <sys/types.h>

#include <map>
#include <optional>

#include "model/time.h"
#include "training/emulation/process_clock.h"

namespace orrery {

// The CPU time that workers use while they take part. Those on other machines are not known.
class WorkerClocks {
 public:
  void join(int worker, pid_t pid, Time now);
  void sample(Time now);  // now and then, since a process that is gone cannot be asked
  void leave(int worker, Time now);
  void leave_all(Time now);

  // What one worker has used between the first join and the last sample, on average, or would have
  // if it came later or left early. Nothing: none is known.
  std::optional<double> mean_s() const;

 private:
  struct Running {
    ProcessClock clock;
    double cpu_first_s = 0, cpu_last_s = 0;
    Time first{}, last{};  // when those were read
  };
  static void look(Running& running, Time now);

  std::map<int, Running> running_{};
  std::optional<Time> first_{};
  // Of workers that have left.
  Time last_{};
  double cpu_s_ = 0, present_s_ = 0;
};

}  // namespace orrery
