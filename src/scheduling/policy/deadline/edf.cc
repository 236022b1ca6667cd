#include "scheduling/policy/deadline/edf.h"

#include <algorithm>
#include <utility>

#include "scheduling/policy/adopt.h"

namespace orrery {
namespace {

void accept(EdfJob& job) {
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
  jobs_.update(view, clock_);
  if (!options_.admits) enter_all(view);
  const bool admitted = options_.admits && admit(view, plan);
  if (!admitted) {
    edf_.plan_all(jobs_.line, options_.admits ? EdfPlan::Asked::Ends : EdfPlan::Asked::WhichRun);
    for (EdfJob* job : jobs_.line) accept(*job);
  }
  write(view, packer, plan, admitted);
}

EdfJob* Edf::enter(const View& view, JobId id) {
  const int most = std::min(options_.most_gpus(*view.workload, view.spec(id)), gpus_total_);
  return jobs_.enter(view, clock_, id, most, options_.admits);
}

void Edf::enter_all(const View& view) {
  for (const JobId job : view.arrived) {
    EdfJob* entry = enter(view, job);
    const auto place = std::ranges::upper_bound(jobs_.line, entry->deadline, {}, &EdfJob::deadline);
    jobs_.line.insert(place, entry);
  }
}

// One by one. Answers whether any job was admitted.
bool Edf::admit(const View& view, Plan& plan) {
  bool any = false;
  for (const JobId job : view.arrived) {
    EdfJob* entry = enter(view, job);
    if (is_in(view.job(job))) {
      jobs_.line.push_back(entry);
      continue;
    }
    tried_.assign(jobs_.line.begin(), jobs_.line.end());
    tried_.push_back(entry);
    if (!edf_.plan_all(tried_) && !entry->soft && refuses(*entry)) {
      const bool past = entry->deadline <= clock_.now_s();
      plan.reject(job, past ? Reason{.code = Reason::Code::DeadlinePast}
                            : Reason{.code = Reason::Code::Promised,
                                     .wanted = entry->curve.gpus_max(),
                                     .available = edf_.free_now(),
                                     .from = view.now,
                                     .until = clock_.instant(entry->deadline),
                                     .earliest = clock_.instant(entry->new_end)});
      jobs_.forget(job);
      continue;
    }
    jobs_.line.push_back(entry);
    for (EdfJob* other : jobs_.line) accept(*other);
    if (entry->deadline != kNoDeadline_s && !entry->soft) {
      plan.admit(job, clock_.instant(entry->end));
    }
    any = true;
  }
  return any;
}

bool Edf::refuses(const EdfJob& newcomer) {
  return !edf_.harms_no_job(newcomer, jobs_.line, tried_);
}

void Edf::forecast(const EdfJob& job, bool /*admitted*/, Plan& plan) const {
  if (job.gpus > 0) plan.expect({.job = job.id, .done = clock_.instant(job.end)});
}

void Edf::write(const View& view, Packer& packer, Plan& plan, bool admitted) {
  requests_.clear();
  for (EdfJob* job : jobs_.line) {
    const bool is_new = std::exchange(job->is_new, false);
    const bool runs = view.job(job->id).state == JobState::Running;
    if (job->gpus > 0 || runs || is_new) {
      requests_.push_back({.job = job->id, .gpus = job->gpus, .is_new = is_new});
    }
    forecast(*job, admitted, plan);
  }
  grants_->write(view, packer, requests_, plan);
}

std::unique_ptr<Policy> make_edf(const EdfOptions& options, std::unique_ptr<ElasticGrants> grants) {
  return std::make_unique<Edf>(options, std::move(grants));
}

}  // namespace orrery
