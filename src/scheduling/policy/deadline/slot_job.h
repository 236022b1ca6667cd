#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "model/view.h"
#include "scheduling/policy/deadline/elastic_clock.h"
#include "scheduling/prediction/scaling_curve.h"

namespace orrery {

// A job that is planned in slots, in whole seconds.
struct SlotJob {
  JobId id = kNoJob;
  ScalingCurve curve;
  std::int64_t deadline = kNoDeadline_s;
  bool soft = false;  // its deadline is never promised
  bool is_new = true;
  double work_left = 0;  // iterations

  // Plans are made in this order: by deadline, soft deadlines after hard ones.
  std::pair<int, std::int64_t> rank() const {
    return {deadline == kNoDeadline_s ? 2 : soft ? 1 : 0, deadline};
  }
};

// The jobs that a policy plans in slots, those in line and one that asks to be admitted.
template <class Planned>
class SlotJobs {
 public:
  std::vector<Planned*> line;

  // Jobs that ended leave the line; the others have their work left as of now.
  void update(const View& view, const ElasticClock& clock) {
    std::erase_if(line, [&](const Planned* job) { return view.has_ended(job->id); });
    for (const JobId id : view.ended) forget(id);
    for (Planned* job : line) refresh(view, clock, *job);
  }
  // Not in line yet. A soft deadline counts as a hard one unless there is an admission.
  Planned* enter(const View& view, const ElasticClock& clock, JobId id, int gpus_max, bool admits) {
    const JobSpec& spec = view.spec(id);
    if (by_id_.size() <= index(id)) by_id_.resize(index(id) + 1);
    by_id_[index(id)] = std::make_unique<Planned>();
    Planned& job = *by_id_[index(id)];
    job.id = id;
    job.curve = measured_options(*view.workload, spec, gpus_max);
    job.soft = admits && spec.deadline && spec.deadline_kind == DeadlineKind::Soft;
    refresh(view, clock, job);
    return &job;
  }
  void forget(JobId id) { by_id_[index(id)].reset(); }

 private:
  static void refresh(const View& view, const ElasticClock& clock, Planned& job) {
    job.work_left = view.work_left(job.id);
    if (const auto& deadline = view.spec(job.id).deadline) job.deadline = clock.second(*deadline);
  }

  std::vector<std::unique_ptr<Planned>> by_id_;
};

}  // namespace orrery
