#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "scheduling/policy/deadline/slot_job.h"
#include "scheduling/policy/deadline/slot_planner.h"

namespace orrery {

// A job as ElasticFlow plans it.
struct FlowJob : SlotJob {
  int gpus = 0;
  SlotTimeline planned = {};
  std::int64_t end = 0;
  std::int64_t gpu_seconds = 0;  // of the plan
  std::int64_t assured = 0;      // done, by the plan
  bool in_time = true;
  // With one option more, while free GPUs are given away:
  int next = 0;
  double merit = 0;
  std::int64_t next_seconds = 0;  // of GPU time
  std::uint32_t weighed = 0;      // the number of gifts before

  SlotPlanner::Request request(int now_gpus = 0) const {
    return {.curve = &curve, .work_left = work_left, .deadline = deadline, .now_gpus = now_gpus};
  }
};
using FlowLine = std::vector<FlowJob*>;

// Lines change little from one sorting to the next.
template <class Before>
void sort_stably(FlowLine& line, Before before) {
  constexpr std::size_t kFew = 64;
  if (line.size() > kFew) {
    std::stable_sort(line.begin(), line.end(), before);
    return;
  }
  for (std::size_t i = 1; i < line.size(); ++i) {
    FlowJob* const one = line[i];
    std::size_t j = i;
    for (; j > 0 && before(one, line[j - 1]); --j) line[j] = line[j - 1];
    line[j] = one;
  }
}

}  // namespace orrery
