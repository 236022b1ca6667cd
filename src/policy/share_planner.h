#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "model/job.h"
#include "policy/gpu_steps.h"

namespace orrery {

inline constexpr std::int64_t kNoDeadline_s = std::numeric_limits<std::int64_t>::max();

// The numbers of GPUs a job may be given, rising, and its speed on each.
class Levels {
 public:
  // Those of the curve up to `most`; what it asked for, where it has no curve.
  Levels(const Workload& workload, const JobSpec& job, int most);

  int first() const { return points_.front().gpus; }
  int most() const { return points_.back().gpus; }
  // The largest of at most this many; 0: none.
  int fit(int gpus) const {
    int best = 0;
    for (const SpeedCurve::Point& point : points_) {
      if (point.gpus > gpus) break;
      best = point.gpus;
    }
    return best;
  }
  // The one above; the same if there is none.
  int above(int gpus) const {
    for (const SpeedCurve::Point& point : points_) {
      if (point.gpus > gpus) return point.gpus;
    }
    return gpus;
  }
  double speed(int gpus) const {
    for (const SpeedCurve::Point& point : points_) {
      if (point.gpus == gpus) return point.iterations_per_s;
    }
    return 0;
  }

 private:
  std::vector<SpeedCurve::Point> points_;
};

// Plans one job into what others leave free, the way ElasticFlow does: the lowest level that meets
// the deadline, used as late as possible, over slots counted from now.
//
// Exact to the released code in its order of operations, because ties decide schedules.
class SharePlanner {
 public:
  SharePlanner(std::int64_t now_s, std::int64_t slot_s, int gpus_total)
      : now_(now_s), slot_(slot_s), gpus_total_(gpus_total) {}

  struct Request {
    const Levels* levels = nullptr;
    double work_left = 0;
    std::int64_t deadline = kNoDeadline_s;
    int now_gpus = 0;  // to be held until the next change of what is free; 0: as planned
  };
  struct Share {
    GpuSteps gpus;          // the job's own
    GpuSteps free;          // what remains
    std::int64_t end = 0;   // its last slot
    std::int64_t done = 0;  // in whole seconds
    bool in_time = false;
  };

  // `free` begins now. The answer's memory is used again.
  void plan(const Request& request, const GpuSteps& free, Share& share);

  std::int64_t aligned(std::int64_t at) const;

 private:
  bool finish_at_once(const Request& request, const GpuSteps& free, Share& share);
  bool plan_by_deadline(const Request& request, const GpuSteps& free, Share& share);
  bool walk(const Request& request, int level, int level_before, std::int64_t from, Share& share);
  void plan_late(const Request& request, const GpuSteps& free, Share& share);
  bool after_deadline(const Request& request, const GpuSteps& free, std::int64_t& last,
                      Share& share);
  void give_back_from(std::int64_t end, int gpus, const GpuSteps& free);
  void set_own(std::int64_t at, int gpus);
  void conclude(const Request& request, Share& share);

  const std::int64_t now_;
  const std::int64_t slot_;
  const int gpus_total_;
  // Of the plan being made.
  std::int64_t due_ = 0;  // the deadline's slot
  std::int64_t from_ = 0;
  double left_ = 0;
  GpuSteps rest_;
  GpuSteps own_;
};

// GPU seconds of a plan that ends then.
std::int64_t gpu_seconds(const GpuSteps& gpus, std::int64_t end);

}  // namespace orrery
