#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "scheduling/policy/deadline/elastic.h"
#include "scheduling/policy/deadline/elastic_clock.h"
#include "scheduling/policy/deadline/elastic_grants.h"

namespace orrery {

// Deadline jobs are admitted if the minimum satisfactory shares of all jobs fit in time; what is
// then free goes, step by step, to where it changes total GPU time most.
//
// After ElasticFlow (ASPLOS '23). Departure: a job with a soft deadline is planned after those with
// hard ones, is promised nothing and never refused.
class ElasticFlow : public Policy {
 public:
  ElasticFlow(const ElasticFlowOptions& options, std::unique_ptr<ElasticGrants> grants);

  bool adopt(const View& view, Packer& packer, JobId job, Grant& grant) override;
  void plan(const View& view, Packer& packer, Plan& plan) override;

 protected:
  // What a variant may do otherwise, in the order of a plan.
  virtual void begin(const View& /*view*/) {}
  virtual void entered(FlowJob& /*job*/, bool /*runs*/) {}
  virtual void planned() {}  // all jobs of the line
  virtual void given(const ScaleUp::Gift& /*gift*/) {}
  virtual const FlowLine& line_to_place() { return jobs_.line; }  // the first is placed first
  virtual void wake(Plan& plan);

  const ElasticClock& clock() const { return clock_; }
  const FlowLine& line() const { return jobs_.line; }

 private:
  std::int64_t slot_s() const;
  FlowJob* enter(const View& view, JobId id);
  bool plan_all(FlowLine& line);
  void admit(const View& view, Plan& plan);
  void admit_fresh(Plan& plan);
  bool fit();
  Reason refusal(const FlowJob& job) const;
  void write(const View& view, Packer& packer, Plan& plan);

  const ElasticFlowOptions options_;
  ElasticClock clock_;
  const std::unique_ptr<ElasticGrants> grants_;
  ScaleUp scale_up_;
  std::optional<SlotPlanner> planner_;
  int gpus_total_ = 0;
  bool planned_ = false;    // the line, by the last admission test
  SlotJobs<FlowJob> jobs_;  // in the order left by the last round
  FlowLine fresh_;
  FlowLine tried_;
  SlotTimeline free_;
  SlotTimeline next_free_;
  std::vector<ElasticGrants::Request> requests_;
};

std::unique_ptr<Policy> make_elasticflow(const ElasticFlowOptions& options,
                                         std::unique_ptr<ElasticGrants> grants);

}  // namespace orrery
