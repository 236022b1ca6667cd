#include "scheduling/policy/deadline/edf_plan.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace orrery {
namespace {

bool is_late(const EdfJob* entry) { return !entry->soft && entry->new_end > entry->deadline; }

std::int64_t done(std::int64_t at, double left, double speed) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(at) + left / speed));
}

}  // namespace

EdfPlan::EdfPlan(Duration slot)
    : slot_(std::max<std::int64_t>(
          1, std::chrono::duration_cast<std::chrono::seconds>(slot).count())) {}

bool EdfPlan::plan_all(EdfLine& line, Asked asked) {
  if (!std::ranges::is_sorted(line, {}, &EdfJob::rank)) {
    std::ranges::stable_sort(line, {}, &EdfJob::rank);
  }
  free_.reset(now_, gpus_total_);
  for (EdfJob* entry : line) {
    entry->new_gpus = 0;
    if (asked == Asked::Ends || free_.gpus(0) > 0) plan_one(*entry);
  }
  return asked == Asked::Ends && std::ranges::none_of(line, is_late);
}

bool EdfPlan::harms_no_job(const EdfJob& newcomer, const EdfLine& before, EdfLine& with) {
  if (newcomer.deadline == kNoDeadline_s || newcomer.soft) return true;
  if (is_late(&newcomer)) return false;
  late_.clear();
  std::ranges::copy_if(before, std::back_inserter(late_), is_late);
  without_.assign(before.begin(), before.end());
  plan_all(without_);
  const bool late_anyway = std::ranges::all_of(late_, is_late);
  plan_all(with);
  return late_anyway;
}

void EdfPlan::plan_one(EdfJob& entry) {
  double left = entry.work_left;
  std::size_t at = 0;
  int available = free_.gpus(0);
  for (std::size_t i = 1; i < free_.size(); ++i) {
    const int gpus = available >= entry.curve.gpus_max() ? entry.curve.gpus_max()
                                                         : entry.curve.gpus_within(available);
    if (at == 0) entry.new_gpus = gpus;
    if (gpus > 0) {
      const double speed = entry.curve.speed_within(gpus);
      const std::int64_t end = done(free_.from(at), left, speed);
      if (free_.from(i) >= end) {
        conclude(entry, at, gpus, end);
        return;
      }
      left -= static_cast<double>(free_.from(i) - free_.from(at)) * speed;
      free_.take_in_step(at, gpus);
    }
    available = free_.gpus(i);
    at = i;
  }
  if (at == 0) entry.new_gpus = entry.curve.gpus_max();
  const std::int64_t end =
      done(free_.from(at), left, entry.curve.speed_within(entry.curve.gpus_max()));
  entry.new_end = end;
  free_.set(free_.from(at), gpus_total_ - entry.curve.gpus_max());
  free_.set(aligned(end), gpus_total_);
  free_.merge();
}

// It ends before the next step. What it held is free again from the end of its slot on, even where
// a step of others begins just there.
void EdfPlan::conclude(EdfJob& entry, std::size_t at, int gpus, std::int64_t end) {
  entry.new_end = end;
  const int before = free_.gpus(at);
  const bool known = free_.from(free_.step_at(end)) == end;
  free_.take_in_step(at, gpus);
  if (!known) free_.set(aligned(end), before);
  free_.merge();
}

std::int64_t EdfPlan::aligned(std::int64_t at) const {
  return now_ + (at - now_ + slot_ - 1) / slot_ * slot_;
}

}  // namespace orrery
