#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/ids.h"
#include "training/colocation/load.h"
#include "training/colocation/meters.h"

namespace orrery {

// One process of a job: a worker or a shard of its parameter server. What it holds is a limit that
// is enforced (CPU quota, rates of its link), so limits are what a server's capacity is shared out
// in.
struct BookedTask {
  int number = 0;  // within its job
  ServerId server{};
  bool makes_updates = false;  // a shard, or an all-reduce worker with children
  Load limit{};
  double task_s = 0;  // what a worker needs for an iteration, waiting left out
};

// One job as the book sees it.
struct BookedJob {
  JobId job{};
  std::vector<BookedTask> tasks{};
  bool waits_for_all = true;  // SSGD: every worker but the slowest has time
  double left_s = 0;          // how long it will still run at its present pace
  SensitivityMeter sensitivity{};
  ExtraMeter extra{};  // of all tasks that make updates, together
};

struct LimitChange {
  JobId job{};
  int task = 0;
  ServerId server{};
  Load before{};
  Load limit{};  // from now on
};

// What was decided about one request. `changes` are to be enforced at once if it was granted.
struct Consideration {
  bool granted = false;
  std::string reason{};
  double gain_s = 0;  // seconds the asker saves
  double cost_s = 0;  // seconds the others lose together
  std::vector<LimitChange> changes{};
};

struct BookOptions {
  double slack_used = 0.9;  // of the time a worker has to spare, what may be taken
  double cut_most = 0.5;    // of any one limit
  double cost_factor = 1;   // granted if cost * this < gain
};

// A job's request for a mode in which fewer workers wait, or none.
struct LooserMode {
  JobId job{};
  double rate_ratio = 1;  // gradients a second over those of SSGD
  double time_saved = 0;  // share of the time it still needs that the mode saves
};

// Accounts for CPU and link of servers that several jobs share, and decides whether one of them may
// go into a mode that takes more. After STAR's resource consideration (specs/star.md 2.8), made
// our own way: everything is in seconds of training time, limits are moved instead of workers put
// to sleep, and what a job has left to do weighs what it loses.
//
// In order: what fits is granted. Else what workers of waiting jobs can spare without making
// any of them later is taken. What is still missing is taken from co-located jobs such that they
// lose the fewest seconds in all, which takes more from those that are less sensitive. It is
// granted only if they lose less than the asker gains.
//
// Laws: limits on a server never exceed its capacity, unless they did before; no grant costs others
// more than it gains; what a grant took is given back when it is withdrawn.
class SharedServerBook {
 public:
  explicit SharedServerBook(const BookOptions& options = {}) : options_(options) {}

  void add_server(ServerId server, const Load& capacity);
  void put(const BookedJob& job);  // new, or newer facts about it; limits under a grant stay
  // The job has ended: what it was granted goes back first.
  std::vector<LimitChange> remove(JobId job);

  Consideration consider(const LooserMode& request);
  // The job goes back to SSGD.
  std::vector<LimitChange> withdraw(JobId job);

  Load capacity(ServerId server) const;
  Load held(ServerId server) const;  // sum of limits
  const BookedJob* find(JobId job) const;
  bool has_lent(JobId job) const;  // something of it is lent to another

 private:
  void apply(const std::vector<LimitChange>& changes);

  BookOptions options_;
  std::map<ServerId, Load> servers_;
  std::map<JobId, BookedJob> jobs_;
  std::map<JobId, std::vector<LimitChange>> grants_;
};

}  // namespace orrery
