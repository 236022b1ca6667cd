#include "policy/share_planner.h"

#include <cmath>

namespace orrery {

Levels::Levels(const Workload& workload, const JobSpec& job, int most) {
  if (job.curve != kNoCurve) {
    for (const SpeedCurve::Point& point : workload.curves[index(job.curve)].points) {
      if (point.gpus <= most) points_.push_back(point);
    }
  }
  if (points_.empty()) points_.push_back({job.gpus, 1 / job.iteration_s});
}

std::int64_t gpu_seconds(const GpuSteps& gpus, std::int64_t end) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const std::int64_t until = i + 1 < gpus.size() ? gpus[i + 1].at : end;
    sum += gpus[i].gpus * (until - gpus[i].at);
  }
  return sum;
}

std::int64_t SharePlanner::aligned(std::int64_t at) const {
  if (at >= kNoDeadline_s - slot_) return kNoDeadline_s;
  const std::int64_t since = at - now_;
  std::int64_t slots = since / slot_;
  if (since > 0 && since % slot_ != 0) ++slots;
  return now_ + slots * slot_;
}

void SharePlanner::set_own(std::int64_t at, int gpus) {
  const std::size_t i = step_from(own_, at);
  if (i < own_.size() && own_[i].at == at) {
    own_[i].gpus = gpus;
  } else {
    own_.insert(own_.begin() + static_cast<std::ptrdiff_t>(i), {at, gpus});
  }
}

// From its end on, what a job held is free as it was before.
void SharePlanner::give_back_from(std::int64_t end, int gpus, const GpuSteps& free) {
  const std::size_t old = step_from(free, end);
  if (old < free.size() && free[old].at == end) return;
  const std::size_t i = step_from(rest_, end);
  if (i < rest_.size() && rest_[i].at == end) {
    rest_[i].gpus = gpus;
  } else {
    rest_.insert(rest_.begin() + static_cast<std::ptrdiff_t>(i), {end, gpus});
  }
}

void SharePlanner::conclude(const Request& request, Share& share) {
  merge(rest_);
  merge(own_);
  share.free.swap(rest_);
  share.gpus.swap(own_);
  share.in_time = share.done <= request.deadline;
}

void SharePlanner::plan(const Request& request, const GpuSteps& free, Share& share) {
  due_ = aligned(request.deadline);
  from_ = now_;
  left_ = request.work_left;
  rest_.assign(free.begin(), free.end());
  if (due_ >= now_) split(rest_, due_);
  own_.assign(1, {now_, 0});
  if (request.now_gpus > 0 && finish_at_once(request, free, share)) return;
  if (plan_by_deadline(request, free, share)) return;
  plan_late(request, free, share);
}

// Holds the GPUs asked for until the next change of what is free. Answers whether that is enough.
bool SharePlanner::finish_at_once(const Request& request, const GpuSteps& free, Share& share) {
  const int gpus = request.now_gpus;
  const double speed = request.levels->speed(gpus);
  const std::int64_t change = free.size() > 1 ? free[1].at : std::max(due_, now_ + slot_);
  own_[0].gpus = gpus;
  const auto done = static_cast<std::int64_t>(std::ceil(static_cast<double>(now_) + left_ / speed));
  const std::int64_t end = aligned(done);
  rest_[0].gpus -= gpus;
  if (change >= end && request.deadline >= done) {
    give_back_from(end, free[0].gpus, free);
    share.end = end;
    share.done = done;
    conclude(request, share);
    return true;
  }
  const std::int64_t held = (change == due_ ? request.deadline : change) - now_;
  left_ -= static_cast<double>(held) * speed;
  from_ = change;
  set_own(from_, 0);
  return false;
}

bool SharePlanner::plan_by_deadline(const Request& request, const GpuSteps& free, Share& share) {
  const Levels& levels = *request.levels;
  int before = 0;
  for (int level = levels.first(); level <= gpus_total_; level = levels.above(level)) {
    if (level == before) return false;
    double possible = 0;
    std::int64_t until = due_;
    for (std::size_t i = step_from(rest_, due_); i-- > 0;) {
      const GpuStep& step = rest_[i];
      if (step.at < from_) break;
      const int gpus = step.gpus >= level ? level : std::min(level, levels.fit(step.gpus));
      if (gpus > 0) {
        const std::int64_t held = (until == due_ ? request.deadline : until) - step.at;
        possible += static_cast<double>(held) * levels.speed(gpus);
        if (possible >= left_) {
          const std::int64_t begin = step.at;
          for (const GpuStep& other : rest_) {
            if (other.at < due_ && other.at > now_) set_own(other.at, 0);
          }
          walk(request, level, before, begin, share);
          int gpus_before_end = gpus_total_;
          for (const GpuStep& old : free) {
            if (old.at >= from_ && old.at < share.end) gpus_before_end = old.gpus;
          }
          give_back_from(share.end, gpus_before_end, free);
          conclude(request, share);
          return true;
        }
      }
      until = step.at;
    }
    before = level;
  }
  return false;
}

