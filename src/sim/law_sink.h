#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "control/state.h"
#include "model/cluster.h"
#include "model/event.h"

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
    bool honest = false;  // a start-up costs once and work is time: orrery semantics
    bool preempts = true;
    bool keeps_promises = false;
    bool fills_holes = false;  // nobody waits while enough GPUs are free anywhere
  };
  explicit LawSink(const Options& options);

  void write(const Event& event) override;
  void finish();  // the run is over

  // Set as soon as a law is broken; a run that watches it ends there.
  const std::atomic<bool>& stop() const { return stop_; }
  const std::string& broken() const { return broken_; }  // empty: all laws were kept
  const State& state() const { return state_; }
  const std::vector<Time>& ends() const { return ends_; }  // by job

 private:
  struct Account {
    bool slowed = false;  // has shared devices, so that its speed is not its own
    Time ready{};
    double done = 0;  // iterations, by the time it had
    bool promised = false;
    double work_left = 0;
  };

  void fail(const std::string& law);
  void check_event(const Event& event);
  void check_promise(const Event& event);
  void check_work(const Event& event);
  void check_rest();
  void check_job(const Job& job);
  void check_nodes();
  void check_device(std::size_t node, int gpu, const std::vector<JobId>& users);
  void check_holes();

  const Options options_;
  State state_;
  std::vector<Account> accounts_;
  std::vector<Time> ends_;
  Time now_{};
  std::uint64_t events_ = 0;
  std::string broken_;
  std::atomic<bool> stop_ = false;
};

}  // namespace orrery
