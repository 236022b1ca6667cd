#include "scheduling/policy/deadline/edf_plan.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace orrery {
namespace {

bool is_late(const EdfEntry* entry) { return !entry->soft && entry->new_end > entry->deadline; }

std::int64_t done(std::int64_t at, double left, double speed) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(at) + left / speed));
}

}  // namespace

EdfPlan::EdfPlan(Duration slot)
    : slot_(std::max<std::int64_t>(
          1, std::chrono::duration_cast<std::chrono::seconds>(slot).count())) {}

bool EdfPlan::plan_all(EdfLine& line, Asked asked) {
  if (!std::ranges::is_sorted(line, {}, &EdfEntry::turn)) {
    std::ranges::stable_sort(line, {}, &EdfEntry::turn);
  }
  free_.assign(1, {now_, gpus_total_});
  for (EdfEntry* entry : line) {
    entry->new_gpus = 0;
    if (asked == Asked::Ends || free_.front().gpus > 0) plan_one(*entry);
  }
  return asked == Asked::Ends && std::ranges::none_of(line, is_late);
}

bool EdfPlan::harmless(const EdfEntry& newcomer, const EdfLine& before, EdfLine& with) {
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

void EdfPlan::plan_one(EdfEntry& entry) {
  double left = entry.work_left;
  std::size_t at = 0;
  int available = free_.front().gpus;
  for (std::size_t i = 1; i < free_.size(); ++i) {
    const int gpus = available >= entry.most ? entry.most : entry.curve.gpus_within(available);
    if (at == 0) entry.new_gpus = gpus;
    if (gpus > 0) {
      const double speed = entry.curve.speed_within(gpus);
      const std::int64_t end = done(free_[at].at, left, speed);
      if (free_[i].at >= end) {
        conclude(entry, at, gpus, end);
        return;
      }
      left -= static_cast<double>(free_[i].at - free_[at].at) * speed;
      free_[at].gpus -= gpus;
    }
    available = free_[i].gpus;
    at = i;
  }
  if (at == 0) entry.new_gpus = entry.most;
  const std::int64_t end = done(free_[at].at, left, entry.curve.speed_within(entry.most));
  entry.new_end = end;
  free_[at].gpus = gpus_total_ - entry.most;
  set_free(aligned(end), gpus_total_);
  merge(free_);
}

// It ends before the next step. What it held is free again from the end of its slot on, even where
// a step of others begins just there, as released.
void EdfPlan::conclude(EdfEntry& entry, std::size_t at, int gpus, std::int64_t end) {
  entry.new_end = end;
  const int before = free_[at].gpus;
  const std::size_t next = step_from(free_, end);
  const bool known = next < free_.size() && free_[next].at == end;
  free_[at].gpus -= gpus;
  if (!known) set_free(aligned(end), before);
  merge(free_);
}

void EdfPlan::set_free(std::int64_t at, int gpus) {
  const std::size_t i = step_from(free_, at);
  if (i < free_.size() && free_[i].at == at) {
    free_[i].gpus = gpus;
  } else {
    free_.insert(free_.begin() + static_cast<std::ptrdiff_t>(i), {at, gpus});
  }
}

std::int64_t EdfPlan::aligned(std::int64_t at) const {
  return now_ + (at - now_ + slot_ - 1) / slot_ * slot_;
}

}  // namespace orrery
