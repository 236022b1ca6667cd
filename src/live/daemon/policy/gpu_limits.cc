#include "live/daemon/policy/gpu_limits.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace orrery {
namespace {

struct Use {
  std::int64_t limit = kNoLimit;
  std::int64_t used = 0;
};

using Uses = std::map<std::string, Use, std::less<>>;

template <class LimitOf>
Use& use_of(Uses& uses, std::string_view name, LimitOf limit_of) {
  auto found = uses.find(name);
  if (found == uses.end()) {
    found = uses.emplace(name, Use{.limit = limit_of(std::string(name))}).first;
  }
  return found->second;
}

bool counts_first(const GateJob& a, const GateJob& b) {
  return std::tuple(!a.runs, -a.priority, a.job) < std::tuple(!b.runs, -b.priority, b.job);
}

}  // namespace

std::vector<Held> take_over_limit(std::vector<GateJob>& jobs, const Entitlements& entitlements) {
  std::vector<Held> held;
  if (!entitlements.limits_gpus()) return held;
  std::ranges::sort(jobs, counts_first);
  Uses users;
  Uses tenants;
  std::erase_if(jobs, [&](const GateJob& job) {
    Use& user = use_of(users, job.user,
                       [&](const std::string& name) { return *entitlements.of_user(name).gpus; });
    Use& tenant = use_of(tenants, job.tenant, [&](const std::string& name) {
      return *entitlements.of_tenant(name).gpus;
    });
    const std::int64_t gpus = std::max(job.gpus, job.gpus_max);
    const bool of_user = is_within(user.used + gpus, user.limit);
    if (job.runs || (of_user && is_within(tenant.used + gpus, tenant.limit))) {
      user.used += gpus;
      tenant.used += gpus;
      return false;
    }
    held.push_back({job.job,
                    {.code = of_user ? Reason::Code::TenantLimit : Reason::Code::UserLimit,
                     .wanted = gpus,
                     .available = of_user ? tenant.limit : user.limit}});
    return true;
  });
  return held;
}

}  // namespace orrery
