#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "cloud/ledger/cost_ledger.h"

namespace orrery {

// What a job came to.
struct JobCost {
  LedgerJob job;
  int servers = 0;
  int revoked = 0;
  int never_ran = 0;
  int live = 0;
  double server_hours = 0;
  std::optional<double> usd{};  // nothing: the price of a server is not known
  // The same hours of the same machines on-demand; nothing: a price is not known.
  std::optional<double> on_demand_usd{};
};

// A row for each job, in the order of `jobs`. Servers that live are counted until `until`.
std::vector<JobCost> job_costs(std::span<const LedgerJob> jobs,
                               std::span<const LedgerServer> servers, Time until);

// The part of the on-demand cost that was saved, in percent; negative: it cost more.
std::optional<double> saving_pct(const JobCost& cost);

// The last instant in a ledger's rows; the epoch if there is none.
Time last_instant(std::span<const LedgerJob> jobs, std::span<const LedgerServer> servers);

}  // namespace orrery
