#include "policy/slot_planner.h"

#include <algorithm>
#include <cmath>

namespace orrery {

Levels::Levels(const Workload& workload, const JobSpec& job, int most) : gpus_{0}, speed_{0} {
  if (job.curve != kNoCurve) {
    for (const SpeedCurve::Point& point : workload.curves[index(job.curve)].points) {
      if (point.gpus > most) break;
      gpus_.push_back(point.gpus);
      speed_.push_back(point.iterations_per_s);
    }
  }
  if (gpus_.size() == 1) {
    gpus_.push_back(job.gpus);
    speed_.push_back(1 / job.iteration_s);
  }
  fit_.resize(static_cast<std::size_t>(gpus_.back()));
  for (std::size_t level = 0; level + 1 < gpus_.size(); ++level) {
    std::fill(fit_.begin() + gpus_[level], fit_.begin() + gpus_[level + 1],
              static_cast<std::uint8_t>(level));
  }
}

std::int64_t gpu_seconds(const GpuSteps& gpus, std::int64_t end) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const std::int64_t until = i + 1 < gpus.size() ? gpus[i + 1].at : end;
    sum += gpus[i].gpus * (until - gpus[i].at);
  }
  return sum;
}

std::int64_t SlotPlanner::gpu_seconds() const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i + 1 < own_.size(); ++i) sum += own_[i] * (at_[i + 1] - at_[i]);
  return sum + own_.back() * (end_ - at_[own_.size() - 1]);
}

std::int64_t SlotPlanner::aligned(std::int64_t at) const {
  if (at >= kNoDeadline_s - slot_) return kNoDeadline_s;
  const std::int64_t since = at - now_;
  std::int64_t slots = since / slot_;
  if (since > 0 && slots * slot_ != since) ++slots;
  return now_ + slots * slot_;
}

// Takes steps in turn, drops those that change nothing, and makes one for the deadline.
struct SlotPlanner::Loader {
  SlotPlanner& planner;
  std::int64_t* at;
  int* was;
  std::size_t count = 0;
  bool due_seen = false;

  void put(std::int64_t when, int gpus) {
    at[count] = when;
    was[count++] = gpus;
  }
  void put_due(int gpus) {
    due_seen = true;
    planner.due_is_mine_ = true;
    planner.due_step_ = count;
    put(planner.due_, gpus);
  }
  void step(std::int64_t when, int gpus) {
    const bool changes = count == 0 || gpus != was[count - 1];
    if (!due_seen && when >= planner.due_) {
      if (when == planner.due_ && changes) {
        due_seen = true;
        planner.due_step_ = count;
      } else {
        put_due(was[count - 1]);
        if (when == planner.due_) return;
      }
    }
    if (changes) put(when, gpus);
  }
};

void SlotPlanner::load(const GpuSteps& free, const Held* held) {
  const std::size_t most = free.size() + (held == nullptr ? 0 : held->gpus->size()) + 3;
  if (at_.size() < most) {
    at_.resize(2 * most);
    was_.resize(2 * most);
  }
  due_is_mine_ = false;
  due_step_ = 0;
  Loader loader{*this, at_.data(), was_.data(), 0, due_ < now_};
  if (held == nullptr) {
    for (const GpuStep& step : free) loader.step(step.at, step.gpus);
  } else {
    const GpuStep* own = held->gpus->data();
    const GpuStep* own_end = own + held->gpus->size();
    const GpuStep* next = free.data();
    const GpuStep* free_end = next + free.size();
    int gpus = 0;
    int taken = 0;
    for (bool holds = true; holds;) {
      std::int64_t at = own < own_end ? std::min(own->at, held->end) : held->end;
      if (next < free_end) at = std::min(at, next->at);
      if (next < free_end && next->at == at) gpus = (next++)->gpus;
      if (own < own_end && own->at == at) taken = (own++)->gpus;
      holds = at < held->end;
      loader.step(at, gpus + (holds ? taken : 0));
    }
    for (; next < free_end; ++next) loader.step(next->at, next->gpus);
  }
  if (!loader.due_seen) loader.put_due(loader.was[loader.count - 1]);
  steps_ = loader.count;
}

