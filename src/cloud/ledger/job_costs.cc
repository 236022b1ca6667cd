#include "cloud/ledger/job_costs.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace orrery {
namespace {

void add(JobCost& cost, const LedgerServer& row, Time until) {
  const Server& server = row.server;
  ++cost.servers;
  cost.live += has_ended(server) ? 0 : 1;
  cost.revoked += server.end_reason == EndReason::Revoked ? 1 : 0;
  cost.never_ran += has_ended(server) && server.running == kNever ? 1 : 0;
  const double billed = billed_s(server, until);
  cost.server_hours += billed / 3600;
  const auto add_price = [&](std::optional<double>& sum, const std::optional<double>& usd_per_s) {
    if (billed == 0) return;
    if (!usd_per_s) sum.reset();
    if (sum) *sum += billed * *usd_per_s;
  };
  add_price(cost.usd, row.usd_per_s);
  add_price(cost.on_demand_usd, row.on_demand_usd_per_s);
}

}  // namespace

std::vector<JobCost> job_costs(std::span<const LedgerJob> jobs,
                               std::span<const LedgerServer> servers, Time until) {
  std::vector<JobCost> costs;
  std::map<std::string_view, std::size_t> places;
  for (const LedgerJob& job : jobs) {
    places.emplace(job.name, costs.size());
    JobCost cost;
    cost.job = job;
    cost.usd = cost.on_demand_usd = 0;
    costs.push_back(std::move(cost));
  }
  for (const LedgerServer& row : servers) {
    const auto place = places.find(row.server.spec.job);
    if (place != places.end()) add(costs[place->second], row, until);
  }
  return costs;
}

std::optional<double> saving_pct(const JobCost& cost) {
  if (!cost.usd || !cost.on_demand_usd || !(*cost.on_demand_usd > 0)) return std::nullopt;
  return 100 * (1 - *cost.usd / *cost.on_demand_usd);
}

Time last_instant(std::span<const LedgerJob> jobs, std::span<const LedgerServer> servers) {
  Time last{};
  const auto take = [&](Time time) {
    if (time != kNever) last = std::max(last, time);
  };
  for (const LedgerJob& job : jobs) take(job.started), take(job.ended);
  for (const LedgerServer& row : servers) {
    take(row.server.requested), take(row.server.running), take(row.server.noticed);
    take(row.server.ended);
  }
  return last;
}

}  // namespace orrery
