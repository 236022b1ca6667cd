#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/plain_text.h"
#include "cloud/ledger/job_costs.h"
#include "cloud/ledger/ledger_import.h"
#include "cloud/ledger/utc_text.h"
#include "cloud/provider/prices.h"
#include "commands/transient.h"
#include "report/listing/listing.h"
#include "report/terminal/standard_output.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }
Json time_json(Time time) { return time == kNever ? Json() : Json(utc_text(time)); }

Json json_of(const JobCost& cost) {
  return {{"job", plain_text(cost.job.name)},
          {"outcome", cost.job.outcome.empty() ? Json() : Json(plain_text(cost.job.outcome))},
          {"steps", cost.job.steps},
          {"started_at", time_json(cost.job.started)},
          {"ended_at", time_json(cost.job.ended)},
          {"servers", cost.servers},
          {"revoked", cost.revoked},
          {"never_ran", cost.never_ran},
          {"live", cost.live},
          {"server_hours", cost.server_hours},
          {"usd", optional_json(cost.usd)},
          {"on_demand_usd", optional_json(cost.on_demand_usd)},
          {"saving_pct", optional_json(saving_pct(cost))}};
}

Json json_of(const LedgerServer& row, Time until) {
  const Server& server = row.server;
  const double billed = billed_s(server, until);
  const auto usd = row.usd_per_s ? std::optional(billed * *row.usd_per_s) : std::nullopt;
  return {{"server", plain_text(server.spec.name)},
          {"job", plain_text(server.spec.job)},
          {"role", plain_text(server.spec.role)},
          {"zone", plain_text(server.spec.offer.zone)},
          {"gpu", plain_text(server.spec.offer.gpu)},
          {"class", text_of(server.spec.offer.offer_class)},
          {"status", text_of(server.state)},
          {"end_reason", text_of(server.end_reason)},
          {"requested_at", time_json(server.requested)},
          {"running_at", time_json(server.running)},
          {"ended_at", time_json(server.ended)},
          {"seconds", billed},
          {"price_usd_s", optional_json(row.usd_per_s)},
          {"usd", optional_json(usd)}};
}

constexpr auto kCount = ColumnKind::Count;

std::vector<ListColumn> server_columns() {
  return {{"server", "server"},
          {"job", "job", ColumnKind::Text, "-", 0, 0, true},
          {"role", "role"},
          {"zone", "zone"},
          {"gpu", "gpu"},
          {"class", "class"},
          {"status", "status"},
          {"end reason", "end_reason"},
          {"billed", "seconds", ColumnKind::Seconds},
          {"usd", "usd", kCount}};
}

std::vector<ListColumn> job_columns() {
  return {{"job", "job"},
          {"outcome", "outcome"},
          {"steps", "steps", kCount},
          {"servers", "servers", kCount},
          {"revoked", "revoked", kCount},
          {"live", "live", kCount},
          {"server hours", "server_hours", kCount},
          {"usd", "usd", kCount},
          {"on-demand usd", "on_demand_usd", kCount},
          {"saving pct", "saving_pct", kCount}};
}

Status import_first(const TransientLedgerArguments& a) {
  if (a.gpu.empty()) return invalid("--import: write --gpu; the database does not name it");
  const auto offer_class = offer_class_of(a.offer_class);
  if (!offer_class) {
    return invalid(
        fmt::format("--class {}: write on-demand, spot or flex", plain_text(a.offer_class)));
  }
  std::optional<PriceList> prices;
  if (!a.prices.empty()) {
    TRY_ASSIGN(prices, read_prices(a.prices));
  }
  TRY_ASSIGN(CostLedger ledger, CostLedger::open(a.file));
  TRY_ASSIGN(const ImportedRows imported,
             import_published(
                 a.import,
                 {.gpu = a.gpu, .offer_class = *offer_class, .prices = prices ? &*prices : nullptr},
                 ledger));
  if (imported.without_end > 0) {
    std::fputs(fmt::format("{}: {} of {} servers say RUNNING and have no end; their cost is not "
                           "known\n",
                           a.import, imported.without_end, imported.servers)
                   .c_str(),
               stderr);
  }
  return {};
}

}  // namespace

Status transient_ledger_command(const TransientLedgerArguments& a) {
  ListArguments list = a.list;
  if (a.csv && (list.json || !list.output.empty())) {
    return invalid("--csv is --output csv; leave out the other form");
  }
  if (a.csv) list.output = "csv";
  TRY(check_output(list));
  if (!a.import.empty()) TRY(import_first(a));
  TRY_ASSIGN(CostLedger ledger, CostLedger::open_to_read(a.file));
  TRY_ASSIGN(std::vector<LedgerJob> jobs, ledger.jobs());
  TRY_ASSIGN(const std::vector<LedgerServer> servers, ledger.servers(a.job));
  const Time until = last_instant(jobs, servers);
  if (!a.job.empty()) {
    std::erase_if(jobs, [&](const LedgerJob& job) { return job.name != a.job; });
    if (jobs.empty()) {
      return Error{Code::NotFound,
                   fmt::format("{}: there is no job '{}'", a.file, plain_text(a.job))};
    }
  }
  Listing listing{
      .name = a.servers ? "servers" : "jobs",
      .columns = a.servers ? server_columns() : job_columns(),
      .fields = fields_of(a.servers ? json_of(LedgerServer{}, Time{}) : json_of(JobCost{}))};
  if (a.servers) {
    for (const LedgerServer& row : servers) listing.rows.push_back(json_of(row, until));
  } else {
    for (const JobCost& cost : job_costs(jobs, servers, until)) {
      listing.rows.push_back(json_of(cost));
    }
  }
  TRY_ASSIGN(const std::string text, to_text(std::move(listing), list, terminal_width()));
  return print_text(text);
}

}  // namespace orrery
