#pragma once

#include <vector>

#include "live/daemon/policy/dependencies.h"
#include "live/daemon/policy/policy_host.h"

namespace orrery {

// Decides before each round which jobs the policy must not see: those above a quota, a limit or
// below another priority, and those that an earlier process on a lost node keeps from starting.
// It holds and releases jobs, and pauses a running one before it is held. In memory only.
class HeldJobs {
 public:
  HeldJobs(const Book& book, PolicyHost& host, const Dependencies& dependencies)
      : book_(book), host_(host), dependencies_(dependencies) {}

  // At a start: the host holds no job.
  void clear();
  // A job of the book, with its priority.
  void note(JobId job) { priorities_ = priorities_ || book_.job(job).request->priority != 0; }
  // The job fits no node. Other jobs may use what it was released for, in a round of their own.
  void fits_nowhere() { again_ = true; }

  // A job that has left a lost node, or was moved from it, cannot begin before that node's fence
  // has passed. It must not hold devices until then.
  void hold_behind_lost_nodes();
  // Does nothing while there are no quotas, no GPU limits and no priorities.
  void apply_limits();
  // True if a further round must follow; answered once.
  bool take_again();

  bool waits_for_node(JobId job) const {
    return index(job) < waits_for_node_.size() && waits_for_node_[index(job)];
  }

 private:
  bool holds_any() const;
  bool is_final_job(JobId job) const { return is_final(host_.state().job(job).state); }

  const Book& book_;
  PolicyHost& host_;
  const Dependencies& dependencies_;
  std::vector<bool> by_limits_;       // by job
  std::vector<bool> waits_for_node_;  // by job: a lost node may be running an earlier epoch
  bool priorities_ = false;           // some job has one
  bool again_ = false;
};

}  // namespace orrery
