#pragma once

#include <cstdint>
#include <vector>

#include "model/time.h"

namespace orrery {

// A worker of one training run. Never given again to another within the run.
enum class WorkerId : std::int32_t {};

// How many updates have gone into a set of parameters.
using ParameterVersion = std::int64_t;

// Positions in the endless, seeded order of the training set: epoch after epoch, each in an order
// of its own. Every position is handed out once.
struct Samples {
  std::int64_t first = 0;
  std::int32_t count = 0;
};

// What a worker is to do: the mean gradient over some samples, at one version of the
// parameters.
struct Task {
  std::int64_t number = 0;  // from 1, in the order they are handed out; never used twice
  WorkerId worker{};
  ParameterVersion version = 0;
  Samples samples{};
  int blocks = 1;  // the parts it is computed in; it may be cut off after each
};

// What a worker used while it did a task, measured by its server.
struct Usage {
  double cpu_share = 0;        // of one core, over the task's time
  double throttled_share = 0;  // of the task's time, throttled by a quota
  double in_bytes_per_s = 0;
  double out_bytes_per_s = 0;
  // One way of all parameters over its link when nothing else is on it; 0: not known. In all-reduce
  // no task's time shows it, since the ring as a whole is as slow as its slowest link.
  double way_s = 0;
};

// What came of a task, reported when the gradient lies whole where updates are made. With a
// tree, a parent hands in its own and its children's as one: `merged` are the children's tasks, and
// everything else is over all of them.
struct Gradient {
  std::int64_t task = 0;
  std::int32_t samples = 0;   // of the mean: fewer than asked for if it was cut
  double loss = 0;            // mean over the same samples
  double norm2 = 0;           // |g|^2
  double dot_validation = 0;  // <v, g> and |v|^2 with the newest validation gradient; 0: none yet
  double norm2_validation = 0;
  Usage usage{};
  double receive_s = 0;  // from the task's arrival at its worker until the parameters were there
  double compute_s = 0;  // and from then until the gradient was computed
  std::vector<std::int64_t> merged{};
};

// The sum over terms of weight * gradient, for the optimizer. A term's weight is its samples over
// the global batch, whichever worker computed it and however late it is, so every sample counts the
// same in all modes (only Zeno++ scales further). Optimizers take `share` of a step:
// training/sync/partial_step.h.
struct Term {
  std::int64_t task = 0;
  double weight = 0;
};
struct Update {
  ParameterVersion version = 0;  // what it makes: one more than before
  double rate = 0;
  double share =
      1;  // of a global batch: the samples of all terms, whatever a rule weighs them with
  std::vector<Term> terms{};  // in the order of tasks, so that sums are the same in every run
};

}  // namespace orrery