std::size_t SlotPlanner::find(std::int64_t at) const {
  const auto end = at_.begin() + static_cast<std::ptrdiff_t>(steps_);
  return static_cast<std::size_t>(std::lower_bound(at_.begin(), end, at) - at_.begin());
}

// Whether what was free had a step there.
bool SlotPlanner::known(std::int64_t at) const {
  const std::size_t i = find(at);
  return i < steps_ && at_[i] == at && !(due_is_mine_ && i == due_step_);
}

void SlotPlanner::own(std::size_t step, int gpus) {
  if (own_.size() <= step) own_.resize(step + 1, 0);
  own_[step] = gpus;
}

void SlotPlanner::open_until_deadline() {
  if (own_.size() < due_step_) own_.resize(due_step_, 0);
}

void SlotPlanner::plan(const Request& request, const GpuSteps& free, const Held* held) {
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

void SlotPlanner::write(GpuSteps& gpus, GpuSteps& free) const {
  gpus.clear();
  for (std::size_t i = 0; i < own_.size(); ++i) {
    if (i == 0 || own_[i] != own_[i - 1]) gpus.push_back({at_[i], own_[i]});
  }
  free.clear();
  bool back = !gives_back_;
  const auto step = [&free](std::int64_t at, int count) {
    if (free.empty() || free.back().gpus != count) free.push_back({at, count});
  };
  for (std::size_t i = 0; i < steps_; ++i) {
    if (!back && at_[i] >= end_) {
      back = true;
      step(end_, back_);
      if (at_[i] == end_) continue;
    }
    step(at_[i], rest_[i]);
  }
  if (!back) step(end_, back_);
}

// Holds the GPUs asked for until the next change of what is free. Answers whether that is enough.
bool SlotPlanner::finish_at_once(const Request& request) {
  const double speed = request.levels->speed_on(request.now_gpus);
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

// The lowest level that is enough, and the step from which it is needed.
SlotPlanner::Start SlotPlanner::start_by_deadline(const Request& request, const int* free) const {
  if (due_ < now_) return {};
  const Levels& levels = *request.levels;
  const int top = levels.fit(gpus_total_);
  for (int level = 1; level <= top; ++level) {
    double possible = 0;
    std::int64_t until = request.deadline;
    for (std::size_t i = due_step_; i-- > from_;) {
      const int fit = std::min(level, levels.fit(free[i]));
      if (fit > 0) {
        possible += static_cast<double>(until - at_[i]) * levels.speed(fit);
        if (possible >= left_) return {level, i};
      }
      until = at_[i];
    }
  }
  return {};
}

bool SlotPlanner::plan_by_deadline(const Request& request) {
  const Start start = start_by_deadline(request, rest_.data());
  if (start.level == 0) return false;
  open_until_deadline();
  walk(request, start.level, start.level - 1, start.step);
  return true;
}

std::int64_t SlotPlanner::weigh(const Request& request, const GpuSteps& free, const Held& held) {
  due_ = aligned(request.deadline);
  load(free, &held);
  from_ = 0;
  left_ = request.work_left;
  own_.assign(1, 0);
  rest_.assign(1, was_[0]);
  if (finish_at_once(request)) return gpu_seconds();
  const Start start = start_by_deadline(request, was_.data());
  if (start.level != 0 && from_ == 1) return weigh_walk(request, start);
  plan(request, free, &held);
  return gpu_seconds();
}

// What walk() would give, summed up instead of written down.
std::int64_t SlotPlanner::weigh_walk(const Request& request, const Start& start) {
  const Levels& levels = *request.levels;
  std::int64_t sum = request.now_gpus * (at_[1] - at_[0]);
  for (std::size_t i = from_; i < due_step_; ++i) {
    const int level = i >= start.step ? start.level : start.level - 1;
    const int fit = std::min(level, levels.fit(was_[i]));
    if (fit == 0) continue;
    const bool last = i + 1 == due_step_;
    const std::int64_t until = last ? request.deadline : at_[i + 1];
    const double iterations = static_cast<double>(until - at_[i]) * levels.speed(fit);
    if (i < start.step || iterations < left_) {
      left_ -= iterations;
      sum += levels.gpus(fit) * (at_[i + 1] - at_[i]);
      continue;
    }
    if (!last) return sum + levels.gpus(fit) * (at_[i + 1] - at_[i]);
    const auto needed = static_cast<std::int64_t>(std::ceil(left_ / levels.speed(fit)));
    return sum + levels.gpus(fit) * ((needed + slot_ - 1) / slot_ * slot_);
  }
  const int fit = std::clamp(levels.fit(was_[due_step_]), 1, start.level);
  const auto needed = static_cast<std::int64_t>(std::ceil(left_ / levels.speed(fit)));
  return sum + levels.gpus(fit) * ((needed + slot_ - 1) / slot_ * slot_);
}

// Fixes a plan: the lower level before step `from`, the higher one afterwards, each as far as it
// fits.
void SlotPlanner::walk(const Request& request, int level, int level_before, std::size_t from) {
  const Levels& levels = *request.levels;
  gives_back_ = true;
  for (std::size_t i = from_; i < due_step_; ++i) {
    const int fit = std::min(i >= from ? level : level_before, levels.fit(rest_[i]));
    own_[i] = levels.gpus(fit);
    rest_[i] -= own_[i];
    if (fit == 0) continue;
    const std::int64_t until = i + 1 == due_step_ ? request.deadline : at_[i + 1];
    const double iterations = static_cast<double>(until - at_[i]) * levels.speed(fit);
    if (i < from || iterations < left_) {
      left_ -= iterations;
      continue;
    }
    const auto needed = static_cast<std::int64_t>(std::ceil(left_ / levels.speed(fit)));
    done_ = at_[i] + needed;
    end_ = at_[i] + (needed + slot_ - 1) / slot_ * slot_;
    gives_back_ = !known(end_);
    back_ = was_[i];
    return;
  }
  // Rounding alone left something over; it is done in the deadline's own slot.
  const int fit = std::clamp(levels.fit(rest_[due_step_]), 1, level);
  own(due_step_, levels.gpus(fit));
  rest_[due_step_] -= levels.gpus(fit);
  const auto needed = static_cast<std::int64_t>(std::ceil(left_ / levels.speed(fit)));
  done_ = due_ + needed;
  end_ = due_ + (needed + slot_ - 1) / slot_ * slot_;
  gives_back_ = !known(end_);
  back_ = was_[due_step_];
}

// No level meets the deadline: the highest one up to it, and then whatever fits.
void SlotPlanner::plan_late(const Request& request) {
  const Levels& levels = *request.levels;
  const int top = levels.fit(gpus_total_);
  std::size_t last = from_;
  if (due_ >= now_) {
    open_until_deadline();
    for (std::size_t i = from_; i < due_step_; ++i) {
      const int fit = std::min(top, levels.fit(rest_[i]));
      own_[i] = levels.gpus(fit);
      rest_[i] -= own_[i];
      const std::int64_t until = i + 1 == due_step_ ? request.deadline : at_[i + 1];
      if (fit > 0) left_ -= static_cast<double>(until - at_[i]) * levels.speed(fit);
    }
    last = std::max(due_step_, from_);
  }
  if (after_deadline(request, last)) return;
  const int gpus = request.now_gpus > 0 ? request.now_gpus : levels.gpus(top);
  own(last, gpus);
  const double done = static_cast<double>(at_[last]) + left_ / levels.speed_on(gpus);
  done_ = static_cast<std::int64_t>(std::ceil(done));
  end_ = aligned(done_);
  rest_[last] = gpus_total_ - gpus;
  gives_back_ = true;
  back_ = gpus_total_;
}

bool SlotPlanner::after_deadline(const Request& request, std::size_t& last) {
  const Levels& levels = *request.levels;
  for (; last + 1 < steps_; ++last) {
    const int fit = levels.fit(rest_[last]);
    own(last, levels.gpus(fit));
    if (fit == 0) continue;
    const double speed = levels.speed(fit);
    const double iterations = static_cast<double>(at_[last + 1] - at_[last]) * speed;
    const int before = rest_[last];
    rest_[last] -= levels.gpus(fit);
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
