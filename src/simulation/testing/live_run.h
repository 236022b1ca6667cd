#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scheduling/policy/registry.h"
#include "scheduling/scheduler/scheduler.h"
#include "simulation/kernel/machines.h"

namespace orrery {

// For tests: a run whose jobs are not known beforehand and in which policies, nodes, jobs and the
// scheduler itself come and go as a live cluster's do.
class LiveRun {
 public:
  // Policies are named as in "las" or "las sticky=false"; "las @muri" is las as released with that
  // world.
  LiveRun(const Workload& to_come, const Cluster& cluster, const std::string& policy,
          EventSink& sink);

  // To the next instant at which something happens; false if nothing is to come.
  bool step();
  void hold_round();

  void take_over(const std::string& policy);
  void restart(const std::string& policy);  // the scheduler is gone; another has its log
  void set_open(std::size_t node, bool open) { cluster_.nodes[node].open = open; }
  void lose(std::size_t node);  // and all jobs on it
  void pause(JobId job, const Reason& reason);
  void hold(JobId job);
  void release(JobId job);

  Scheduler& scheduler() { return *scheduler_; }
  const Cluster& cluster() const { return cluster_; }
  // No node that is open has what a job asks for that has been in a round.
  bool fits_nowhere(JobId job);
  static std::map<std::string, std::string> options_in(const std::string& policy);

 private:
  // Keeps the events, and passes them on.
  class Log final : public EventSink {
   public:
    explicit Log(EventSink& next) : next_(next) {}
    void write(const Event& event) override;
    const std::deque<Event>& events() const { return events_; }

   private:
    EventSink& next_;
    std::deque<Event> events_;
    std::deque<Grant> grants_;
  };

  Time arrival() const;
  void submit_next();
  void hire(const std::string& policy);
  void start_scheduler();

  const Workload& to_come_;
  Cluster cluster_;
  Workload workload_;
  Log log_;
  std::unique_ptr<Semantics> semantics_;
  std::deque<PolicySetup> policies_;  // all that ever decided
  std::deque<Packer> packers_;
  std::unique_ptr<Machines> machines_;
  std::unique_ptr<Scheduler> scheduler_;
  Time now_{};
  Time wake_ = kNever;
};

}  // namespace orrery
