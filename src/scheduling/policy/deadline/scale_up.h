#pragma once

#include <vector>

#include "scheduling/policy/deadline/flow_job.h"

namespace orrery {

// Gives away what the plans leave free now, an option at a time, to those who have none first and
// then to where it changes total GPU time most. Only the plan of the job that is given changes.
class ScaleUp {
 public:
  enum class Rule : std::uint8_t {
    SavesMost,       // as in the paper; what others would save is looked at when they come first
    CostsMost,       // the opposite; all jobs are weighed after every gift
    SavesMostOfAll,  // as SavesMost; all jobs are weighed after every gift
  };
  explicit ScaleUp(Rule rule) : rule_(rule) {}

  // `free` begins now and is what remains afterwards. Returns which jobs were given, in order, and
  // when the job was then to end.
  struct Gift {
    FlowJob* job = nullptr;
    std::int64_t end = 0;
  };
  const std::vector<Gift>& run(SlotPlanner& planner, SlotTimeline& free, FlowLine& line);

 private:
  void run_lazily(FlowLine& line);
  void push(FlowJob& job);
  void climb(FlowJob& job);
  void run_eagerly(FlowLine& line);
  void weigh(FlowJob& job);
  void give(FlowJob& job);
  bool fits(const FlowJob& job) const {
    return job.next > job.gpus && job.next - job.gpus <= free_->gpus(0);
  }

  const Rule rule_;
  SlotPlanner* planner_ = nullptr;
  SlotTimeline* free_ = nullptr;
  std::uint32_t gifts_ = 0;
  std::vector<Gift> given_;
  FlowLine heap_;
  SlotTimeline next_free_;
  SlotTimeline next_planned_;
};

}  // namespace orrery
