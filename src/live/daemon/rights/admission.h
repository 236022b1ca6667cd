#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "live/api/job_request.h"
#include "live/daemon/rights/entitlements.h"

// Decides if a submission is taken, by the rights that the request claims and by limits. Every
// refusal says the limit's number.

namespace orrery {

// One submission: its caller, its job, and how many jobs it makes. The request names its user.
struct Claim {
  const Caller& caller;
  const JobRequest& job;
  std::int64_t count = 1;
};

// The jobs that wait, by user and by tenant.
class PendingJobs {
 public:
  void add(const JobRequest& request, std::int64_t count);
  const std::unordered_map<std::string, std::int64_t>& users() const { return users_; }
  std::int64_t of_user(const std::string& user) const { return count(users_, user); }
  std::int64_t of_tenant(const std::string& tenant) const { return count(tenants_, tenant); }

 private:
  using Counts = std::unordered_map<std::string, std::int64_t>;
  static std::int64_t count(const Counts& counts, const std::string& name);
  static void change(Counts& counts, const std::string& name, std::int64_t by);

  Counts users_;
  Counts tenants_;
};

// The tenant, the priority and the number of GPUs that a job asks for. An admin may claim any
// tenant and any priority.
Status check_claim(const Entitlements& entitlements, const Claim& claim);
// Admins are not bound: they set the limits.
Status check_pending(const Entitlements& entitlements, const Claim& claim,
                     const PendingJobs& pending);

// Counts submissions, in memory only: a restart begins with none. Each user and each tenant has a
// bucket that holds a minute's submissions and fills evenly.
class SubmissionRates {
 public:
  // Counts one submission, or says when the next is taken. Admins are not counted.
  Status take(const Entitlements& entitlements, const Claim& claim, Time now);

 private:
  struct Bucket {
    double used = 0;  // empties by the limit a minute
    Time at{};
  };
  using Buckets = std::map<std::pair<LimitScope, std::string>, Bucket>;
  Bucket& brought_up_to(Time now, LimitScope scope, const std::string& name, std::int64_t limit);
  void drop_empty();

  Buckets buckets_;
};

}  // namespace orrery
