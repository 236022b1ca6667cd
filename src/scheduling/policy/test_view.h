#pragma once

#include <deque>
#include <vector>

#include "model/view.h"

namespace orrery {

// For tests: jobs as a policy sees them, set up by hand, in seconds.
class TestView final : public Progress {
 public:
  Workload workload;
  Cluster cluster;
  std::vector<JobId> arrived;
  std::vector<JobId> ended;

  JobSpec& add(double submitted_s, double iterations, int gpus = 1, double start_s = 0) {
    JobSpec& spec = workload.jobs.emplace_back();
    spec.id = static_cast<JobId>(workload.jobs.size() - 1);
    spec.submitted = time_from_seconds(submitted_s);
    spec.iterations = iterations;
    spec.iteration_s = 1;
    spec.gpus = gpus;
    spec.start_cost = from_seconds(start_s);
    Job& job = jobs_.emplace_back();
    job.work_left = iterations;
    return spec;
  }
  Job& job(int id) { return jobs_[static_cast<std::size_t>(id)]; }

  void run(int id, double since_s, double ready_s = 0) {
    job(id).state = JobState::Running;
    job(id).run_since = job(id).worked_until = time_from_seconds(since_s);
    job(id).ready = time_from_seconds(ready_s);
  }
  void pause(int id, double at_s) {
    job(id).attained = job(id).attained_at(time_from_seconds(at_s));
    job(id).worked = job(id).worked_at(time_from_seconds(at_s));
    job(id).state = JobState::Paused;
  }

  View at(double now_s) {
    running_.clear();
    listed_.clear();
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      jobs_[i].spec = &workload.jobs[i];
      listed_.push_back(&jobs_[i]);
      if (jobs_[i].state == JobState::Running) running_.push_back(static_cast<JobId>(i));
    }
    View view;
    view.now = time_from_seconds(now_s);
    view.workload = &workload;
    view.cluster = &cluster;
    view.jobs = JobList(listed_);
    view.running = running_;
    view.arrived = arrived;
    view.ended = ended;
    view.progress = this;
    return view;
  }
  double work_left(JobId id) const override { return jobs_[index(id)].work_left; }

 private:
  std::vector<Job> jobs_;
  std::vector<const Job*> listed_;
  std::vector<JobId> running_;
};

}  // namespace orrery
