#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "model/cluster.h"
#include "model/event.h"
#include "model/node_change.h"
#include "scheduling/placement/shape.h"
#include "scheduling/scheduler/state.h"

namespace orrery {

// For tests: follows a run and states the first law it breaks.
//
// Sums are looked at whenever time moves on, because inside one instant a job may be given what
// another is about to let go.
class LawSink final : public EventSink {
 public:
  struct Options {
    const Cluster* cluster = nullptr;
    const Workload* workload = nullptr;
    bool honest = false;    // a start-up costs once and work is time: orrery semantics
    double work_least = 1;  // of the work of jobs that completed, what the cluster did at least
    bool preempts = true;
    bool fills_holes = false;     // no job waits while enough GPUs are free anywhere
    bool keeps_promises = false;  // a job that was promised its deadline meets it
    // CPUs and memory are given by an allocator, and may be other than asked for...
    bool hosted = false;
    bool is_fair = false;                   // ...but no job is slower than with its fair share
    std::optional<FaultRules> faults = {};  // nodes come and go
  };
  explicit LawSink(const Options& options);

  void write(const Event& event) override;
  void finish();  // the run is over

  // Set as soon as a law is broken; a run that watches it ends there.
  const std::atomic<bool>& stop() const { return stop_; }
  const std::string& broken() const { return broken_; }  // empty: all laws were kept
  const State& state() const { return state_; }
  const std::vector<Time>& ends() const { return ends_; }  // by job

  // Work is conserved: what the jobs that completed did while they held devices, over what they had
  // to do, both as GPU time on one GPU, that is GPUs x the integral of the cluster's efficiency
  // over the sum of iterations / speed on one GPU. Jobs that ever shared devices are left out. 1
  // where a start-up is paid apart from work; in other worlds, where it is not, at least 1. Empty
  // when no job counts.
  std::optional<double> work_ratio() const;

 private:
  struct Account {
    bool slowed = false;    // has shared devices, so that its speed is not its own
    bool promised = false;  // its deadline
    Time working{};         // since then, if it runs
    double iteration_s = 0;
    double speed = 0;  // iterations a second
    double done = 0;   // iterations that its devices had time for
    double work_left = 0;
    Time ready{};
    double saved = 0;       // work left when its process began
    double speed_most = 0;  // since then
  };

  void fail(const std::string& law);
  void check_event(const Event& event);
  void check_promise(const Event& event);
  void check_work(const Event& event);
  void check_work_left(const Event& event);
  void check_loss(const Event& event);
  void note_process(const Event& event);
  void check_node(const Event& event);
  double saves_factor(const Job& job) const;
  void check_total();
  double speed_of(const Job& job, const Grant& grant) const;
  void check_rest();
  void check_job(const Job& job);
  void check_host(const Job& job);
  void check_nodes();
  void check_device(std::size_t node, int gpu, const std::vector<JobId>& users);
  void check_holes();
  Shape seen(const Job& job) const;

  const Options options_;
  State state_;
  std::vector<Account> accounts_;
  std::vector<Time> ends_;
  std::vector<bool> closed_;  // by node: warned or lost
  double gpu_s_done_ = 0;
  double gpu_s_due_ = 0;
  Time now_{};
  std::uint64_t events_ = 0;
  std::string broken_;
  std::atomic<bool> stop_ = false;
};

}  // namespace orrery
