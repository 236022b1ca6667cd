#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "base/result.h"
#include "live/auth/identity.h"

namespace orrery {

// Everything that can be asked of a live scheduler. Verbs, since the nouns are types elsewhere.
enum class Call {
  Submit,
  ShowStatus,
  Cancel,
  ReadLogs,
  ShowNodes,
  Drain,  // and resume
  FollowEvents,
  AskWhatIf,
  SetPolicy,
  ShowQuotas,
  SetQuota,
  ShowTenants,
  SetTenant,
  ShowLimits,
  SetLimits,
  TakeRecord,
  ReadMetrics,
  Attend,  // an agent's own conversation: registering, heartbeats, launches and ends
  MakeToken,
  ManageTokens,        // list and withdraw
  ManageCertificates,  // list and revoke
  RemoveNode,          // and revoke the certificates of its agent
  Join,                // a token for a certificate, or an old certificate for a new one
};

class Roles {
 public:
  constexpr Roles(std::initializer_list<Role> roles) {
    for (const Role role : roles) bits_ |= bit(role);
  }
  constexpr bool has(Role role) const { return (bits_ & bit(role)) != 0; }

 private:
  static constexpr std::uint32_t bit(Role role) { return 1u << static_cast<unsigned>(role); }

  std::uint32_t bits_ = 0;
};

// The roles that may make a call about what is their own, and those that may about what belongs to
// others. What has no owner (the list of nodes, the policy) counts as the caller's own.
struct Permission {
  std::string_view call{};
  Roles own{};
  Roles of_others{};
};

inline constexpr Roles kPeople{Role::User, Role::Operator, Role::Admin};
inline constexpr Roles kKeepers{Role::Operator, Role::Admin};
inline constexpr Roles kReaders{Role::User, Role::Operator, Role::Admin, Role::Scraper};
inline constexpr Roles kEveryRole{Role::User, Role::Operator, Role::Agent, Role::Admin,
                                  Role::Scraper};

// The table. A call that is missing here does not compile; a number that is no call gets nothing.
constexpr Permission permission(Call call) {
  constexpr Roles kAdmins{Role::Admin};
  constexpr Roles kAgents{Role::Agent};
  constexpr Roles kNoRole{};
  switch (call) {  // clang-format off
    case Call::Submit:        return {"submit",     kPeople,    kAdmins};
    case Call::ShowStatus:    return {"status",     kPeople,    kPeople};
    case Call::Cancel:        return {"cancel",     kPeople,    kKeepers};
    case Call::ReadLogs:      return {"logs",       kPeople,    kKeepers};
    case Call::ShowNodes:     return {"nodes",      kPeople,    kPeople};
    case Call::Drain:         return {"drain",      kKeepers,   kKeepers};
    case Call::FollowEvents:  return {"events",     kPeople,    kPeople};
    case Call::AskWhatIf:     return {"whatif",     kPeople,    kPeople};
    case Call::SetPolicy:     return {"set policy", kKeepers,   kKeepers};
    case Call::ShowQuotas:    return {"quotas",     kPeople,    kPeople};
    case Call::SetQuota:      return {"set quota",  kAdmins,    kAdmins};
    case Call::ShowTenants:   return {"tenants",    kPeople,    kKeepers};
    case Call::SetTenant:     return {"set tenant", kAdmins,    kAdmins};
    case Call::ShowLimits:    return {"limits",     kPeople,    kKeepers};
    case Call::SetLimits:     return {"set limits", kAdmins,    kAdmins};
    case Call::TakeRecord:    return {"record",     kKeepers,   kKeepers};
    case Call::ReadMetrics:   return {"metrics",    kReaders,   kReaders};
    case Call::Attend:        return {"attend",     kAgents,    kNoRole};
    case Call::MakeToken:     return {"make token", kAdmins,    kAdmins};
    case Call::ManageTokens:  return {"tokens",     kAdmins,    kAdmins};
    case Call::ManageCertificates: return {"certificates", kAdmins, kAdmins};
    case Call::RemoveNode:    return {"remove node", kAdmins,   kAdmins};
    case Call::Join:          return {"join",       kEveryRole, kNoRole};
  }  // clang-format on
  return {{}, kNoRole, kNoRole};
}

// How many calls there are; Call{0} to Call{kCalls - 1}.
inline constexpr int kCalls = [] {
  int count = 0;
  while (!permission(Call{count}).call.empty()) ++count;
  return count;
}();

constexpr std::string_view to_string(Call call) { return permission(call).call; }

constexpr bool may(Role role, Call call) { return permission(call).own.has(role); }

// About something of `owner`: a job's user, the node an agent speaks for, the user a job is
// submitted for. Empty: it has no owner.
bool may(const Identity& caller, Call call, std::string_view owner);

// The same as an answer: PermissionDenied, with the roles that may.
Status check_call(const Identity& caller, Call call, std::string_view owner = {});

}  // namespace orrery
