#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "sync/conductor.h"

namespace orrery {

// A little world for tests of directors: workers whose tasks take what a pattern says, under a real
// Conductor, and a loss that falls with every gradient by its worth, exp(-progress), where a
// gradient is worth weight / (1 + lambda * staleness).
struct WorldOptions {
  int workers = 8;
  Architecture architecture = Architecture::ParameterServers;
  int global_batch = 256;
  double fixed_s = 0.01, per_sample_s = 0.003;  // about 106 ms a task
  double jitter = 0.03;
  double lambda = 0.25;     // in truth
  double progress = 0.004;  // of ln loss, an update of the whole batch
  double loss_noise = 0.1;  // of a gradient's loss, share of it
  double loss_floor = 0.05;
  double target_loss = 0.5;  // of 1 at the beginning
  double limit_s = 600;
  int blocks = 1;
  bool tells_use = true;
  std::uint64_t seed = 1;
};

// How many times slower a worker's processor and link are at a time.
struct Slowness {
  double compute = 1, link = 1;
};
using Pattern = std::function<Slowness(int worker, double now_s, std::int64_t its_task)>;

class TestWorld {
 public:
  TestWorld(const WorldOptions& options, Pattern pattern, std::unique_ptr<Director> director)
      : options_(options),
        pattern_(std::move(pattern)),
        random_(options.seed),
        conductor_(conductor_options(options), std::move(director)) {
    for (int i = 0; i < options.workers; ++i) {
      conductor_.join(WorkerId(i), now());
      carry_out();
    }
  }

  // Seconds until the smoothed loss was at the target; limit_s if never.
  double run() {
    while (!events_.empty() && now_s_ < options_.limit_s && !reached()) step();
    return now_s_;
  }
  void run_for(double seconds_more) {
    const double until = now_s_ + seconds_more;
    while (!events_.empty() && now_s_ < until) step();
  }

  double now_s() const { return now_s_; }
  double loss() const {
    return options_.loss_floor + (1 - options_.loss_floor) * std::exp(-progress_);
  }
  bool reached() const { return loss() <= options_.target_loss; }
  const Conductor& conductor() const { return conductor_; }
  std::string mode() const { return mode_name(conductor_.mode(), options_.workers); }
  void set_lambda(double lambda) { options_.lambda = lambda; }
  void leave(int worker) {
    conductor_.leave(WorkerId(worker), now());
    carry_out();
  }

 private:
  struct Doing {
    Task task{};
    double began_s = 0, ends_s = 0, computing = 1;
  };
  using Event = std::pair<double, std::int64_t>;  // when, which task

  static ConductorOptions conductor_options(const WorldOptions& options) {
    return {.architecture = options.architecture,
            .workers_first = options.workers,
            .global_batch = options.global_batch,
            .blocks = options.blocks};
  }
  Time now() const { return time_from_seconds(now_s_); }

  void step() {
    const auto [at, number] = events_.top();
    events_.pop();
    const auto doing = doing_.find(number);
    if (doing == doing_.end() || doing->second.ends_s != at) return;  // cut or lost
    now_s_ = at;
    const Doing done = doing->second;
    doing_.erase(doing);
    hand_in(done, done.task.samples.count);
  }

  void hand_in(const Doing& done, int samples) {
    const double noise = 1 + options_.loss_noise * random_.normal();
    Gradient gradient{
        .task = done.task.number, .samples = samples, .loss = loss() * noise, .norm2 = 1};
    if (options_.tells_use) gradient.usage.cpu_share = done.computing;
    conductor_.ready(gradient, now());
    carry_out();
  }

  void start(const Task& task) {
    const int worker = static_cast<int>(task.worker);
    const Slowness slow = pattern_(worker, now_s_, ++tasks_[worker]);
    const double link = options_.fixed_s * slow.link;
    const double compute = options_.per_sample_s * task.samples.count * slow.compute;
    const double takes = (link + compute) * std::max(0.2, 1 + options_.jitter * random_.normal());
    doing_[task.number] = {task, now_s_, now_s_ + takes, compute / (link + compute)};
    events_.emplace(now_s_ + takes, task.number);
  }

  void cut(std::int64_t number) {
    const auto at = doing_.find(number);
    if (at == doing_.end()) return;
    Doing& doing = at->second;
    // It stops at the end of the block that it is in.
    const double part = (now_s_ - doing.began_s) / (doing.ends_s - doing.began_s);
    const double blocks = std::ceil(part * options_.blocks);
    if (blocks >= options_.blocks) return;
    doing.ends_s = doing.began_s + (doing.ends_s - doing.began_s) * blocks / options_.blocks;
    doing.task.samples.count =
        std::max(1, static_cast<int>(doing.task.samples.count * blocks / options_.blocks));
    events_.emplace(doing.ends_s, number);
  }

  void carry_out() {
    std::vector<ParameterVersion> rings;
    for (const Order& order : conductor_.take_orders()) {
      if (const auto* const begin = std::get_if<StartTask>(&order)) {
        start(begin->task);
      } else if (const auto* const apply = std::get_if<ApplyUpdate>(&order)) {
        for (std::size_t i = 0; i < apply->tasks.size(); ++i) {
          const auto staleness =
              static_cast<double>(apply->update.version - 1 - apply->tasks[i].version);
          progress_ += options_.progress * apply->update.terms[i].weight *
                       (options_.lambda < 0 && staleness > 0
                            ? options_.lambda
                            : 1 / (1 + std::abs(options_.lambda) * staleness));
        }
        rings.push_back(apply->update.version);
      } else if (const auto* const stop = std::get_if<CutTask>(&order)) {
        cut(stop->task);
      }
    }
    for (const ParameterVersion version : rings) {
      conductor_.applied({.version = version}, now());
      carry_out();
    }
  }

  WorldOptions options_;
  Pattern pattern_;
  Random random_;
  Conductor conductor_;
  double now_s_ = 0, progress_ = 0;
  std::map<std::int64_t, Doing> doing_;
  std::map<int, std::int64_t> tasks_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace orrery
