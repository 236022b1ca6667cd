#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Which tenants users may submit for, and how much users and tenants may ask for.

namespace orrery {

// Changes the members of one tenant. A member is a user, or @GROUP: every user of that group on the
// scheduler's machine.
struct TenantRequest {
  std::string tenant{};
  std::vector<std::string> add{};
  std::vector<std::string> remove{};
  bool forget = false;  // nothing is said about this tenant any longer
  bool operator==(const TenantRequest&) const = default;
};
struct TenantStatus {
  std::string tenant{};
  std::vector<std::string> members{};
  bool operator==(const TenantStatus&) const = default;
};
struct TenantsAnswer {
  std::vector<TenantStatus> tenants{};
  bool operator==(const TenantsAnswer&) const = default;
};

// One user, one tenant, or each of them that has no limit of its own.
enum class LimitScope : std::uint8_t { User, Tenant, EachUser, EachTenant };

inline constexpr std::int64_t kNoLimit = -1;

// The highest priority of a job, and the most of everything else at a time or a minute. What is not
// set is inherited.
struct Limits {
  std::optional<int> priority{};
  std::optional<std::int64_t> gpus{};         // in use
  std::optional<std::int64_t> pending{};      // jobs that wait; each job of an array counts
  std::optional<std::int64_t> submissions{};  // a minute; an array counts once
  bool operator==(const Limits&) const = default;
};

struct LimitsRequest {
  LimitScope scope = LimitScope::User;
  std::string name{};                  // of the user or tenant; empty for each
  Limits limits{};                     // those to set
  std::vector<std::string> inherit{};  // those to take away, by their names in Limits
  bool operator==(const LimitsRequest&) const = default;
};
struct LimitsStatus {
  LimitScope scope = LimitScope::User;
  std::string name{};
  Limits limits{};  // in force; a tenant's priority may be unset
  std::int64_t gpus_held = 0;
  std::int64_t pending_now = 0;
  bool operator==(const LimitsStatus&) const = default;
};
struct LimitsAnswer {
  std::vector<LimitsStatus> limits{};
  bool operator==(const LimitsAnswer&) const = default;
};

}  // namespace orrery
