#include "live/daemon/rights/entitlements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "live/api/job_request.h"
#include "live/auth/identity.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 4> kScopes = {"user", "tenant", "each user", "each tenant"};

Status check_member(const std::string& member) {
  const bool group = member.starts_with('@');
  Status status = check_caller_name(std::string_view(member).substr(group ? 1 : 0));
  if (!status.ok()) return invalid(fmt::format("members: {}", status.error().message));
  return {};
}

Status check_limits(const Limits& limits) {
  if (limits.priority && (*limits.priority < -kPriorityMax || *limits.priority > kPriorityMax)) {
    return invalid(fmt::format("priority: write -{0} to {0}", kPriorityMax));
  }
  const std::pair<const char*, std::optional<std::int64_t>> counts[] = {
      {"gpus", limits.gpus}, {"pending", limits.pending}, {"submissions", limits.submissions}};
  for (const auto& [name, count] : counts) {
    if (count && *count < 0 && *count != kNoLimit) {
      return invalid(fmt::format("{}: write 0 or more, or -1 for no limit", name));
    }
  }
  return {};
}

// Fills what is unset from `below`.
void inherit(Limits& limits, const Limits& below) {
  if (!limits.priority) limits.priority = below.priority;
  if (!limits.gpus) limits.gpus = below.gpus;
  if (!limits.pending) limits.pending = below.pending;
  if (!limits.submissions) limits.submissions = below.submissions;
}

}  // namespace

std::string_view to_string(LimitScope scope) { return kScopes[static_cast<std::size_t>(scope)]; }

std::optional<LimitScope> limit_scope_named(std::string_view text) {
  const auto found = std::ranges::find(kScopes, text);
  if (found == kScopes.end()) return {};
  return static_cast<LimitScope>(found - kScopes.begin());
}

void Entitlements::take(const QuotaSet& entry) {
  if (entry.gpus) {
    quotas_[entry.tenant] = {.gpus = *entry.gpus, .borrows = entry.borrows};
  } else {
    quotas_.erase(entry.tenant);
  }
}

void Entitlements::take(const MembersSet& entry) {
  if (entry.members) {
    members_[entry.tenant] = *entry.members;
  } else {
    members_.erase(entry.tenant);
  }
}

void Entitlements::take(const LimitsSet& entry) {
  const std::pair key(entry.scope, entry.name);
  if (entry.limits == Limits{}) {
    limits_.erase(key);
  } else {
    limits_[key] = entry.limits;
  }
}

Result<MembersSet> Entitlements::changed(const TenantRequest& request) const {
  if (request.tenant.empty()) return invalid("tenant: name the tenant");
  MembersSet entry{.tenant = request.tenant};
  if (request.forget) {
    if (!request.add.empty() || !request.remove.empty()) {
      return invalid("forget: leaves no members to add or remove");
    }
    if (members_.contains(request.tenant)) return entry;
    return Error{Code::NotFound, fmt::format("tenant {} has no list of members", request.tenant)};
  }
  if (request.add.empty() && request.remove.empty()) {
    return invalid("name a member to add or to remove");
  }
  const auto known = members_.find(request.tenant);
  std::vector<std::string>& members =
      entry.members.emplace(known == members_.end() ? std::vector<std::string>() : known->second);
  for (const std::string& member : request.add) {
    TRY(check_member(member));
    if (std::ranges::find(members, member) == members.end()) members.push_back(member);
  }
  for (const std::string& member : request.remove) {
    if (std::erase(members, member) == 0) {
      return Error{Code::NotFound,
                   fmt::format("{} is not in the list of members of {}", member, request.tenant)};
    }
  }
  std::ranges::sort(members);
  return entry;
}

Result<LimitsSet> Entitlements::changed(const LimitsRequest& request) const {
  const bool of_one = request.scope == LimitScope::User || request.scope == LimitScope::Tenant;
  if (of_one && request.name.empty()) {
    return invalid(fmt::format("name the {}", to_string(request.scope)));
  }
  if (!of_one && !request.name.empty()) {
    return invalid(fmt::format("{}: takes no name", to_string(request.scope)));
  }
  TRY(check_limits(request.limits));
  const Limits* own = find(request.scope, request.name);
  LimitsSet entry{.scope = request.scope, .name = request.name, .limits = request.limits};
  if (own != nullptr) inherit(entry.limits, *own);
  for (const std::string& name : request.inherit) {
    if (name == "priority") {
      entry.limits.priority.reset();
    } else if (name == "gpus") {
      entry.limits.gpus.reset();
    } else if (name == "pending") {
      entry.limits.pending.reset();
    } else if (name == "submissions") {
      entry.limits.submissions.reset();
    } else {
      return invalid(fmt::format(
          "inherit: '{}' is no limit; there are priority, gpus, pending and submissions", name));
    }
  }
  return entry;
}

bool Entitlements::is_member(const Caller& caller, const std::string& tenant) const {
  const auto known = members_.find(tenant);
  if (known == members_.end()) return tenant == caller.name;
  return std::ranges::any_of(known->second, [&](const std::string& member) {
    if (!member.starts_with('@')) return member == caller.name;
    return std::ranges::find(caller.groups, std::string_view(member).substr(1)) !=
           caller.groups.end();
  });
}

std::vector<std::string> Entitlements::tenants_of(const Caller& caller) const {
  std::vector<std::string> tenants;
  if (!members_.contains(caller.name)) tenants.push_back(caller.name);
  for (const auto& [tenant, members] : members_) {
    if (is_member(caller, tenant)) tenants.push_back(tenant);
  }
  return tenants;
}

bool Entitlements::names_groups() const {
  return std::ranges::any_of(members_, [](const auto& tenant) {
    return std::ranges::any_of(tenant.second,
                               [](const std::string& member) { return member.starts_with('@'); });
  });
}

const Limits* Entitlements::find(LimitScope scope, const std::string& name) const {
  const auto found = limits_.find({scope, name});
  return found == limits_.end() ? nullptr : &found->second;
}

Limits Entitlements::in_force(LimitScope scope, const std::string& name) const {
  const bool user = scope == LimitScope::User;
  Limits limits;
  if (const Limits* own = find(scope, name)) limits = *own;
  if (const Limits* each = find(user ? LimitScope::EachUser : LimitScope::EachTenant, "")) {
    inherit(limits, *each);
  }
  inherit(limits, user ? kUserDefaults : kTenantDefaults);
  return limits;
}

int Entitlements::priority_max(const std::string& user, const std::string& tenant) const {
  const Limits* of_user = find(LimitScope::User, user);
  const Limits* of_tenant = find(LimitScope::Tenant, tenant);
  std::optional<int> lowest;
  for (const Limits* own : {of_user, of_tenant}) {
    if (own == nullptr || !own->priority) continue;
    lowest = std::min(lowest.value_or(kPriorityMax), *own->priority);
  }
  if (lowest) return *lowest;
  // Each tenant's is inherited by the tenant; without one, each user's decides.
  return in_force(LimitScope::Tenant, tenant)
      .priority.value_or(*in_force(LimitScope::User, user).priority);
}

bool Entitlements::limits_gpus() const {
  return std::ranges::any_of(
      limits_, [](const auto& one) { return one.second.gpus.value_or(kNoLimit) != kNoLimit; });
}

}  // namespace orrery
