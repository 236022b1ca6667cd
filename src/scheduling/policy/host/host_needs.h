#pragma once

#include <deque>

#include "model/view.h"
#include "scheduling/prediction/host_need.h"

namespace orrery {

// The needs of all jobs that have arrived, by id. References stay good.
class HostNeeds {
 public:
  void add(const View& view, JobId job) {
    if (server_.gpus == 0) server_ = mean_server(*view.cluster);
    if (needs_.size() <= index(job)) needs_.resize(index(job) + 1);
    needs_[index(job)] = host_need(*view.workload, view.spec(job), server_);
  }
  const HostNeed& operator[](JobId job) const { return needs_[index(job)]; }

 private:
  ServerSize server_;
  std::deque<HostNeed> needs_;
};

// The speed an order counts on when it asks how long a job will take.
enum class CountedSpeed {
  Measured,  // as it was measured
  Fair,      // with its fair share
  Ideal,     // with all it wants
  Granted,   // with what it had last; one that waits counts on all it wants
};

// Of the job's remaining or whole work, how long it takes.
inline double counted_s(const View& view, JobId id, double iterations, const HostNeeds& needs,
                        CountedSpeed counted) {
  const Job& job = view.job(id);
  const double measured_s = job.spec->iteration_s * iterations;
  if (counted == CountedSpeed::Measured) return measured_s;
  const HostNeed& need = needs[id];
  const double fair_s = measured_s / need.fair_speed;
  if (counted == CountedSpeed::Fair) return fair_s;
  const bool less = counted == CountedSpeed::Granted && job.state == JobState::Running &&
                    !need.met_by({job.held.cpu_milli, job.held.memory_bytes});
  return less ? fair_s : fair_s / need.gain;
}

}  // namespace orrery
