#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduling/policy/deadline/elastic_clock.h"
#include "scheduling/policy/deadline/timeline.h"
#include "scheduling/prediction/scaling_curve.h"

namespace orrery {

// Plans one job into what others leave free, the way ElasticFlow does: the smallest option that
// meets the deadline, used as late as possible, over slots counted from now.
//
// Options and steps are tried in one fixed order, because ties decide schedules. Costs options x
// steps, and allocates nothing once its memory has grown.
class SlotPlanner {
 public:
  SlotPlanner(std::int64_t now_s, std::int64_t slot_s, int gpus_total)
      : now_(now_s), slot_(slot_s), gpus_total_(gpus_total) {}
  void set_now(std::int64_t now_s) { now_ = now_s; }

  struct Request {
    const ScalingCurve* curve = nullptr;
    double work_left = 0;
    std::int64_t deadline = kNoDeadline_s;
    int now_gpus = 0;  // to be held until the next change of what is free; 0: as planned
  };
  // A plan that stands: to be taken back before the job is planned again.
  struct Held {
    const SlotTimeline* gpus = nullptr;
    std::int64_t end = 0;
  };

  // `free` begins now. With `held`, what that holds is free too.
  void plan(const Request& request, const SlotTimeline& free, const Held* held = nullptr);

  // GPU seconds of the plan that plan() would make, at less than half its cost.
  std::int64_t weigh(const Request& request, const SlotTimeline& free, const Held& held);

  // Of the last plan:
  std::int64_t end() const { return end_; }    // its last slot
  std::int64_t done() const { return done_; }  // in whole seconds
  std::int64_t gpu_seconds() const;
  void write(SlotTimeline& gpus, SlotTimeline& free) const;  // the job's own, and what remains

 private:
  void load(const SlotTimeline& free, const Held* held);
  struct Loader;
  std::size_t find(std::int64_t at) const;
  bool finish_at_once(const Request& request);
  struct Start {
    int option = 0;  // 0: none meets the deadline
    std::size_t step = 0;
  };
  Start start_by_deadline(const Request& request, const int* free) const;
  bool plan_by_deadline(const Request& request);
  std::int64_t weigh_walk(const Request& request, const Start& start);
  void walk(const Request& request, int option, int option_before, std::size_t from);
  void plan_late(const Request& request);
  bool after_deadline(const Request& request, std::size_t& last);
  std::int64_t aligned(std::int64_t at) const;
  void own(std::size_t step, int gpus);
  void open_until_deadline();
  bool known(std::int64_t at) const;

  std::int64_t now_;
  const std::int64_t slot_;
  const int gpus_total_;

  // The plan being made, by step.
  std::size_t steps_ = 0;
  std::vector<std::int64_t> at_;
  std::vector<int> was_;   // free before
  std::vector<int> rest_;  // free afterwards
  std::vector<int> own_;   // the job's; as long as it has any
  std::int64_t due_ = 0;   // the deadline's slot
  std::size_t due_step_ = 0;
  bool due_is_mine_ = false;  // that step is there for the deadline alone
  std::size_t from_ = 0;
  double left_ = 0;
  std::int64_t end_ = 0;
  std::int64_t done_ = 0;
  bool gives_back_ = false;  // what was free comes back at the end, unless a step begins there
  int back_ = 0;
};

}  // namespace orrery
