#include "cloud/gce/faults.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "base/plain_text.h"

namespace orrery {
namespace {

constexpr std::size_t kShown = 300;

std::string shown(const GceFault& fault) {
  std::string text = plain_text(fault.message).substr(0, kShown);
  const std::string code = plain_text(fault.code).substr(0, kShown);
  if (code.empty()) return text;
  return text.empty() ? code : fmt::format("{}: {}", code, text);
}

template <std::size_t n>
bool is_one_of(const std::array<std::string_view, n>& words, std::string_view word) {
  for (const std::string_view known : words) {
    if (known == word) return true;
  }
  return false;
}

constexpr auto kStockOuts = std::to_array<std::string_view>(
    {"ZONE_RESOURCE_POOL_EXHAUSTED", "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
     "REGION_RESOURCE_POOL_EXHAUSTED", "RESOURCE_POOL_EXHAUSTED", "insufficientCapacity",
     "resourcePoolExhausted", "CapacityExceeded"});
constexpr auto kQuotas = std::to_array<std::string_view>(
    {"QUOTA_EXCEEDED", "quotaExceeded", "limitExceeded", "dailyLimitExceeded"});
constexpr auto kRates =
    std::to_array<std::string_view>({"rateLimitExceeded", "userRateLimitExceeded",
                                     "concurrentLimitExceeded", "RATE_LIMIT_EXCEEDED"});
// Says only that others failed.
constexpr std::string_view kCountNotReached = "VM_MIN_COUNT_NOT_REACHED";

Error stock_out(const GceFault& fault) {
  return {Code::ResourceExhausted,
          fmt::format("no capacity ({}); try another zone, machine or class, or try later",
                      shown(fault))};
}

Error quota(const GceFault& fault) {
  return {Code::ResourceExhausted,
          fmt::format("quota ({}); use fewer servers or ask for a larger quota", shown(fault))};
}

std::optional<Error> error_by_code(const GceFault& fault) {
  if (is_stock_out(fault) || fault.code == kCountNotReached) return stock_out(fault);
  if (is_quota(fault)) return quota(fault);
  if (fault.code == "RESOURCE_ALREADY_EXISTS" || fault.code == "alreadyExists") {
    return Error{Code::AlreadyExists,
                 fmt::format("{}; use names that were never used", shown(fault))};
  }
  return std::nullopt;
}

}  // namespace

GceFault without_secrets(const GceFault& fault, const SecretFilter& secrets) {
  return {.code = secrets.clean(fault.code), .message = secrets.clean(fault.message)};
}

bool is_stock_out(const GceFault& fault) { return is_one_of(kStockOuts, fault.code); }
bool is_quota(const GceFault& fault) { return is_one_of(kQuotas, fault.code); }

bool may_be_repeated(int status, const GceFault& fault) {
  if (is_stock_out(fault) || is_quota(fault)) return false;
  return status == 429 || status >= 500 || (status == 403 && is_one_of(kRates, fault.code));
}

Error error_of(int status, const GceFault& fault) {
  if (const auto known = error_by_code(fault)) return *known;
  const std::string what = fmt::format("status {} ({})", status, shown(fault));
  switch (status) {
    case 401:
      return {Code::Unauthenticated,
              what + "; the token is refused; check the key file or the machine's service account"};
    case 403:
      if (is_one_of(kRates, fault.code)) return {Code::Unavailable, what + "; try again later"};
      return {Code::PermissionDenied,
              what + "; give the service account the role that docs/systems/providers.md names"};
    case 404:
      return {Code::NotFound, what + "; check project, zone and name"};
    case 409:
      return {Code::AlreadyExists, what + "; use names that were never used"};
    case 412:
      return {Code::FailedPrecondition, what};
    case 429:
      return {Code::Unavailable, what + "; try again later"};
    default:
      break;
  }
  if (status >= 400 && status < 500) return {Code::InvalidArgument, what};
  if (status >= 500) return {Code::Unavailable, what + "; try again later"};
  return {Code::Unavailable, what + "; is there a proxy on the way?"};
}

Error error_of(const std::vector<GceFault>& faults) {
  for (const GceFault& fault : faults) {
    if (fault.code == kCountNotReached) continue;
    if (const auto known = error_by_code(fault)) return *known;
  }
  if (faults.empty()) return {Code::ResourceExhausted, "no capacity (no reason was given)"};
  if (const auto known = error_by_code(faults.front())) return *known;
  return {Code::Internal, fmt::format("the operation failed ({})", shown(faults.front()))};
}

}  // namespace orrery
