#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/grant.h"
#include "model/reason.h"
#include "model/time.h"

namespace orrery {

// What is to change from now on. A job that is not named keeps what it holds, so a plan costs as
// much as it changes and not as much as there is.
class Plan {
 public:
  struct Verdict {
    JobId job = kNoJob;
    Reason reason;
  };
  struct Outlook {
    JobId job = kNoJob;
    Time done{};            // with what it is given now
    Time assured = kNever;  // with what is kept for it alone; kNever: nothing is
  };

  // A grant to fill in. Its memory is used again from plan to plan.
  Grant& grant(JobId job) {
    if (grants_used_ == grants_.size()) grants_.emplace_back();
    Grant& grant = grants_[grants_used_++];
    grant.job = job;
    grant.devices.clear();
    grant.cpu_milli = 0;
    grant.memory_bytes = 0;
    grant.sharing = Sharing::Exclusive;
    grant.group = kNoGroup;
    grant.position = 0;
    grant.iterations_per_s = 0;
    return grant;
  }
  void withdraw_last_grant() { --grants_used_; }
  void withdraw_all_grants() { grants_used_ = 0; }
  void stop(JobId job, const Reason& reason) { stops_.push_back({job, reason}); }
  void wait(JobId job, const Reason& reason) { waits_.push_back({job, reason}); }
  void reject(JobId job, const Reason& reason) { rejections_.push_back({job, reason}); }
  // Promises that the job will be done then, which is no later than its deadline.
  void admit(JobId job, Time done) { promises_.push_back({job, done, done}); }
  // Forecasts when a running job will be done, where a policy plans that far. Repeated whenever it
  // changes.
  void expect(const Outlook& outlook) { forecasts_.push_back(outlook); }
  // Asks to be asked again, even if nothing happens until then.
  void wake(Time at) {
    if (at < wake_at_) wake_at_ = at;
  }

  std::span<Grant> grants() { return {grants_.data(), grants_used_}; }
  std::span<const Grant> grants() const { return {grants_.data(), grants_used_}; }
  // A job that is stopped and granted in one plan moves.
  std::span<const Verdict> stops() const { return stops_; }
  bool only_grants() const { return stops_.empty() && rejections_.empty(); }
  // The first reason why a job waits, and each that differs from the last one.
  std::span<const Verdict> waits() const { return waits_; }
  std::span<const Verdict> rejections() const { return rejections_; }
  std::span<const Outlook> promises() const { return promises_; }
  std::span<const Outlook> forecasts() const { return forecasts_; }
  Time wake_at() const { return wake_at_; }

  void clear() {
    grants_used_ = 0;
    stops_.clear();
    waits_.clear();
    rejections_.clear();
    promises_.clear();
    forecasts_.clear();
    wake_at_ = kNever;
  }

 private:
  std::vector<Grant> grants_;
  std::size_t grants_used_ = 0;
  std::vector<Verdict> stops_;
  std::vector<Verdict> waits_;
  std::vector<Verdict> rejections_;
  std::vector<Outlook> promises_;
  std::vector<Outlook> forecasts_;
  Time wake_at_ = kNever;
};

}  // namespace orrery
