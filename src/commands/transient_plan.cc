#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cloud/market/spot_optimum.h"
#include "cloud/market/spot_policies.h"
#include "cloud/market/spot_run.h"
#include "commands/transient.h"
#include "model/duration_text.h"
#include "report/listing/listing.h"
#include "report/terminal/standard_output.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

// One run of one policy.
struct PlannedRun {
  std::string_view policy;
  const SpotJob& job;
  std::size_t start;
  double optimal_cost;
  SpotRun run;
};

Result<Duration> duration_of(const char* option, const std::string& text) {
  auto duration = parse_duration(text);
  if (!duration.ok()) return std::move(duration).error().at(option);
  return duration;
}

Result<SpotMarket> market_of(const TransientPlanArguments& a) {
  std::vector<SpotTrace> traces;
  for (const std::string& path : a.traces) {
    TRY_ASSIGN(SpotTrace trace, read_spot_trace(path));
    traces.push_back(std::move(trace));
  }
  return SpotMarket::join(traces, a.machines);
}

Result<std::vector<const SpotPolicyInfo*>> policies_of(const TransientPlanArguments& a) {
  std::vector<const SpotPolicyInfo*> chosen;
  for (const std::string& name : a.policies) {
    TRY_ASSIGN(const SpotPolicyInfo* policy, find_spot_policy(name));
    chosen.push_back(policy);
  }
  if (a.policies.empty()) chosen.assign(spot_policies().begin(), spot_policies().end());
  return chosen;
}

Result<std::vector<SpotJob>> jobs_of(const TransientPlanArguments& a) {
  TRY_ASSIGN(const Duration work, duration_of("--work", a.work));
  std::vector<SpotJob> jobs;
  for (const std::string& deadline_text : a.deadlines) {
    TRY_ASSIGN(const Duration deadline, duration_of("--deadline", deadline_text));
    for (const std::string& changeover_text : a.changeovers) {
      TRY_ASSIGN(const Duration changeover, duration_of("--changeover", changeover_text));
      const SpotJob job{.work = work,
                        .deadline = deadline,
                        .changeover = changeover,
                        .prices = {.on_demand = a.on_demand_price, .spot = a.spot_price}};
      TRY(check_spot_job(job));
      jobs.push_back(job);
    }
  }
  return jobs;
}

Result<std::vector<std::size_t>> starts_of(const TransientPlanArguments& a,
                                           const SpotMarket& market, const SpotJob& job) {
  TRY_ASSIGN(const std::size_t last, last_spot_start(market, job));
  std::vector<std::size_t> starts;
  for (int i = 0; i < a.starts_spread; ++i) {
    const auto of = static_cast<std::size_t>(std::max(1, a.starts_spread - 1));
    starts.push_back(last * static_cast<std::size_t>(i) / of);
  }
  if (a.starts_spread > 0) return starts;
  for (const std::uint64_t start : a.starts) {
    TRY(check_spot_start(market, job, start));
    starts.push_back(start);
  }
  return starts;
}

Json json_of(const PlannedRun& planned) {
  const SpotRun& run = planned.run;
  return {{"policy", planned.policy},
          {"cost", run.cost},
          {"optimal_cost", planned.optimal_cost},
          {"on_demand_cost", planned.job.on_demand_cost()},
          {"met", run.met},
          {"finish_s", seconds(run.finish)},
          {"revocations", run.revocations},
          {"spot_s", seconds(run.spot)},
          {"on_demand_s", seconds(run.on_demand)},
          {"start", planned.start},
          {"deadline_s", seconds(planned.job.deadline)},
          {"changeover_s", seconds(planned.job.changeover)},
          {"to_optimum", run.cost / planned.optimal_cost},
          {"saved", 1 - run.cost / planned.job.on_demand_cost()}};
}

Listing listing_of(const std::vector<PlannedRun>& planned) {
  constexpr auto kCount = ColumnKind::Count;
  constexpr auto kSeconds = ColumnKind::Seconds;
  Listing listing{.name = "runs",
                  .columns = {{"policy", "policy"},
                              {"start", "start", kCount},
                              {"deadline", "deadline_s", kSeconds},
                              {"change-over", "changeover_s", kSeconds},
                              {"cost", "cost", kCount},
                              {"to optimum", "to_optimum", kCount},
                              {"saved", "saved", ColumnKind::Share},
                              {"deadline met", "met"},
                              {"finish", "finish_s", kSeconds},
                              {"revocations", "revocations", kCount},
                              {"spot", "spot_s", kSeconds},
                              {"on demand", "on_demand_s", kSeconds}},
                  .none = "no run\n"};
  for (const PlannedRun& one : planned) listing.rows.push_back(json_of(one));
  return listing;
}

}  // namespace

Status transient_plan_command(const TransientPlanArguments& a) {
  TRY(check_output(a.list));
  TRY_ASSIGN(const auto policies, policies_of(a));
  TRY_ASSIGN(const std::vector<SpotJob> jobs, jobs_of(a));
  TRY_ASSIGN(const SpotMarket market, market_of(a));
  std::vector<PlannedRun> planned;
  for (const SpotJob& job : jobs) {
    TRY_ASSIGN(const std::vector<std::size_t> starts, starts_of(a, market, job));
    for (const std::size_t start : starts) {
      TRY_ASSIGN(const double optimum, optimal_spot_cost(market, job, start));
      for (const SpotPolicyInfo* info : policies) {
        const auto policy = info->make(
            {.job = job, .tick = market.tick(), .zones = market.zones(), .seed = a.seed});
        planned.push_back(
            {info->name, job, start, optimum, run_spot_policy(market, job, start, *policy)});
      }
    }
  }
  TRY_ASSIGN(const std::string text, to_text(listing_of(planned), a.list, terminal_width()));
  return print_text(text);
}

}  // namespace orrery
