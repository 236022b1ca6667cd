#pragma once

#include <deque>
#include <optional>

#include "scheduling/placement/packer.h"
#include "scheduling/policy/deadline/elastic_job.h"
#include "scheduling/policy/test_view.h"

namespace orrery {

// For tests: jobs on 1, 2, 4 or 8 GPUs, twice as fast on twice as many, in a cluster of equal
// nodes.
class ElasticScene {
 public:
  ElasticScene(int nodes, int gpus) {
    view_.cluster.nodes.resize(static_cast<std::size_t>(nodes));
    for (Node& node : view_.cluster.nodes) node.gpus = gpus;
    packer_.emplace(view_.cluster, view_.workload.names, make_buddy(0));
    std::vector<GpuOption> options;
    for (int count = 1; count <= 8; count *= 2) {
      options.push_back({count, count, double(count), packer_->intern({.gpus = count})});
    }
    curve_ = ScalingCurve::with_hull(std::move(options));
  }

  ElasticJob& add(double work = 100) {
    const JobSpec& spec = view_.add(0, work);
    ElasticJob& job = jobs_.emplace_back();
    job.id = spec.id;
    job.spec = &spec;
    job.curve = &curve_;
    job.now.work = work;
    return job;
  }
  // It runs there, and is to go on so.
  ElasticJob& run(const Devices& devices, double work = 100) {
    ElasticJob& job = add(work);
    view_.run(static_cast<int>(job.id), 0);
    view_.job(static_cast<int>(job.id)).held.devices = devices;
    job.now.held = job.round.target = curve_.option_of(gpu_count(devices));
    packer_->current().take(devices, packer_->shape(job.shape(job.now.held)));
    return job;
  }
  std::vector<ElasticJob*> jobs() {
    std::vector<ElasticJob*> jobs;
    for (ElasticJob& job : jobs_) jobs.push_back(&job);
    return jobs;
  }
  int option(int gpus) const { return curve_.option_of(gpus); }
  View view() { return view_.at(0); }
  Packer& packer() { return *packer_; }
  Ledger& ledger() { return packer_->current(); }

 private:
  TestView view_;
  std::optional<Packer> packer_;
  ScalingCurve curve_;
  std::deque<ElasticJob> jobs_;
};

}  // namespace orrery
