#include "live/daemon/rights/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "live/daemon/policy/job_spec.h"

namespace orrery {
namespace {

constexpr std::size_t kBucketsMax = 10'000;
constexpr double kMinute_s = 60;

struct Holder {
  LimitScope scope{};
  const std::string& name;
  Limits limits{};
};

// The users and tenants with limits that bind the claim.
std::array<Holder, 2> holders(const Entitlements& entitlements, const JobRequest& job) {
  const std::string& tenant = tenant_of(job);
  return {{{LimitScope::User, job.user, entitlements.of_user(job.user)},
           {LimitScope::Tenant, tenant, entitlements.of_tenant(tenant)}}};
}

bool is_admin(const Claim& claim) { return claim.caller.role == Caller::Role::Admin; }

}  // namespace

void PendingJobs::add(const JobRequest& request, std::int64_t count) {
  change(users_, request.user, count);
  change(tenants_, tenant_of(request), count);
}

std::int64_t PendingJobs::count(const Counts& counts, const std::string& name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

void PendingJobs::change(Counts& counts, const std::string& name, std::int64_t by) {
  const auto [place, added] = counts.try_emplace(name, 0);
  place->second += by;
  if (place->second == 0) counts.erase(place);
}

Status check_claim(const Entitlements& entitlements, const Claim& claim) {
  const JobRequest& job = claim.job;
  const std::string& tenant = tenant_of(job);
  if (!is_admin(claim) && !entitlements.is_member(claim.caller, tenant)) {
    return Error{Code::PermissionDenied,
                 fmt::format("tenant: {0} is not a member of {1}; an administrator adds members "
                             "with `orrery tenants {1} --add {0}`",
                             job.user, tenant)};
  }
  const int ceiling = entitlements.priority_max(job.user, tenant);
  if (!is_admin(claim) && job.priority > ceiling) {
    return Error{Code::PermissionDenied,
                 fmt::format("priority: {1} asks for {0}, and the highest for user {1} in tenant "
                             "{2} is {3}; `orrery limits` shows the limits",
                             job.priority, job.user, tenant, ceiling)};
  }
  const std::int64_t gpus = std::max(job.gpus, job.gpus_max);
  for (const Holder& holder : holders(entitlements, job)) {
    if (is_within(gpus, *holder.limits.gpus)) continue;
    return Error{Code::FailedPrecondition,
                 fmt::format("gpus: the job asks for {}, and {} {} may use {} at a time", gpus,
                             to_string(holder.scope), holder.name, *holder.limits.gpus)};
  }
  return {};
}

Status check_pending(const Entitlements& entitlements, const Claim& claim,
                     const PendingJobs& pending) {
  if (is_admin(claim)) return {};
  for (const Holder& holder : holders(entitlements, claim.job)) {
    const std::int64_t waiting = holder.scope == LimitScope::User ? pending.of_user(holder.name)
                                                                  : pending.of_tenant(holder.name);
    if (is_within(waiting + claim.count, *holder.limits.pending)) continue;
    return Error{Code::ResourceExhausted,
                 fmt::format("{} {} has {} jobs that wait, and this submission adds {}; the limit "
                             "is {}",
                             to_string(holder.scope), holder.name, waiting, claim.count,
                             *holder.limits.pending)};
  }
  return {};
}

SubmissionRates::Bucket& SubmissionRates::brought_up_to(Time now, LimitScope scope,
                                                        const std::string& name,
                                                        std::int64_t limit) {
  const auto [place, added] = buckets_.try_emplace({scope, name}, Bucket{.at = now});
  Bucket& bucket = place->second;
  const double passed_s = seconds(std::max(now, bucket.at) - bucket.at);
  bucket.used = std::max(0.0, bucket.used - passed_s * static_cast<double>(limit) / kMinute_s);
  bucket.at = std::max(now, bucket.at);
  return bucket;
}

void SubmissionRates::drop_empty() {
  std::erase_if(buckets_, [](const auto& one) { return one.second.used <= 0; });
}

Status SubmissionRates::take(const Entitlements& entitlements, const Claim& claim, Time now) {
  if (is_admin(claim)) return {};
  if (buckets_.size() > kBucketsMax) drop_empty();
  std::array<Bucket*, 2> counted{};
  std::size_t place = 0;
  for (const Holder& holder : holders(entitlements, claim.job)) {
    const std::int64_t limit = *holder.limits.submissions;
    if (limit == kNoLimit) continue;
    Bucket& bucket = brought_up_to(now, holder.scope, holder.name, limit);
    if (bucket.used + 1 > static_cast<double>(limit)) {
      const std::string when =
          limit == 0 ? ""
                     : fmt::format("; try again in {:.0f} s",
                                   std::ceil((bucket.used + 1 - static_cast<double>(limit)) *
                                             kMinute_s / static_cast<double>(limit)));
      return Error{Code::ResourceExhausted,
                   fmt::format("{} {} may make {} submissions a minute, and has made them{}",
                               to_string(holder.scope), holder.name, limit, when)};
    }
    counted[place++] = &bucket;
  }
  for (Bucket* bucket : counted) {
    if (bucket != nullptr) ++bucket->used;
  }
  return {};
}

}  // namespace orrery
