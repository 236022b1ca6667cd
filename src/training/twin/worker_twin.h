#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "training/sync/task.h"
#include "training/twin/quota_cpu.h"
#include "training/twin/share_line.h"
#include "training/twin/twin.h"

namespace orrery {

// The CPU of one worker of a twin: how long it computes for a task under the straggler script, the
// limits it has now and, if its server has a quota, the quota's periods. Asked with times that do
// not go back.
class TwinProcessor {
 public:
  // `seeds` gives one seed, and another one for a quota.
  TwinProcessor(const TwinSetup& setup, int worker, Random& seeds);

  // Each returns when the work will be done.
  Time begin(const Task& task, Time now);
  Time go_on(Time now);
  double serve_s(double now_s, double work_s);  // work beside a task

  // From now on it has this share of what it began with. Returns when the task at hand will be
  // done, if it `computes`.
  std::optional<Time> set_share(double share, bool computes, Time now);
  double cut(Time now);  // breaks the task off; the share of it that is done
  void work_without_rest(Time until);

  Time computed_at() const { return computed_at_; }
  double work_s() const { return work_s_; }  // of the task it has
  double speed(Time now) { return line_.at(seconds(now)) * share_; }

 private:
  double work_done_s(Time now) const;
  void break_off(Time now);

  const TwinWorker facts_;
  const double jitter_;
  const double exchange_s_;
  ShareLine line_;
  Random random_;
  std::optional<QuotaCpu> quota_{};
  double share_ = 1;  // by limits, beside the script
  Time from_{}, computed_at_{};
  double done_s_ = 0;  // of its work, before from_
  double work_s_ = 0;
};

// The link of one worker of a twin.
class TwinOwnLink {
 public:
  TwinOwnLink(const TwinSetup& setup, int worker);

  void set_share(double share) { share_ = share; }
  double rate(Time now);  // bytes a second; SharedLink::kEndless: no limit
  // What of that many bytes does not go through at once.
  double bytes_felt(double bytes, Time now);

 private:
  const double bytes_per_s_, burst_s_;
  ShareLine line_;
  double share_ = 1;
};

// One worker of a twin: its CPU, its link, and where it stands with the task it has.
struct WorkerTwin {
  enum class Stage { Idle, Fetching, Computing, Done, Sending, AtParent };

  WorkerTwin(const TwinSetup& setup, int worker, Random& seeds)
      : processor(setup, worker, seeds), link(setup, worker) {}

  TwinProcessor processor;
  TwinOwnLink link;
  Stage stage = Stage::Idle;
  Task task{};
  Time started{};
  double task_s = 0;         // that its last task took, waiting left out
  std::int32_t samples = 0;  // done, once it is sent
  int parent = -1;           // in a ring or tree
  int sends_to = -1;         // the parent it had when it got its task
};

}  // namespace orrery
