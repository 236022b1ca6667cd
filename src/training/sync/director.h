#pragma once

#include <span>

#include "model/time.h"
#include "training/sync/mode.h"

namespace orrery {

enum class Architecture { ParameterServers, AllReduce };

// One task done, by the conductor's clock. `took` is from the order to the gradient's being there,
// by one clock: parameters down, computing, gradient up; waiting for others is not in it (but if it
// was merged, it lasts until its parent has handed in). It is reported when the gradient is used or
// dropped, not when it comes.
struct IterationSample {
  WorkerId worker{};
  std::int64_t task = 0;
  Time at{};
  Duration took{};
  std::int32_t samples = 0;
  ParameterVersion staleness = 0;  // updates between its parameters and its use; -1: not used
  double loss = 0;
  double norm2 = 0;
  Usage usage{};
  bool merged = false;  // with a tree: into what its parent handed in
};

// One update made. The norms allow the gradient noise scale to be estimated: of the terms that were
// computed on the version just before it (`fresh`), the sum of |g|^2 and |mean g|^2.
struct UpdateSample {
  ParameterVersion version = 0;
  Time at{};
  Duration took{};  // from its order until it was made: in all-reduce, the ring's sum
  int terms = 0;
  std::int32_t samples = 0;
  int fresh = 0;
  std::int32_t fresh_samples = 0;
  double fresh_norm2_sum = 0;
  double fresh_mean_norm2 = 0;  // 0: unknown
};

struct EvaluationSample {
  ParameterVersion version = 0;
  Time at{};  // when that version was made, not when it was judged
  double accuracy = 0;
  double loss = 0;
};

// A task that has not ended: its worker computes, or its gradient waits for those of others.
struct TaskUnderWay {
  WorkerId worker{};
  std::int32_t samples = 0;
  Duration took{};  // so far, if its worker computes
  bool computing = true;
};

// What a director is asked with.
struct Situation {
  Time now{};
  Architecture architecture = Architecture::ParameterServers;
  std::span<const WorkerId> workers{};  // ascending
  std::int32_t global_batch = 0;
  std::int64_t samples_done = 0;
  double rate = 0;
  const Mode* mode = nullptr;  // the present one
  // At a tick: every task that has not ended, since a worker that never hands in shows in nothing
  // else. Otherwise none is named.
  std::span<const TaskUnderWay> under_way{};
};

// Decides in which mode a run goes on. It gets every sample and is asked after each update, after
// each join and leave, and at each tick; giving back the present mode changes nothing. Pure: its
// answer depends on its samples and situations alone, so that the same object directs real
// processes and the twin.
class Director {
 public:
  virtual ~Director() = default;
  virtual void on_iteration(const IterationSample&) {}
  virtual void on_update(const UpdateSample&) {}
  virtual void on_evaluation(const EvaluationSample&) {}
  virtual Mode direct(const Situation& situation) = 0;
};

}  // namespace orrery
