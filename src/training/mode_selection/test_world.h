#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "training/sync/timed_harness.h"

namespace orrery {

// Workers for tests of directors, under a TimedHarness: their tasks take what a pattern says, and a
// loss falls with every gradient by its worth, exp(-progress). A gradient is worth
// weight / (1 + lambda * staleness); a stale one is worth lambda if that is below 0. In all-reduce
// with ways over links, those are in no task of the ring but in its sum, and in the tasks of
// children, which wait for their parents as well.
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
  bool reports_usage = true;
  double way_s = 0, message_s = 0;  // all-reduce: one way of the parameters, a message of a sum
  double serve_s = 0;               // what a parent's task is longer by for each child
  double meet_s = 0;  // of a new ring, in each member's first task: it waits for those before it
  std::uint64_t seed = 1;
};

// How many times slower a worker's processor and link are at a time.
struct Slowness {
  double compute = 1, link = 1;
};
using Pattern = std::function<Slowness(int worker, double now_s, std::int64_t its_task)>;

class TestWorld {
 public:
  TestWorld(const WorldOptions& options, Pattern pattern, std::unique_ptr<Director> director);

  double run();  // seconds until the loss was at the target; limit_s if never
  void run_for(double seconds_more);
  void leave(int worker) { harness_->leave(worker); }

  double loss() const;
  const Conductor& conductor() const { return *harness_->conductor; }
  std::string mode() const { return mode_name(conductor().mode(), options_.workers); }

 private:
  struct Worker {
    std::int64_t tasks = 0;
    double computing = 1, throttled = 0;  // shares of the time of its task
    bool is_new_in_ring = false;
  };
  Worker& at(WorkerId worker) { return workers_[static_cast<std::size_t>(worker)]; }
  double now_s() const { return harness_ ? harness_->now_s : 0; }
  double way_s(WorkerId worker);  // at this time
  std::ptrdiff_t rank_of(WorkerId worker) const;
  double link_s(const Task& task, const Slowness& slow);
  double task_s(const Task& task);
  void describe(const Task& task, Gradient& gradient);
  double sum_s();
  void apply(const ApplyUpdate& order);

  WorldOptions options_;
  Pattern pattern_;
  Random random_;
  double progress_ = 0;
  std::vector<Worker> workers_;
  FormRing ring_{};
  std::unique_ptr<TimedHarness> harness_{};
};

}  // namespace orrery
