#pragma once

#include <map>
#include <vector>

#include "live/daemon/policy/policy_host.h"

namespace orrery {

// Holds each job that was submitted to begin after others, until all of them are done. All of it
// follows from the book and the states of its jobs, so it is in no log.
class Dependencies {
 public:
  Dependencies(const Book& book, PolicyHost& host) : book_(book), host_(host) {}

  // After a start: every job of the book is looked at.
  void rebuild();
  // A job that the host has just taken in.
  void add(JobId job);
  // The job has ended. Releases jobs for which it was the last; if it was not done, answers the
  // jobs that can never begin.
  std::vector<JobId> ended(JobId job);

  bool is_waiting(JobId job) const { return index(job) < waiting_.size() && waiting_[index(job)]; }

 private:
  bool is_open(JobId job) const { return !is_final(host_.state().job(job).state); }

  const Book& book_;
  PolicyHost& host_;
  std::vector<bool> waiting_;                       // by job
  std::map<JobId, std::vector<JobId>> dependents_;  // by the job they wait for
};

}  // namespace orrery
