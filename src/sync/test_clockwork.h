#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "sync/conductor.h"
#include "sync/test_director.h"

namespace orrery {

// Workers 0 .. N-1 that take given times, under a Conductor: what happens, when.
class Clockwork {
 public:
  Clockwork(ConductorOptions options, Mode mode, std::vector<double> times_s, double jitter = 0,
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
  std::function<void(const ApplyUpdate&)> on_update{};

 private:
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

  void carry_out() {
    do {
      again_ = false;
      conductor->take_orders(orders_);
      for (const Order& order : orders_) {
        if (const auto* const start = std::get_if<StartTask>(&order)) begin(start->task);
        if (const auto* const cut = std::get_if<CutTask>(&order)) stop(*cut);
        if (const auto* const apply = std::get_if<ApplyUpdate>(&order)) {
          if (on_update) on_update(*apply);
          if (!all_reduce_) continue;
          conductor->applied({.version = apply->update.version}, now);
          again_ = true;
        }
      }
    } while (again_);
  }
  void begin(const Task& task) {
    const auto worker = static_cast<std::size_t>(task.worker);
    double seconds = times_[worker];
    if (jitter_ > 0) seconds *= std::max(0.1, 1 + jitter_ * random_.normal());
    at_work_[worker] = {task, now, now + from_seconds(seconds), task.samples.count};
    ends_.push({at_work_[worker].end, task.number, worker});
  }
  void stop(const CutTask& cut) {
    const auto worker = static_cast<std::size_t>(cut.worker);
    AtWork& work = at_work_[worker];
    if (work.task.number != cut.task) return;
    const double block = seconds(work.end - work.start) / work.task.blocks;
    const double done = std::ceil(seconds(now - work.start) / block - 1e-9);
    work.end = work.start + from_seconds(done * block);
    work.samples = static_cast<std::int32_t>(std::lround(work.samples * done / work.task.blocks));
    ends_.push({work.end, cut.task, worker});
  }

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
