#include "scheduling/policy/order/themis.h"

#include <algorithm>
#include <cmath>

#include "scheduling/policy/order/fair_shares.h"
#include "scheduling/policy/order/in_order.h"

namespace orrery {

Themis::Themis(const ThemisOptions& options)
    : options_(options), grouper_(*options.workload, {.packing = 1}, options.contention) {}

void Themis::plan(const View& view, Packer& packer, Plan& plan) {
  update_line(view);
  if (line_.empty()) return;
  news_ = news_ || !view.arrived.empty() || !view.ended.empty() || ranks_in_every_lease();
  if (news_ && view.now >= lease_ends_) {
    news_ = false;
    lease_ends_ = view.now + options_.lease;
    rank(view, packer.current().gpus_total());
    place(view, packer, plan);
  } else {
    fill_idle(view, packer, plan);
  }
  const bool waits = runs_count_ < line_.size();
  const bool ranks_again = news_ || (ranks_in_every_lease() && lease_ends_ > view.now);
  if (ranks_again && waits) plan.wake(lease_ends_);
}

void Themis::update_line(const View& view) {
  // Those that ran until now or until the last plan; what is known of all others still holds.
  std::size_t kept = 0;
  for (const JobId job : running_) {
    Entry* entry = entry_of(job);
    if (entry == nullptr) continue;
    refresh(view, *entry);
    if (entry->runs) running_[kept++] = job;
  }
  running_.resize(kept);
  for (const JobId job : view.ended) {
    if (Entry* entry = entry_of(job)) {
      entry->job = kNoJob;
      place_of_job_[index(job)] = -1;
    }
  }
  if (!view.ended.empty()) {
    std::erase_if(running_, [&](JobId job) { return entry_of(job) == nullptr; });
    std::erase_if(line_, [](const Entry& entry) { return entry.job == kNoJob; });
    number_places(view);
  }
  for (const JobId job : view.arrived) join(view, job);
  runs_count_ = running_.size();
}

void Themis::join(const View& view, JobId job) {
  const JobSpec& spec = view.spec(job);
  place_of_job_.resize(view.jobs.size(), -1);
  place_of_job_[index(job)] = static_cast<std::int32_t>(line_.size());
  Entry& entry = line_.emplace_back();
  entry.job = job;
  entry.gpus = spec.gpus;
  entry.shape = view.job(job).shape;
  entry.alone_s = spec.iteration_s * options_.contention.factor(1);
  entry.submitted = spec.submitted;
  refresh(view, entry);
  entry.work_before = entry.work;
  if (entry.runs) running_.push_back(job);
}

Themis::Entry* Themis::entry_of(JobId job) {
  const std::int32_t place =
      index(job) < place_of_job_.size() ? place_of_job_[index(job)] : std::int32_t{-1};
  return place < 0 ? nullptr : &line_[static_cast<std::size_t>(place)];
}

void Themis::number_places(const View& view) {
  place_of_job_.resize(view.jobs.size(), -1);
  for (std::size_t i = 0; i < line_.size(); ++i) {
    place_of_job_[index(line_[i].job)] = static_cast<std::int32_t>(i);
  }
}

void Themis::refresh(const View& view, Entry& entry) {
  const Job& job = view.job(entry.job);
  entry.runs = job.state == JobState::Running;
  entry.work = view.work_left(entry.job);
  entry.had_s = seconds(job.attained_at(view.now));
}

void Themis::set_runs(Entry& entry, bool runs) {
  if (runs && !entry.runs) running_.push_back(entry.job);
  runs_count_ += runs ? 1 : 0;
  runs_count_ -= entry.runs ? 1 : 0;
  entry.runs = runs;
}

double Themis::isolated_rate(const Entry& job, double fraction) const {
  return fraction / job.alone_s;
}

Themis::Merit Themis::merit(const Entry& job, double share) const {
  const double share_of_had = job.had_s == 0 ? share * 1e9 : share / job.had_s;
  return {share_of_had, job.due_s - job.had_s, share};
}

void Themis::rank(const View& view, int gpus) {
  fair_.clear();
  const Time until = elapsed_until(view);
  const double equal = std::ceil(static_cast<double>(gpus) / static_cast<double>(line_.size()));
  for (Entry& entry : line_) {
    // One that takes longer than expected is always about to end.
    const double work = entry.work > 0 ? entry.work : 1;
    const double rate = isolated_rate(entry, std::min(1.0, equal / entry.gpus));
    entry.isolated_so_far += std::max(0.0, entry.work_before - work) / entry.rate_before;
    entry.work_before = work;
    entry.rate_before = rate;
    fair_.push_back({.gpus = static_cast<double>(entry.gpus),
                     .elapsed_s = seconds(until - entry.submitted),
                     .remaining_s = work * entry.alone_s,
                     .isolated = entry.isolated_so_far + work / rate});
  }
  fair_shares(fair_, gpus, options_.leftover, shares_);
  merits_.clear();
  for (std::size_t i = 0; i < line_.size(); ++i) {
    merits_.push_back(merit(line_[i], shares_[i]));
    merits_.back().place = static_cast<std::uint32_t>(i);
    line_[i].due_s += shares_[i] * seconds(view.now - last_rank_);
  }
  last_rank_ = view.now;
  if (std::ranges::is_sorted(merits_, std::less<>())) return;
  // By merging: what was laid out last is some sorted stretches, on which quicksort does badly.
  std::stable_sort(merits_.begin(), merits_.end());
  reorder(view, merits_);
}

void Themis::reorder(const View& view, std::span<const Merit> line) {
  sorted_.clear();
  for (const Merit& merit : line) sorted_.push_back(line_[merit.place]);
  line_.swap(sorted_);
  number_places(view);
}

void Themis::place(const View& view, Packer& packer, Plan& plan) {
  assigned_.clear();
  const bool counting = packer.counting_is_enough();
  int gpus_free = packer.current().gpus_total();
  for (const Entry& entry : line_) {
    if (counting && entry.gpus > gpus_free) continue;
    gpus_free -= entry.gpus;
    assigned_.push_back(
        {.group = grouper_.single(entry.job), .shape = entry.shape, .gpus = entry.gpus});
  }
  assignment_.assign(view, packer, assigned_);
  assigned_at_.assign(line_.size(), -1);
  for (std::size_t i = 0; i < assigned_.size(); ++i) {
    const std::int32_t place = place_of_job_[index(assigned_[i].group.jobs[0])];
    assigned_at_[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(i);
  }
  for (std::size_t place = 0; place < line_.size(); ++place) {
    Entry& entry = line_[place];
    const std::int32_t found = assigned_at_[place];
    if (found < 0 && !entry.runs && !entry.is_new) continue;
    Grant& grant = plan.grant(entry.job);
    if (found >= 0) grant.devices = assigned_[static_cast<std::size_t>(found)].devices;
    conclude(view, packer, plan, entry, found >= 0, grant);
  }
}

void Themis::conclude(const View& view, const Packer& packer, Plan& plan, Entry& entry, bool runs,
                      Grant& grant) {
  const bool ran = entry.runs;
  set_runs(entry, runs);
  if (runs) {
    fill_exclusive(grant, view.spec(entry.job));
  } else {
    plan.withdraw_last_grant();
    if (ran) {
      plan.stop(entry.job, {.code = Reason::Code::Outranked});
    } else if (entry.is_new) {
      plan.wait(entry.job, packer.why_not(packer.current(), entry.shape));
    }
  }
  entry.is_new = false;
}

void Themis::fill_idle(const View& view, Packer& packer, Plan& plan) {
  const bool arrived = !view.arrived.empty();
  if (packer.current().gpus_free() == 0 && !arrived) return;
  for (Entry& entry : line_) {
    if (entry.runs || (entry.gpus > packer.current().gpus_free() && !entry.is_new)) continue;
    Grant& grant = plan.grant(entry.job);
    const bool runs = packer.place(packer.current(), entry.shape, grant.devices);
    conclude(view, packer, plan, entry, runs, grant);
  }
}

std::unique_ptr<Policy> make_themis(const ThemisOptions& options) {
  return std::make_unique<Themis>(options);
}

}  // namespace orrery