// Fixes a plan: the lower level before `from`, the higher one afterwards, each as far as it fits.
bool SharePlanner::walk(const Request& request, int level, int level_before, std::int64_t from,
                        Share& share) {
  const Levels& levels = *request.levels;
  const auto fitting = [&](const GpuStep& step) {
    return std::min(step.at >= from ? level : level_before, levels.fit(step.gpus));
  };
  std::size_t i = step_from(rest_, from_);
  const std::size_t last = step_from(rest_, due_);
  for (; i < last && i + 1 < rest_.size(); ++i) {
    const int gpus = fitting(rest_[i]);
    const std::int64_t at = rest_[i].at;
    set_own(at, gpus);
    rest_[i].gpus -= gpus;
    if (gpus == 0) continue;
    const double speed = levels.speed(gpus);
    const std::int64_t until = rest_[i + 1].at == due_ ? request.deadline : rest_[i + 1].at;
    const double iterations = static_cast<double>(until - at) * speed;
    if (at < from || iterations < left_) {
      left_ -= iterations;
      continue;
    }
    const auto needed = static_cast<std::int64_t>(std::ceil(left_ / speed));
    share.done = at + needed;
    share.end = at + (needed + slot_ - 1) / slot_ * slot_;
    return true;
  }
  // Rounding alone left something over; it is done in the deadline's own slot.
  const int gpus = std::max(fitting(rest_[i]), levels.first());
  set_own(rest_[i].at, gpus);
  rest_[i].gpus -= gpus;
  const auto needed = static_cast<std::int64_t>(std::ceil(left_ / levels.speed(gpus)));
  share.done = rest_[i].at + needed;
  share.end = rest_[i].at + (needed + slot_ - 1) / slot_ * slot_;
  return false;
}

// No level meets the deadline: the highest one up to it, and then whatever fits.
void SharePlanner::plan_late(const Request& request, const GpuSteps& free, Share& share) {
  const Levels& levels = *request.levels;
  const int most = std::min(levels.most(), levels.fit(gpus_total_));
  for (const GpuStep& step : rest_) {
    if (step.at < due_ && step.at > now_) set_own(step.at, 0);
  }
  const std::size_t last_before = step_from(rest_, due_);
  for (std::size_t i = step_from(rest_, from_); i < last_before && i + 1 < rest_.size(); ++i) {
    const int gpus = std::min(most, levels.fit(rest_[i].gpus));
    set_own(rest_[i].at, gpus);
    rest_[i].gpus -= gpus;
    if (gpus == 0) continue;
    const std::int64_t until = rest_[i + 1].at == due_ ? request.deadline : rest_[i + 1].at;
    left_ -= static_cast<double>(until - rest_[i].at) * levels.speed(gpus);
  }
  std::int64_t last = std::max(due_, from_);
  if (!after_deadline(request, free, last, share)) {
    const int gpus = request.now_gpus > 0 ? request.now_gpus : most;
    set_own(last, gpus);
    const double done = static_cast<double>(last) + left_ / levels.speed(gpus);
    share.done = static_cast<std::int64_t>(std::ceil(done));
    share.end = aligned(share.done);
    rest_.resize(step_from(rest_, last));
    rest_.push_back({last, gpus_total_ - gpus});
    rest_.push_back({share.end, gpus_total_});
  }
  conclude(request, share);
}

bool SharePlanner::after_deadline(const Request& request, const GpuSteps& free, std::int64_t& last,
                                  Share& share) {
  const Levels& levels = *request.levels;
  for (std::size_t i = step_from(rest_, last); i + 1 < rest_.size(); ++i) {
    last = rest_[i].at;
    const std::int64_t until = rest_[i + 1].at;
    const int gpus = levels.fit(rest_[i].gpus);
    set_own(last, gpus);
    if (gpus > 0) {
      const double speed = levels.speed(gpus);
      const double iterations = static_cast<double>(until - last) * speed;
      const int before = rest_[i].gpus;
      rest_[i].gpus -= gpus;
      if (iterations >= left_) {
        share.done =
            static_cast<std::int64_t>(std::ceil(static_cast<double>(last) + left_ / speed));
        share.end = aligned(share.done);
        give_back_from(share.end, before, free);
        return true;
      }
      left_ -= iterations;
    }
    last = until;
  }
  return false;
}

}  // namespace orrery
