#pragma once

#include <memory>
#include <vector>

#include "scheduling/policy/deadline/edf_plan.h"
#include "scheduling/policy/deadline/elastic.h"
#include "scheduling/policy/deadline/elastic_clock.h"
#include "scheduling/policy/deadline/elastic_grants.h"

namespace orrery {

// Earliest deadline first: all jobs are planned as EdfPlan does. With admission a job comes in if
// all jobs are then in time; one with a soft deadline is promised nothing and never refused.
class Edf : public Policy {
 public:
  Edf(const EdfOptions& options, std::unique_ptr<ElasticGrants> grants);

  bool adopt(const View& view, Packer& packer, JobId job, Grant& grant) override;
  void plan(const View& view, Packer& packer, Plan& plan) override;

 protected:
  // What a variant may do otherwise. Of a newcomer with which not all jobs would be in time: true
  // if it is refused.
  virtual bool refuses(const EdfJob& newcomer);
  // Says when a job will be done; `admitted`: a job was admitted in this plan.
  virtual void forecast(const EdfJob& job, bool admitted, Plan& plan) const;

  const ElasticClock& clock() const { return clock_; }

 private:
  EdfJob* enter(const View& view, JobId id);
  void enter_all(const View& view);
  bool admit(const View& view, Plan& plan);
  void write(const View& view, Packer& packer, Plan& plan, bool admitted);

  const EdfOptions options_;
  ElasticClock clock_;
  EdfPlan edf_;
  const std::unique_ptr<ElasticGrants> grants_;
  int gpus_total_ = 0;
  SlotJobs<EdfJob> jobs_;
  EdfLine tried_;
  std::vector<ElasticGrants::Request> requests_;
};

std::unique_ptr<Policy> make_edf(const EdfOptions& options, std::unique_ptr<ElasticGrants> grants);

}  // namespace orrery
