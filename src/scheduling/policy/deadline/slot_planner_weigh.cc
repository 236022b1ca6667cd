#include <algorithm>
#include <cmath>

#include "scheduling/policy/deadline/slot_planner.h"

namespace orrery {

std::int64_t SlotPlanner::weigh(const Request& request, const SlotTimeline& free,
                                const Held& held) {
  due_ = aligned(request.deadline);
  load(free, &held);
  from_ = 0;
  left_ = request.work_left;
  own_.assign(1, 0);
  rest_.assign(1, was_[0]);
  if (finish_at_once(request)) return gpu_seconds();
  const Start start = start_by_deadline(request, was_.data());
  if (start.option != 0 && from_ == 1) return weigh_walk(request, start);
  plan(request, free, &held);
  return gpu_seconds();
}

// What walk() would give, summed up instead of written down.
std::int64_t SlotPlanner::weigh_walk(const Request& request, const Start& start) {
  const ScalingCurve& curve = *request.curve;
  std::int64_t sum = request.now_gpus * (at_[1] - at_[0]);
  for (std::size_t i = from_; i < due_step_; ++i) {
    const int option = i >= start.step ? start.option : start.option - 1;
    const int fit = std::min(option, curve.within(was_[i]));
    if (fit == 0) continue;
    const bool last = i + 1 == due_step_;
    const std::int64_t until = last ? request.deadline : at_[i + 1];
    const double iterations = static_cast<double>(until - at_[i]) * curve[fit].speed;
    if (i < start.step || iterations < left_) {
      left_ -= iterations;
      sum += curve[fit].gpus * (at_[i + 1] - at_[i]);
      continue;
    }
    if (!last) return sum + curve[fit].gpus * (at_[i + 1] - at_[i]);
    const auto needed = static_cast<std::int64_t>(std::ceil(left_ / curve[fit].speed));
    return sum + curve[fit].gpus * ((needed + slot_ - 1) / slot_ * slot_);
  }
  const int fit = std::clamp(curve.within(was_[due_step_]), 1, start.option);
  const auto needed = static_cast<std::int64_t>(std::ceil(left_ / curve[fit].speed));
  return sum + curve[fit].gpus * ((needed + slot_ - 1) / slot_ * slot_);
}

}  // namespace orrery
