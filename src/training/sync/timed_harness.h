#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <queue>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "training/sync/conductor.h"
#include "training/sync/test_director.h"

namespace orrery {

// Workers 0 .. N-1 that take given times, under a Conductor: what happens, when. Its parts are in
// timed_harness_test.cc.
class TimedHarness {
 public:
  TimedHarness(ConductorOptions options, Mode mode, std::vector<double> times_s, double jitter = 0,
               std::uint64_t seed = 1)
      : times_(std::move(times_s)), jitter_(jitter), random_(seed), at_work_(times_.size()) {
    options.workers_first = static_cast<int>(times_.size());
    all_reduce_ = options.architecture == Architecture::AllReduce;
    conductor = std::make_unique<Conductor>(std::move(options),
                                            std::make_unique<FixedDirector>(std::move(mode)));
    for (int i = 0; i < static_cast<int>(times_.size()); ++i) conductor->join(WorkerId{i}, now);
    carry_out();
  }

  // One gradient comes. Nothing is left to do once the run has finished.
  bool step() {
    while (!ends_.empty()) {
      const auto [at, number, worker] = ends_.top();
      ends_.pop();
      if (worker == kRing) {
        now = at;
        conductor->applied({.version = number}, now);
        carry_out();
        continue;
      }
      AtWork& work = at_work_[worker];
      if (work.task.number != number || work.end != at) continue;
      now = at;
      gradient_.task = number;
      gradient_.samples = work.samples;
      gradient_.norm2 = 1;
      work.task.number = 0;
      conductor->ready(gradient_, now);
      carry_out();
      return true;
    }
    return false;
  }
  void run_updates(std::int64_t updates) {
    while (conductor->counts().updates < updates && step()) {
    }
  }

  std::unique_ptr<Conductor> conductor{};
  Time now{};
  double sum_s = 0;  // of a ring's updates
  std::function<void(const ApplyUpdate&)> on_update{};

 private:
  static constexpr std::size_t kRing = std::numeric_limits<std::size_t>::max();
  struct AtWork {
    Task task{};
    Time start{}, end{};
    std::int32_t samples = 0;
  };
  struct End {
    Time at{};
    std::int64_t number = 0;
    std::size_t worker = 0;
    bool operator<(const End& other) const {
      return std::pair(at, number) > std::pair(other.at, other.number);
    }
  };

  void carry_out();
  void begin(const Task& task);
  void stop(const CutTask& cut);

  const std::vector<double> times_;
  const double jitter_;
  Random random_;
  bool all_reduce_ = false, again_ = false;
  std::vector<AtWork> at_work_;
  std::priority_queue<End> ends_{};
  std::vector<Order> orders_{};
  Gradient gradient_{};
};

}  // namespace orrery
