#pragma once

#include <map>
#include <span>
#include <vector>

namespace orrery {

// One measurement of data-parallel training: replicas on a number of nodes, each with a local
// batch, take step_s for an iteration, of which sync_s goes into exchanging gradients.
struct StepTime {
  int nodes = 1;
  int replicas = 1;
  int local_batch = 1;
  double step_s = 0;
  double sync_s = 0;
};

// The time of an iteration as Pollux (OSDI '21) models it: computing takes compute + compute_each
// for every sample, exchanging gradients takes a constant and something for each replica beyond
// two, within a node or across nodes, and the two overlap as a norm of degree `overlap`: 1 is not
// at all, 10 nearly wholly.
struct StepModel {
  double compute = 0;
  double compute_each = 0;
  double local = 0;
  double local_each = 0;
  double network = 0;
  double network_each = 0;
  double overlap = 1;

  double compute_s(double local_batch) const { return compute + compute_each * local_batch; }
  double exchange_s(int nodes, int replicas) const;
  double step_s(int nodes, int replicas, double local_batch) const;
};

// Least squares of relative errors, the overlap by trying.
StepModel fit_step_model(std::span<const StepTime> measured);
// The root of the mean square of ln(model / measured).
double log_error(const StepModel& model, std::span<const StepTime> measured);

// The gradient during some epoch: the square of its mean, and its variance, both at the smallest
// batch.
struct GradientNoise {
  double mean_square = 0;
  double variance = 0;
};

// What was learnt of training one model: how long iterations take, and how much they are worth.
class Goodput {
 public:
  struct Epoch {
    double iteration = 0;  // at which it ended, at this batch
    GradientNoise noise;
  };
  struct Limits {
    int local_min = 1;
    int local_max = 1;
  };

  // By batch size; at least one batch with at least one epoch.
  Goodput(const StepModel& steps, Limits limits, std::map<int, std::vector<Epoch>> epochs);

  int batch_min() const { return epochs_.begin()->first; }
  int batch_max() const { return epochs_.rbegin()->first; }
  int replicas_max() const { return batch_max() / limits_.local_min; }

  // How many iterations at the smallest batch one at this batch is worth, in this epoch: at best as
  // many as it is larger, fewer the less noise there is to average out.
  double worth(double batch, std::size_t epoch) const;

  // In which epoch a job is that has done this part of its work at this batch.
  std::size_t epoch_at(int batch, double part_done) const;

  struct Choice {
    double batch = 0;
    double iterations_per_s = 0;  // at the stated batch
  };
  // The batch size with which training gets on fastest on these GPUs, and how fast that is in
  // iterations at the stated batch. 0 if the GPUs are too many for the largest batch.
  Choice best(int nodes, int replicas, int stated_batch, std::size_t epoch) const;

 private:
  const std::vector<Epoch>& at_or_below(double batch) const;

  StepModel steps_;
  Limits limits_;
  std::map<int, std::vector<Epoch>> epochs_;
};

}  // namespace orrery
