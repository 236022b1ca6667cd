#pragma once

#include <deque>
#include <memory>
#include <queue>
#include <vector>

#include "base/random.h"
#include "training/twin/shared_link.h"
#include "training/twin/twin.h"
#include "training/twin/twin_worker_state.h"

namespace orrery {

// One run of the twin: twin.cc keeps the time, twin_workers.cc is what workers and shards do,
// twin_orders.cc carries out what the conductor orders.
class TwinRun {
 public:
  TwinRun(const TwinSetup& setup, std::unique_ptr<Director> director);  // which outlives it

  // One event after the other, for whoever runs several at once.
  void begin();
  Time next() const;  // kNever: nothing will happen any more
  bool step();        // false: it has ended
  TwinResult conclude();

  // From now on a worker, or the shards, have these shares of the CPU and link they began with.
  void set_worker(int worker, double cpu, double link, Time now);
  void set_shards(double cpu, double link, Time now);

  const Conductor& conductor() const { return conductor_; }
  double samples() const { return progress_.samples(); }
  double task_s(int worker) const { return workers_[static_cast<std::size_t>(worker)].task_s; }

 private:
  struct Event {
    enum class Kind {
      Asked,
      Replied,
      Computed,
      Handled,
      AtParent,
      RingDone,
      LinkStep,
      Change,
      Tick
    };
    Time at{};
    std::int64_t sequence = 0;
    Kind kind = Kind::Computed;
    int worker = 0;
    std::int64_t task = 0;
    bool operator>(const Event& other) const {
      return at != other.at ? at > other.at : sequence > other.sequence;
    }
  };
  using Worker = TwinWorkerState;
  using Stage = Worker::Stage;

  static ConductorOptions options_of(const TwinSetup& setup);
  static double rate_or_endless(double rate) {
    if (rate > 0) return rate;
    return SharedLink::kEndless;
  }
  Worker& at(int worker) { return workers_[static_cast<std::size_t>(worker)]; }
  bool all_reduce() const { return setup_.conductor.architecture == Architecture::AllReduce; }
  double exchange_s(int worker) const;
  double own_rate(int worker);
  double bytes_felt(int worker);
  double pair_s(int a, int b);

  void push(Time when, Event::Kind kind, int worker, std::int64_t task);
  void happen(const Event& event);
  void change(const TwinChange& change);
  void plan_computing(Worker& worker, int number);
  void break_off(Worker& worker);
  double work_done_s(const Worker& worker) const;

  Time ring_done();

  void start(const Task& task);
  void ask(int worker);
  void download(int worker);
  void compute(int worker);
  void send(int worker);
  void merge(int parent);
  void upload(int worker);
  void arrive(int worker);
  void hand_in(int worker);
  void cut(int worker, std::int64_t task);
  void die(int worker);
  void serve_next();

  void carry_out();
  void apply(const ApplyUpdate& order);
  void evaluate(ParameterVersion version);
  void form(const std::vector<std::pair<WorkerId, WorkerId>>& parents);

  const TwinSetup& setup_;
  bool directed_;
  Conductor conductor_;
  std::vector<Worker> workers_{};
  std::vector<WorkerId> ring_{};
  bool tree_ = false, serving_ = false;  // a tree is there, or was; a gradient is being taken
  SharedLink up_, down_;
  double shards_cpu_ = 1;
  Time shards_free_{};                                  // of updates
  std::deque<std::pair<int, std::int64_t>> arrived_{};  // gradients, by worker and task
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_{};
  std::int64_t sequence_ = 0, point_gradients_ = 0, point_staleness_ = 0;
  Time now_{};
  std::vector<Order> orders_{};
  UpdateSample newest_{};
  TrainingProgress progress_;
  Random scatter_;
  TwinResult result_{};
};

}  // namespace orrery
