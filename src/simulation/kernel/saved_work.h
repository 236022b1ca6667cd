#pragma once

#include <vector>

#include "model/job.h"
#include "model/node_change.h"

namespace orrery {

// How much of its work each running job has saved, and so keeps when its node is lost.
//
// A job that starts, resumes, moves, is resized or joins a group has its work saved, as a stop by
// the scheduler saves it. From its first iteration on it saves after each interval of training; a
// save takes its cost, which factor() spreads over the interval. A job that was warned saves
// just before its node is lost, if the notice is long enough.
class SavedWork {
 public:
  SavedWork(const FaultRules& rules, const Workload& workload)
      : rules_(rules), workload_(workload) {}

  // How many times longer an iteration takes with the saves.
  double factor(JobId job) const;

  // The job trains from `ready` on; all its work so far is saved.
  void start(JobId job, Time now, Time ready, double work_left);
  // So much is left. Progress was even since the last call of start() or check(), so it is called
  // before each change of pace.
  void check(JobId job, Time now, double work_left);

  struct Loss {
    double work_left = 0;  // to do again or for the first time
    double work_lost = 0;  // of it, what was done, but not saved. Work that a save before the loss
                           // took the place of was not done
  };
  // The job stops without a save of the scheduler. `notice`: for how long it was warned.
  Loss lose(JobId job, Time now, double work_left, Duration notice);

 private:
  struct Run {
    Time ready{};
    Time checked{};
    double work_left = 0;  // when it was checked
    double saved = 0;      // work left by the last save
  };

  Duration cost(JobId job) const;

  const FaultRules rules_;
  const Workload& workload_;
  std::vector<Run> runs_;  // by job
};

}  // namespace orrery
