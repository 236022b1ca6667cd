#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "training/twin/shard_twin.h"
#include "training/twin/shared_link.h"
#include "training/twin/twin.h"
#include "training/twin/twin_events.h"
#include "training/twin/twin_learning.h"
#include "training/twin/worker_twin.h"

namespace orrery {

// One run of the twin: twin.cc keeps the time, twin_tasks.cc leads tasks through workers, links and
// shards, twin_orders.cc carries out what the conductor orders.
class TwinRun {
 public:
  TwinRun(const TwinSetup& setup, std::unique_ptr<Director> director);  // which outlives it

  // One event after the other, for callers that advance several runs at once.
  void begin();
  Time next() const;  // kNever: nothing will happen any more
  bool step();        // false: it has ended
  TwinResult conclude();

  // From now on a worker, or the shards, have these shares of the CPU and link they began with.
  void set_worker(int worker, double cpu, double link, Time now);
  void set_shards(double cpu, double link, Time now);

  const Conductor& conductor() const { return conductor_; }
  double samples() const { return learning_.samples(); }
  double task_s(int worker) const { return workers_[static_cast<std::size_t>(worker)].task_s; }

 private:
  using Event = TwinEvent;
  using Stage = WorkerTwin::Stage;

  static ConductorOptions options_of(const TwinSetup& setup);
  static double rate_or_endless(double rate) { return rate > 0 ? rate : SharedLink::kEndless; }
  WorkerTwin& at(int worker) { return workers_[static_cast<std::size_t>(worker)]; }
  bool all_reduce() const { return setup_.conductor.architecture == Architecture::AllReduce; }
  double bytes_felt(int worker) { return at(worker).link.bytes_felt(setup_.parameter_bytes, now_); }
  double pair_s(int a, int b);

  void happen(const Event& event);
  void change(const TwinChange& change);
  void tick();
  void follow_own_link(int worker);

  void start(const Task& task);
  void ask(int worker);
  void download(int worker);
  void compute(int worker);
  void send(int worker);
  void merge(int parent);
  void upload(int worker);
  void arrive(int worker);
  void serve_next();
  void hand_in(int worker);
  void cut(int worker, std::int64_t task);
  void die(int worker);

  void carry_out();
  void apply(const ApplyUpdate& order);
  Time ring_done();
  void evaluate(ParameterVersion version);
  void form(const std::vector<std::pair<WorkerId, WorkerId>>& parents);

  const TwinSetup& setup_;
  bool directed_;
  Conductor conductor_;
  std::vector<WorkerTwin> workers_{};
  ShardTwin shards_;
  std::vector<WorkerId> ring_{};
  bool tree_ = false;  // there is one, or was
  SharedLink up_, down_;
  TwinLearning learning_;
  TwinEvents events_{};
  Time now_{};
  std::vector<Order> orders_{};
  TwinResult result_{};
};

}  // namespace orrery
