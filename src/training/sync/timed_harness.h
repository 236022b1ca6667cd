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
#include "training/sync/conductor.h"
#include "training/sync/test_director.h"

namespace orrery {

// What a test says of the workers of a TimedHarness. Without a function, nothing of its kind is.
struct TimedWorkers {
  std::function<double(const Task&)> task_s{};  // how long it takes, asked when it begins
  std::function<void(const Task&, Gradient&)> describe{};  // its gradient, asked when it ends
  std::function<double()> sum_s{};                         // of a ring's update
  std::function<void(const ApplyUpdate&)> on_update{};
  std::function<void(const FormRing&)> on_ring{};
  double tick_s = 0;             // between ticks of the conductor; 0: none
  bool servers_confirm = false;  // parameter servers report updates too
};

// Workers 0 .. N-1 whose tasks take time, under a Conductor: what happens, when. A cut task ends
// with the block that it is in.
class TimedHarness {
 public:
  TimedHarness(const ConductorOptions& options, std::unique_ptr<Director> director,
               TimedWorkers with)
      : workers(std::move(with)),
        conductor(std::make_unique<Conductor>(options, std::move(director))),
        all_reduce_(options.architecture == Architecture::AllReduce),
        work_(static_cast<std::size_t>(options.workers_first)),
        next_tick_s_(workers.tick_s) {
    for (int i = 0; i < options.workers_first; ++i) conductor->join(WorkerId{i}, now());
    carry_out();
  }
  // One mode, and a time for each worker.
  TimedHarness(const ConductorOptions& options, Mode mode, const std::vector<double>& times_s,
               double jitter = 0, std::uint64_t seed = 1)
      : TimedHarness(of_size(options, times_s.size()),
                     std::make_unique<FixedDirector>(std::move(mode)),
                     {.task_s = [times_s, jitter, random = Random(seed)](const Task& task) mutable {
                       const double time_s = times_s[static_cast<std::size_t>(task.worker)];
                       if (!(jitter > 0)) return time_s;
                       return time_s * std::max(0.1, 1 + jitter * random.normal());
                     }}) {}

  // One event, or one gradient. False: nothing is left to happen.
  bool advance();
  bool step();
  void run_updates(std::int64_t updates) {
    while (conductor->counts().updates < updates && step()) {
    }
  }
  void leave(int worker) {
    conductor->leave(WorkerId{worker}, now());
    carry_out();
  }
  Time now() const { return time_from_seconds(now_s); }
  bool is_over() const { return ends_.empty(); }

  TimedWorkers workers;
  std::unique_ptr<Conductor> conductor;
  double now_s = 0;

 private:
  struct Work {
    Task task{};  // 0: none
    double began_s = 0, ends_s = 0;
  };
  struct End {
    double at_s = 0;
    std::int64_t number = 0;  // of a task; of a ring's sum, minus its version
    std::size_t worker = 0;
    bool operator<(const End& other) const {
      return std::pair(at_s, number) > std::pair(other.at_s, other.number);
    }
  };
  static ConductorOptions of_size(ConductorOptions options, std::size_t workers) {
    options.workers_first = static_cast<int>(workers);
    return options;
  }

  void carry_out();
  void begin(const Task& task);
  void cut(const CutTask& order);

  const bool all_reduce_;
  std::vector<Work> work_;
  double next_tick_s_;
  std::priority_queue<End> ends_{};
  std::vector<Order> orders_{};
  std::vector<ParameterVersion> made_{};
  Gradient gradient_{};
  bool handed_in_ = false;
};

inline bool TimedHarness::step() {
  handed_in_ = false;
  while (!handed_in_ && advance()) {
  }
  return handed_in_;
}

inline bool TimedHarness::advance() {
  if (ends_.empty()) return false;
  const End end = ends_.top();
  if (workers.tick_s > 0 && end.at_s > next_tick_s_) {
    now_s = std::exchange(next_tick_s_, next_tick_s_ + workers.tick_s);
    conductor->tick(now());
    carry_out();
    return true;
  }
  ends_.pop();
  Work& work = work_[end.worker];
  const bool is_sum = end.number < 0;
  if (!is_sum && (work.task.number != end.number || work.ends_s != end.at_s)) return true;
  now_s = end.at_s;
  if (is_sum) {
    conductor->applied({.version = -end.number}, now());
  } else {
    gradient_.task = end.number;
    gradient_.samples = work.task.samples.count;
    gradient_.norm2 = 1;
    if (workers.describe) workers.describe(work.task, gradient_);
    work.task.number = 0;
    handed_in_ = true;
    conductor->ready(gradient_, now());
  }
  carry_out();
  return true;
}

inline void TimedHarness::carry_out() {
  do {
    made_.clear();
    conductor->take_orders(orders_);
    for (const Order& order : orders_) {
      if (const auto* const start = std::get_if<StartTask>(&order)) {
        begin(start->task);
      } else if (const auto* const update = std::get_if<ApplyUpdate>(&order)) {
        if (workers.on_update) workers.on_update(*update);
        if (all_reduce_ || workers.servers_confirm) made_.push_back(update->update.version);
      } else if (const auto* const stop = std::get_if<CutTask>(&order)) {
        cut(*stop);
      } else if (const auto* const ring = std::get_if<FormRing>(&order)) {
        if (workers.on_ring) workers.on_ring(*ring);
      }
    }
    const double sum_s = made_.empty() || !workers.sum_s ? 0 : workers.sum_s();
    for (const ParameterVersion version : made_) {
      if (sum_s > 0) {
        ends_.push({now_s + sum_s, -version, 0});
      } else {
        conductor->applied({.version = version}, now());
      }
    }
    if (sum_s > 0) break;
  } while (!made_.empty());
}

inline void TimedHarness::begin(const Task& task) {
  const auto worker = static_cast<std::size_t>(task.worker);
  work_[worker] = {task, now_s, now_s + workers.task_s(task)};
  ends_.push({work_[worker].ends_s, task.number, worker});
}

inline void TimedHarness::cut(const CutTask& order) {
  const auto worker = static_cast<std::size_t>(order.worker);
  Work& work = work_[worker];
  if (work.task.number != order.task) return;
  const double lasts_s = work.ends_s - work.began_s;
  const double blocks = work.task.blocks;
  const double done = std::ceil((now_s - work.began_s) / lasts_s * blocks - 1e-9);
  if (done >= blocks) return;
  work.ends_s = work.began_s + lasts_s * (done / blocks);
  work.task.samples.count =
      std::max(1, static_cast<std::int32_t>(work.task.samples.count * (done / blocks)));
  ends_.push({work.ends_s, order.task, worker});
}

}  // namespace orrery
