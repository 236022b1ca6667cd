#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/grid.h"
#include "cloud/market/spot_optimum.h"
#include "cloud/market/spot_policies.h"
#include "cloud/market/spot_run.h"
#include "commands/transient.h"
#include "model/duration_text.h"
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
          {"changeover_s", seconds(planned.job.changeover)}};
}

std::string table_of(const std::vector<PlannedRun>& planned) {
  const std::vector<GridColumn> columns = {{"policy", true}, {"start"},        {"deadline"},
                                           {"change-over"},  {"cost"},         {"to optimum"},
                                           {"saved"},        {"deadline met"}, {"finish h"},
                                           {"revocations"},  {"spot h"},       {"on demand h"}};
  std::vector<std::vector<std::string>> rows;
  const auto hours = [](Duration time) { return fmt::format("{:.2f}", seconds(time) / 3600); };
  for (const PlannedRun& one : planned) {
    rows.push_back(
        {std::string(one.policy), fmt::format("{}", one.start), duration_text(one.job.deadline),
         duration_text(one.job.changeover), fmt::format("{:.3f}", one.run.cost),
         fmt::format("{:.3f}", one.run.cost / one.optimal_cost),
         fmt::format("{:.1f} %", 100 * (1 - one.run.cost / one.job.on_demand_cost())),
         one.run.met ? "yes" : "no", hours(one.run.finish), fmt::format("{}", one.run.revocations),
         hours(one.run.spot), hours(one.run.on_demand)});
  }
  return grid(columns, rows);
}

}  // namespace

Status transient_plan_command(const TransientPlanArguments& a) {
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
  if (!a.json) return print_text(table_of(planned));
  Json runs = Json::array();
  for (const PlannedRun& one : planned) runs.push_back(json_of(one));
  return print_text(Json{{"runs", runs}}.dump() + "\n");
}

}  // namespace orrery
