#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/api/api_rights.h"
#include "live/api/caller.h"
#include "live/daemon/server/outside.h"

namespace orrery {

// The limits of a cluster without any configured limit. A user cannot outrank others. A queue of
// 20,000 jobs is as long as `status` can predict starts for.
inline constexpr Limits kUserDefaults{
    .priority = 0, .gpus = kNoLimit, .pending = 20'000, .submissions = 6'000};
inline constexpr Limits kTenantDefaults{
    .priority = {}, .gpus = kNoLimit, .pending = kNoLimit, .submissions = kNoLimit};

struct Quota {
  int gpus = 0;
  bool borrows = true;
};

// The quotas and members of tenants, and the limits of users and tenants. Changed by entries of the
// log alone.
class Entitlements {
 public:
  void take(const QuotaSet& entry);
  void take(const MembersSet& entry);
  void take(const LimitsSet& entry);

  // The entries that a request amounts to. InvalidArgument names what is wrong with it.
  Result<MembersSet> changed(const TenantRequest& request) const;
  Result<LimitsSet> changed(const LimitsRequest& request) const;

  using Quotas = std::map<std::string, Quota>;  // by tenant
  const Quotas& quotas() const { return quotas_; }
  using Members = std::map<std::string, std::vector<std::string>>;
  const Members& members() const { return members_; }
  using AllLimits = std::map<std::pair<LimitScope, std::string>, Limits>;
  const AllLimits& limits() const { return limits_; }

  // A tenant without a list of members has one: the user of its name.
  bool is_member(const Caller& caller, const std::string& tenant) const;
  std::vector<std::string> tenants_of(const Caller& caller) const;
  bool names_groups() const;

  // In force: of its own, else of each, else the defaults above.
  Limits of_user(const std::string& user) const { return in_force(LimitScope::User, user); }
  Limits of_tenant(const std::string& tenant) const { return in_force(LimitScope::Tenant, tenant); }
  // The lower of what the user and the tenant have of their own; if neither has, what each user
  // has.
  int priority_max(const std::string& user, const std::string& tenant) const;
  bool limits_gpus() const;

 private:
  Limits in_force(LimitScope scope, const std::string& name) const;
  const Limits* find(LimitScope scope, const std::string& name) const;

  Quotas quotas_;
  Members members_;
  AllLimits limits_;
};

// "user", "tenant", "each user", "each tenant": in the log and in messages.
std::string_view to_string(LimitScope scope);
std::optional<LimitScope> limit_scope_named(std::string_view text);

constexpr bool is_within(std::int64_t value, std::int64_t limit) {
  return limit == kNoLimit || value <= limit;
}

}  // namespace orrery
