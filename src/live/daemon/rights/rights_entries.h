#pragma once

#include <optional>
#include <string>
#include <vector>

#include "live/api/api_rights.h"

// Entries of the log about quotas, tenants and limits.

namespace orrery {

struct QuotaSet {
  std::string tenant{};
  std::optional<int> gpus{};  // none: taken away
  bool borrows = true;
  std::string by{};
  bool operator==(const QuotaSet&) const = default;
};

// The members of a tenant from now on; none: it has no list any longer.
struct MembersSet {
  std::string tenant{};
  std::optional<std::vector<std::string>> members{};
  std::string by{};
  bool operator==(const MembersSet&) const = default;
};

// The limits of its own that a user, a tenant or each of them has from now on.
struct LimitsSet {
  LimitScope scope{};
  std::string name{};
  Limits limits{};
  std::string by{};
  bool operator==(const LimitsSet&) const = default;
};

}  // namespace orrery
