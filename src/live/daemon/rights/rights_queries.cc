#include "live/daemon/rights/rights_queries.h"

#include <algorithm>
#include <map>
#include <set>

namespace orrery {
namespace {

using Holder = std::pair<LimitScope, std::string>;

std::map<Holder, std::int64_t> gpus_held(const Core& core) {
  std::map<Holder, std::int64_t> held;
  for (const JobId id : core.state().running()) {
    const JobRequest& request = *core.book().job(id).request;
    const int gpus = gpu_count(core.state().job(id).held.devices);
    held[{LimitScope::User, request.user}] += gpus;
    held[{LimitScope::Tenant, tenant_of(request)}] += gpus;
  }
  return held;
}

}  // namespace

TenantsAnswer tenants_of(const Core& core, const Caller& caller) {
  const Entitlements& entitlements = core.book().entitlements();
  TenantsAnswer answer;
  for (const auto& [tenant, members] : entitlements.members()) {
    if (!Viewer{.caller = caller}.sees_all() && !entitlements.is_member(caller, tenant)) continue;
    answer.tenants.push_back({.tenant = tenant, .members = members});
  }
  return answer;
}

LimitsAnswer limits_of(const Core& core, const Caller& caller) {
  const Entitlements& entitlements = core.book().entitlements();
  const PendingJobs& pending = core.book().pending();
  std::map<Holder, std::int64_t> held = gpus_held(core);
  std::set<Holder> holders = {
      {LimitScope::EachUser, ""}, {LimitScope::EachTenant, ""}, {LimitScope::User, caller.name}};
  for (const auto& [holder, limits] : entitlements.limits()) holders.insert(holder);
  for (const auto& [tenant, members] : entitlements.members()) {
    holders.insert({LimitScope::Tenant, tenant});
  }
  for (const auto& [user, count] : pending.users()) holders.insert({LimitScope::User, user});
  for (const auto& [holder, gpus] : held) {
    if (holder.first == LimitScope::User) holders.insert(holder);
  }
  const std::vector<std::string> own = entitlements.tenants_of(caller);
  LimitsAnswer answer;
  for (const Holder& holder : holders) {
    const auto& [scope, name] = holder;
    const bool user = scope == LimitScope::User || scope == LimitScope::EachUser;
    const bool concerns =
        name.empty() || (user ? name == caller.name : std::ranges::find(own, name) != own.end());
    if (!concerns && !Viewer{.caller = caller}.sees_all()) continue;
    LimitsStatus status{.scope = scope,
                        .name = name,
                        .limits = user ? entitlements.of_user(name) : entitlements.of_tenant(name),
                        .gpus_held = held[holder]};
    if (scope == LimitScope::User) status.pending_now = pending.of_user(name);
    if (scope == LimitScope::Tenant) status.pending_now = pending.of_tenant(name);
    answer.limits.push_back(std::move(status));
  }
  return answer;
}

}  // namespace orrery
