#pragma once

#include <array>
#include <limits>
#include <span>
#include <vector>

#include "training/mode_selection/stragglers/predictor.h"

namespace orrery {

// What a task costs a worker: seconds(b) = fixed_s + b * per_sample_s. The fixed part is what does
// not shrink with the batch, which is mostly the parameters' and the gradient's way.
struct TaskCost {
  double fixed_s = 0;
  double per_sample_s = 0;

  double at(double samples) const { return fixed_s + per_sample_s * samples; }
  bool operator==(const TaskCost&) const = default;
};

// The newest of what one worker took, smoothed. One outlier moves nothing: each value that goes
// into the means is the median of the last three.
struct WorkerRecord {
  IterationHistory history{};  // the newest kHistoryKept, oldest first
  TaskCost cost{};
  double noise = 0;          // mean distance of single tasks from the smooth course, share of it
  double compute_share = 1;  // of a task's time at its present batch
  double way_s = 0;          // Usage's, newest
  std::int64_t tasks = 0;    // seen so far

  static constexpr int kHistoryKept = 256;
};

// Remembers the iterations of every worker. How a task's time splits into a fixed part and one for
// each sample begins with what its use says: time neither computed nor throttled is fixed, or none
// if its use is not known. Whenever its batch changes, the times just before and after it teach
// more; only those, since over longer stretches speed changes too, and batches follow it.
class IterationBook {
 public:
  void add(const IterationSample& sample);
  void keep_only(std::span<const WorkerId> workers);  // ascending; others have left

  // In ascending order of workers, with those alone that have done a task.
  std::span<const WorkerRecord> records() const { return records_; }
  const WorkerRecord* find(WorkerId worker) const;

 private:
  struct Course {
    std::array<double, 3> last_per_sample{};
    double smooth_per_sample = 0;
    double noise_sum = 0, noise_weight = 0;
    double batch = 0;  // of the newest task
    // The last change of the batch: what a task took before it, and those after, until two are in.
    double batch_before = 0, took_before = 0, took_after = 0;
    int tasks_after = 0;
    double fixed_sum = 0, fixed_weight = 0;  // what changes have taught
  };
  void follow(WorkerRecord& record, Course& course, double batch, double per_sample);
  void learn_split(Course& course, double took) const;
  void split(WorkerRecord& record, const Course& course, bool use_known) const;

  std::vector<WorkerRecord> records_;
  std::vector<Course> courses_;  // beside records_
};

struct BatchLimits {
  double least = 1;
  double most = std::numeric_limits<double>::infinity();  // no less than an equal share
};

// Batches that sum to the global batch such that the slowest task is as short as it can be: all
// tasks within the limits then end together. With `fixed_parts` left out it is LB-BSP's rule,
// batches in proportion to speed.
std::vector<double> balanced_batches(std::span<const TaskCost> costs, double global_batch,
                                     const BatchLimits& limits, bool fixed_parts = true);

}  // namespace orrery
