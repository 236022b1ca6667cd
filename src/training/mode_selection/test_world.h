#pragma once

#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "training/sync/conductor.h"

namespace orrery {

// A little world for tests of directors: workers whose tasks take what a pattern says, under a real
// Conductor, and a loss that falls with every gradient by its worth, exp(-progress), where a
// gradient is worth weight / (1 + lambda * staleness); a stale one is worth lambda if that is below
// 0. In all-reduce with ways over links, those are in no task of the ring but in its sum, and in
// the tasks of children, who wait for their parents as well. Its parts are in test_world_test.cc.
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
  void leave(int worker);

  double loss() const;
  double way_s(int worker);  // at this time
  const Conductor& conductor() const { return conductor_; }
  std::string mode() const { return mode_name(conductor_.mode(), options_.workers); }

 private:
  struct Doing {
    Task task{};
    double began_s = 0, ends_s = 0, computing = 1, throttled = 0;
  };
  using Event = std::pair<double, std::int64_t>;  // when, which task; below 0: which update's sum

  Time now() const { return time_from_seconds(now_s_); }
  void step();
  void hand_in(const Doing& done, int samples);
  std::ptrdiff_t rank_of(WorkerId worker) const;
  void start(const Task& task);
  void cut(std::int64_t task);
  void apply(const ApplyUpdate& order);
  void carry_out();

  WorldOptions options_;
  Pattern pattern_;
  Random random_;
  Conductor conductor_;
  double now_s_ = 0, progress_ = 0, next_tick_s_ = 1;
  std::map<std::int64_t, Doing> doing_{};
  std::map<int, std::int64_t> tasks_{};
  FormRing ring_{};
  std::vector<WorkerId> to_meet_{};  // of the ring, who has had no task in it
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_{};
};

}  // namespace orrery
