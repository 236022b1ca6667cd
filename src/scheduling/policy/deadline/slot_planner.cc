#include "scheduling/policy/deadline/slot_planner.h"

#include <algorithm>
#include <cmath>

namespace orrery {

void SlotPlanner::own(std::size_t step, int gpus) {
  if (own_.size() <= step) own_.resize(step + 1, 0);
  own_[step] = gpus;
}

void SlotPlanner::open_until_deadline() {
  if (own_.size() < due_step_) own_.resize(due_step_, 0);
}

void SlotPlanner::plan(const Request& request, const SlotTimeline& free, const Held* held) {
  due_ = aligned(request.deadline);
  load(free, held);
  rest_.assign(was_.begin(), was_.begin() + static_cast<std::ptrdiff_t>(steps_));
  from_ = 0;
  left_ = request.work_left;
  own_.assign(1, 0);
  gives_back_ = false;
  if (request.now_gpus > 0 && finish_at_once(request)) return;
  if (plan_by_deadline(request)) return;
  plan_late(request);
}

// Holds the GPUs asked for until the next change of what is free. Answers whether that is enough.
bool SlotPlanner::finish_at_once(const Request& request) {
  const double speed = request.curve->speed_within(request.now_gpus);
  const std::size_t steps = steps_ - (due_is_mine_ ? 1 : 0);
  const std::size_t next = due_is_mine_ && due_step_ == 1 ? 2 : 1;
  const std::int64_t change = steps > 1 ? at_[next] : std::max(due_, now_ + slot_);
  own_[0] = request.now_gpus;
  rest_[0] -= request.now_gpus;
  const auto done = static_cast<std::int64_t>(std::ceil(static_cast<double>(now_) + left_ / speed));
  const std::int64_t end = aligned(done);
  if (change >= end && request.deadline >= done) {
    end_ = end;
    done_ = done;
    gives_back_ = !known(end);
    back_ = was_[0];
    return true;
  }
  const std::int64_t held = (change == due_ ? request.deadline : change) - now_;
  left_ -= static_cast<double>(held) * speed;
  from_ = find(change);
  if (from_ < steps_) own(from_, 0);
  return false;
}

// The smallest option that is enough, and the step from which it is needed.
SlotPlanner::Start SlotPlanner::start_by_deadline(const Request& request, const int* free) const {
  if (due_ < now_) return {};
  const ScalingCurve& curve = *request.curve;
  const int top = curve.within(gpus_total_);
  for (int option = 1; option <= top; ++option) {
    double possible = 0;
    std::int64_t until = request.deadline;
    for (std::size_t i = due_step_; i-- > from_;) {
      const int fit = std::min(option, curve.within(free[i]));
      if (fit > 0) {
        possible += static_cast<double>(until - at_[i]) * curve[fit].speed;
        if (possible >= left_) return {option, i};
      }
      until = at_[i];
    }
  }
  return {};
}

bool SlotPlanner::plan_by_deadline(const Request& request) {
  const Start start = start_by_deadline(request, rest_.data());
  if (start.option == 0) return false;
  open_until_deadline();
  walk(request, start.option, start.option - 1, start.step);
  return true;
}

// Fixes a plan: the lower option before step `from`, the higher one afterwards, each as far as it
// fits.
void SlotPlanner::walk(const Request& request, int option, int option_before, std::size_t from) {
  const ScalingCurve& curve = *request.curve;
  gives_back_ = true;
  for (std::size_t i = from_; i < due_step_; ++i) {
    const int fit = std::min(i >= from ? option : option_before, curve.within(rest_[i]));
    own_[i] = curve[fit].gpus;
    rest_[i] -= own_[i];
    if (fit == 0) continue;
    const std::int64_t until = i + 1 == due_step_ ? request.deadline : at_[i + 1];
    const double iterations = static_cast<double>(until - at_[i]) * curve[fit].speed;
    if (i < from || iterations < left_) {
      left_ -= iterations;
      continue;
    }
    const auto needed = static_cast<std::int64_t>(std::ceil(left_ / curve[fit].speed));
    done_ = at_[i] + needed;
    end_ = at_[i] + (needed + slot_ - 1) / slot_ * slot_;
    gives_back_ = !known(end_);
    back_ = was_[i];
    return;
  }
  // Rounding alone left something over; it is done in the deadline's own slot.
  const int fit = std::clamp(curve.within(rest_[due_step_]), 1, option);
  own(due_step_, curve[fit].gpus);
  rest_[due_step_] -= curve[fit].gpus;
  const auto needed = static_cast<std::int64_t>(std::ceil(left_ / curve[fit].speed));
  done_ = due_ + needed;
  end_ = due_ + (needed + slot_ - 1) / slot_ * slot_;
  gives_back_ = !known(end_);
  back_ = was_[due_step_];
}

// No option meets the deadline: the highest one up to it, and then whatever fits.
void SlotPlanner::plan_late(const Request& request) {
  const ScalingCurve& curve = *request.curve;
  const int top = curve.within(gpus_total_);
  std::size_t last = from_;
  if (due_ >= now_) {
    open_until_deadline();
    for (std::size_t i = from_; i < due_step_; ++i) {
      const int fit = std::min(top, curve.within(rest_[i]));
      own_[i] = curve[fit].gpus;
      rest_[i] -= own_[i];
      const std::int64_t until = i + 1 == due_step_ ? request.deadline : at_[i + 1];
      if (fit > 0) left_ -= static_cast<double>(until - at_[i]) * curve[fit].speed;
    }
    last = std::max(due_step_, from_);
  }
  if (after_deadline(request, last)) return;
  const int gpus = request.now_gpus > 0 ? request.now_gpus : curve[top].gpus;
  own(last, gpus);
  const double done = static_cast<double>(at_[last]) + left_ / curve.speed_within(gpus);
  done_ = static_cast<std::int64_t>(std::ceil(done));
  end_ = aligned(done_);
  rest_[last] = gpus_total_ - gpus;
  gives_back_ = true;
  back_ = gpus_total_;
}

bool SlotPlanner::after_deadline(const Request& request, std::size_t& last) {
  const ScalingCurve& curve = *request.curve;
  for (; last + 1 < steps_; ++last) {
    const int fit = curve.within(rest_[last]);
    own(last, curve[fit].gpus);
    if (fit == 0) continue;
    const double speed = curve[fit].speed;
    const double iterations = static_cast<double>(at_[last + 1] - at_[last]) * speed;
    const int before = rest_[last];
    rest_[last] -= curve[fit].gpus;
    if (iterations >= left_) {
      const double done = static_cast<double>(at_[last]) + left_ / speed;
      done_ = static_cast<std::int64_t>(std::ceil(done));
      end_ = aligned(done_);
      gives_back_ = !known(end_);
      back_ = before;
      return true;
    }
    left_ -= iterations;
  }
  return false;
}

}  // namespace orrery
