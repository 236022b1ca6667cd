#include "scheduling/policy/deadline/edf.h"

#include <algorithm>
#include <utility>

#include "scheduling/policy/adopt.h"

namespace orrery {
namespace {

void accept(EdfEntry& job) {
  job.gpus = job.new_gpus;
  job.end = job.new_end;
  job.started = job.started || job.gpus > 0;
}

}  // namespace

Edf::Edf(const EdfOptions& options, std::unique_ptr<ElasticGrants> grants)
    : options_(options), edf_(options.slot), grants_(std::move(grants)) {}

bool Edf::adopt(const View& view, Packer& /*packer*/, JobId job, Grant& grant) {
  return adopt_elastic(view, job, grant);
}

void Edf::plan(const View& view, Packer& packer, Plan& plan) {
  clock_.set(view.now);
  gpus_total_ = packer.current().gpus_total();
  edf_.set(clock_.now_s(), gpus_total_);
  forget_ended(view);
  for (EdfEntry* job : line_) refresh(view, *job);
  if (!options_.admits) enter_all(view);
  const bool admitted = options_.admits && admit(view, plan);
  if (!admitted) {
    edf_.plan_all(line_, options_.admits ? EdfPlan::Asked::Ends : EdfPlan::Asked::WhoRuns);
    for (EdfEntry* job : line_) accept(*job);
  }
  write(view, packer, plan, admitted);
}

void Edf::forget_ended(const View& view) {
  std::erase_if(line_, [&](const EdfEntry* job) { return view.has_ended(job->job); });
  for (const JobId job : view.ended) entries_[index(job)].reset();
}

void Edf::refresh(const View& view, EdfEntry& job) const {
  const JobSpec& spec = view.spec(job.job);
  job.work_left = view.work_left(job.job);
  job.deadline = spec.deadline ? clock_.second(*spec.deadline) : kNoDeadline_s;
}

EdfEntry* Edf::enter(const View& view, JobId job) {
  const JobSpec& spec = view.spec(job);
  const int most = std::min(options_.most_gpus(*view.workload, spec), gpus_total_);
  if (entries_.size() <= index(job)) entries_.resize(index(job) + 1);
  auto& entry = entries_[index(job)];
  entry = std::make_unique<EdfEntry>(
      EdfEntry{.job = job, .curve = measured_options(*view.workload, spec, most)});
  entry->most = entry->curve.gpus_max();
  entry->soft = options_.admits && spec.deadline && spec.deadline_kind == DeadlineKind::Soft;
  refresh(view, *entry);
  return entry.get();
}

void Edf::enter_all(const View& view) {
  for (const JobId job : view.arrived) {
    EdfEntry* entry = enter(view, job);
    const auto place = std::ranges::upper_bound(line_, entry->deadline, {}, &EdfEntry::deadline);
    line_.insert(place, entry);
  }
}

// One by one. Answers whether any job was admitted.
bool Edf::admit(const View& view, Plan& plan) {
  bool any = false;
  for (const JobId job : view.arrived) {
    EdfEntry* entry = enter(view, job);
    if (is_in(view.job(job))) {
      line_.push_back(entry);
      continue;
    }
    trial_.assign(line_.begin(), line_.end());
    trial_.push_back(entry);
    if (!edf_.plan_all(trial_) && !entry->soft && refuses(*entry)) {
      const bool past = entry->deadline <= clock_.now_s();
      plan.reject(job, past ? Reason{.code = Reason::Code::DeadlinePast}
                            : Reason{.code = Reason::Code::Promised,
                                     .wanted = entry->most,
                                     .available = edf_.free_now(),
                                     .from = view.now,
                                     .until = clock_.instant(entry->deadline),
                                     .earliest = clock_.instant(entry->new_end)});
      entries_[index(job)].reset();
      continue;
    }
    line_.push_back(entry);
    for (EdfEntry* other : line_) accept(*other);
    if (entry->deadline != kNoDeadline_s && !entry->soft) {
      plan.admit(job, clock_.instant(entry->end));
    }
    any = true;
  }
  return any;
}

bool Edf::refuses(const EdfEntry& newcomer) { return !edf_.harmless(newcomer, line_, trial_); }

void Edf::forecast(const EdfEntry& job, bool /*admitted*/, Plan& plan) const {
  if (job.gpus > 0) plan.expect({.job = job.job, .done = clock_.instant(job.end)});
}

void Edf::write(const View& view, Packer& packer, Plan& plan, bool admitted) {
  seats_.clear();
  for (EdfEntry* job : line_) {
    const bool is_new = std::exchange(job->is_new, false);
    const bool runs = view.job(job->job).state == JobState::Running;
    if (job->gpus > 0 || runs || is_new) {
      seats_.push_back({.job = job->job, .gpus = job->gpus, .is_new = is_new});
    }
    forecast(*job, admitted, plan);
  }
  grants_->write(view, packer, seats_, plan);
}

std::unique_ptr<Policy> make_edf(const EdfOptions& options, std::unique_ptr<ElasticGrants> grants) {
  return std::make_unique<Edf>(options, std::move(grants));
}

}  // namespace orrery
