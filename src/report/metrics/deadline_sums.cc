#include "report/metrics/deadline_sums.h"

namespace orrery {

void DeadlineSums::submit(const JobSpec& spec, JobId job) {
  ++stated_;
  if (spec.deadline_kind != DeadlineKind::Soft) return;
  if (soft_values_.size() <= index(job)) soft_values_.resize(index(job) + 1);
  soft_values_[index(job)] = spec.deadline_value;
}

void DeadlineSums::promise(double work_gpu_s) {
  ++promised_;
  promised_gpu_s_ += work_gpu_s;
}

void DeadlineSums::end(JobId job, bool met, bool breaks_promise) {
  met_ += met;
  broken_ += breaks_promise;
  if (met && index(job) < soft_values_.size()) value_won_ += soft_values_[index(job)];
}

void DeadlineSums::complete_without_deadline(Duration completion_time) {
  ++others_done_;
  others_took_s_ += seconds(completion_time);
}

void DeadlineSums::add_figures(RunSummary& summary) const {
  if (stated_ == 0) return;
  summary.deadlines_met = met_;
  summary.deadline_ratio = static_cast<double>(met_) / static_cast<double>(stated_);
  summary.promises = promised_;
  if (promised_ > 0) {
    summary.promises_broken = broken_;
    summary.admitted_gpu_s = promised_gpu_s_;
  }
  if (!soft_values_.empty()) summary.soft_value_won = value_won_;
  if (others_done_ > 0) {
    summary.best_effort_avg_jct_s = others_took_s_ / static_cast<double>(others_done_);
  }
}

}  // namespace orrery
