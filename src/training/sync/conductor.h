#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "training/sync/director.h"
#include "training/sync/mode.h"
#include "training/sync/order.h"
#include "training/sync/rate.h"
#include "training/sync/rules/rule.h"
#include "training/sync/target_watch.h"
#include "training/sync/task.h"

namespace orrery {

struct ConductorOptions {
  Architecture architecture = Architecture::ParameterServers;
  int workers_first = 1;  // training begins when that many have joined
  std::int32_t global_batch = 256;
  std::int32_t batch_least = 1;  // of one task
  int blocks = 1;
  RateRule rate{};
  std::int64_t samples_limit = 0;        // training ends after them; 0: never
  std::int64_t evaluate_every = 0;       // samples between evaluations; 0: never
  std::int64_t checkpoint_every = 0;     // samples; 0: never
  double target_accuracy = 0;            // training ends there; 0: none
  int target_over = TargetWatch::kOver;  // evaluations, whose mean has to be at the target
  int spoiled_most = 0;  // gradients in a row that cannot be used, before training fails; 0: any
  // Every update of parameter servers comes with the state after it, from which another Conductor
  // goes on if this one is lost.
  bool states_with_updates = false;
  Duration tick = std::chrono::seconds(1);
  ZenoOptions zeno{};
};

// How often a training is evaluated by default: every twenty batches.
constexpr std::int64_t evaluation_distance(std::int64_t asked, std::int32_t global_batch) {
  return asked > 0 ? asked : std::int64_t{20} * global_batch;
}

// tasks = gradients + dropped + spoiled + lost + those still open.
struct ConductorCounts {
  std::int64_t tasks = 0, gradients = 0, updates = 0;
  std::int64_t dropped = 0;        // by the rule; their samples count as used
  std::int64_t spoiled = 0;        // not finite, wrong shape; likewise
  std::int64_t lost = 0;           // with their worker, or at the end; samples are handed out again
  std::int64_t refused = 0;        // what was said from outside that made no sense
  std::int64_t samples_cut = 0;    // of cut tasks, and not computed
  std::int64_t staleness_sum = 0;  // over applied gradients
  std::int64_t mode_switches = 0;
};

// Leads one training run. It hands out tasks and decides by the present mode's rule which gradients
// become an update and which workers may go on. It asks its director for the mode, and keeps
// membership, schedule and the order of samples. Pure: no clock, no sockets, no numbers of the
// model itself, so the trainer's head and the twin run the same object.
//
// Laws (conductor_laws_test.cc): every task that was handed out ends once, as a term of one update,
// dropped, or lost with its worker. Every sample position is in one task, and is handed out again
// only if it was lost. A worker without a task waits for an update that a worker with a task can
// bring about. This holds when modes change, workers join, leave and die in any order. What a mode
// holds when it is left goes into an update of its own before the next mode begins.
//
// Parameter servers: a gradient that has come is theirs, and is used even if its worker leaves.
// All-reduce: it is in its worker's memory (a child's in its parent's) and is lost with it. One
// update at a time is on its way, and no worker gets a task until it was applied. The mode changes,
// and what is held is drained, only while no member of the ring computes. A mode other than Ring
// means the full ring there. Calls that make no sense (unknown tasks or workers, repeated reports)
// are counted and change nothing.
class Conductor {
 public:
  Conductor(ConductorOptions options, std::unique_ptr<Director> director,
            const ConductorState& from = {});
  ~Conductor();

  void join(WorkerId worker, Time now);
  void leave(WorkerId worker, Time now);   // at once; what it was computing is lost
  void retire(WorkerId worker, Time now);  // after the task it has
  void ready(const Gradient& gradient, Time now);
  // A gradient that cannot be used: not finite, of the wrong shape. Its worker goes on.
  void spoiled(std::int64_t task, const std::string& why, Time now);
  // All-reduce: the ring has carried out the newest ApplyUpdate; or could not, because of these.
  // Parameter servers confirm too, with the norms they measured; nothing waits for it there.
  void applied(const UpdateSample& update, Time now);
  void failed(ParameterVersion version, std::span<const WorkerId> lost, Time now);
  void evaluated(const EvaluationSample& evaluation, Time now);
  void tick(Time now);
  void save(Time now);  // orders a checkpoint as soon as the mode holds no gradient
  // In all-reduce the run ends after the sum that is under way: the parameters are whole then. A
  // sum that fails meanwhile is not repeated; its samples are given back.
  void finish(const std::string& reason, Time now);

  std::vector<Order> take_orders();
  void take_orders(std::vector<Order>& into);  // the same, into memory that is there already
  ConductorState state() const;  // as of the newest SaveCheckpoint order; before the first: now
  const ConductorCounts& counts() const;
  const Mode& mode() const;
  bool ending() const;  // true from the first call of finish() on
  bool finished() const;
  std::optional<double> target_reached_s() const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace orrery
