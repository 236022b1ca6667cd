#include "scheduling/policy/deadline/lease_book.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr int kHorizon = 200'000;  // leases; a deadline further away is as good as this

}  // namespace

const LeaseBook::Claim* LeaseBook::find(JobId job) const {
  const auto found = std::ranges::find(claims_, job, &Claim::job);
  return found == claims_.end() ? nullptr : &*found;
}

void LeaseBook::drop(JobId job) {
  std::erase_if(claims_, [&](const Claim& claim) { return claim.job == job; });
}

void LeaseBook::collect_demands(int from) {
  demands_.clear();
  for (const Claim& claim : claims_) {
    demands_.push_back({.gpus = claim.gpus,
                        .needed = static_cast<int>(claim.leases.size()),
                        .last = std::clamp(claim.end - from, 0, kHorizon),
                        .runs = claim.runs});
  }
}

void LeaseBook::enter(const std::vector<Leases>& packed, int from) {
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    claims_[i].leases = packed[i];
    for (int& lease : claims_[i].leases) lease += from;
  }
}

bool LeaseBook::reserve(Claim claim, int needed, int from) {
  claim.end = std::min(claim.end, from + kHorizon);
  if (needed > claim.end - from) return false;
  if (add_to_reserved(claim, needed, from)) {
    claims_.push_back(std::move(claim));
    return true;
  }
  collect_demands(from);
  demands_.push_back({.gpus = claim.gpus, .needed = needed, .last = claim.end - from});
  const auto packed = pack_best(demands_, gpus_, FirstLease::Any);
  if (!packed) return false;
  claims_.push_back(std::move(claim));
  enter(*packed, from);
  return true;
}

bool LeaseBook::add_to_reserved(Claim& claim, int needed, int from) const {
  const int count = claim.end - from;
  std::vector<int> free(static_cast<std::size_t>(count), gpus_);
  for (const Claim& other : claims_) {
    for (const int lease : other.leases) {
      if (lease < claim.end) free[static_cast<std::size_t>(lease - from)] -= other.gpus;
    }
  }
  for (int lease = count - 1; lease >= 0; --lease) {
    if (static_cast<int>(claim.leases.size()) == needed) break;
    if (free[static_cast<std::size_t>(lease)] < claim.gpus) continue;
    claim.leases.push_back(from + lease);
  }
  std::ranges::reverse(claim.leases);
  return static_cast<int>(claim.leases.size()) == needed;
}

void LeaseBook::settle(int now, const std::function<int(JobId)>& needed,
                       const std::function<bool(JobId)>& runs, std::vector<JobId>& used_up) {
  for (Claim& claim : claims_) {
    const auto past = std::ranges::find_if(claim.leases, [&](int lease) { return lease >= now; });
    claim.leases.erase(claim.leases.begin(), past);
    const auto has = static_cast<std::ptrdiff_t>(claim.leases.size());
    const auto over = std::max<std::ptrdiff_t>(has - std::max(needed(claim.job), 1), 0);
    claim.leases.erase(claim.leases.begin(), claim.leases.begin() + over);
    claim.runs = runs(claim.job);
    if (claim.leases.empty()) used_up.push_back(claim.job);
  }
  std::erase_if(claims_, [](const Claim& claim) { return claim.leases.empty(); });
}

// True if every job with this lease needs it: there is nothing to put off.
bool LeaseBook::only_forced_ones_begin(int now) const {
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    if (claims_[i].leases.front() == now && demands_[i].slack() > 0) return false;
  }
  return true;
}

void LeaseBook::begin(int now, FirstLease wanted, std::vector<JobId>& holders) {
  collect_demands(now);
  if (wanted == FirstLease::Busiest || !only_forced_ones_begin(now)) {
    const auto packed = pack_best(demands_, gpus_, wanted);
    if (packed) enter(*packed, now);
  }
  for (Claim& claim : claims_) {
    if (claim.leases.front() != now) continue;
    holders.push_back(claim.job);
    claim.leases.erase(claim.leases.begin());
  }
}

}  // namespace orrery
