#include "scheduling/policy/deadline/fixed_placements.h"

#include <algorithm>

namespace orrery {

void FixedPlacements::begin(const View& view, Packer& packer, std::span<ElasticJob* const> jobs) {
  view_ = &view;
  packer_ = &packer;
  mark_ = packer.current().mark();
  for (const ElasticJob* job : jobs) {
    if (job == nullptr || job->now.held == 0 || job->promise.fixed) continue;
    packer.current().release(view.job(job->id).held.devices,
                             packer.shape(job->shape(job->now.held)));
  }
}

// 0: none is.
int FixedPlacements::lowest(const ElasticJob& job, Time due) const {
  const Time ready = view_->now + job.spec->start_cost;
  for (int option = 1; option < job.curve->size(); ++option) {
    const Duration needed = from_seconds(job.now.work / job.speed(option));
    if (ready < due && needed < due - ready) return option;
  }
  return 0;
}

// A job that runs fast enough already is promised to go on as it does.
bool FixedPlacements::stay(ElasticJob& job, Time due) {
  if (job.now.held == 0) return false;
  const Time ready = std::max(view_->now, job.now.ready);
  const Duration needed = from_seconds(job.now.work / job.speed(job.now.held));
  if (ready >= due || needed >= due - ready) return false;
  const Devices& held = view_->job(job.id).held.devices;
  const Shape& own = packer_->shape(job.shape(job.now.held));
  Ledger& ledger = packer_->current();
  if (!ledger.can_take(held, own)) return false;
  ledger.take(held, own);
  job.promise.place = held;
  job.round.target = job.now.held;
  job.promise.plan.done = ready + needed;
  return true;
}

bool FixedPlacements::admit(ElasticJob& job, Time due) {
  if (stay(job, due)) return job.promise.fixed = true;
  const int enough = lowest(job, due);
  for (int option = enough; option > 0 && option < job.curve->size(); ++option) {
    if (!packer_->place(packer_->current(), job.shape(option), job.promise.place)) continue;
    job.round.target = option;
    job.promise.plan.done =
        view_->now + job.spec->start_cost + from_seconds(job.now.work / job.speed(option));
    return job.promise.fixed = true;
  }
  return false;
}

Reason FixedPlacements::refusal(const ElasticJob& job, Time due) const {
  const int enough = lowest(job, due);
  return {.code = Reason::Code::Promised,
          .wanted = (*job.curve)[enough == 0 ? job.curve->top() : enough].gpus,
          .available = packer_->current().gpus_free(),
          .from = view_->now,
          .until = job.deadline,
          .earliest = kNever};
}

}  // namespace orrery
