#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/grid.h"
#include "base/output_file.h"
#include "base/plain_text.h"
#include "cloud/analysis/rates.h"
#include "cloud/models/revocation_model.h"
#include "cloud/provider/prices.h"
#include "cloud/training_model/policy_comparison.h"
#include "commands/transient.h"
#include "commands/transient_simulate_page.h"
#include "model/duration_text.h"
#include "report/table.h"
#include "report/terminal/standard_output.h"

namespace orrery {

namespace {

using Json = nlohmann::ordered_json;

// Of measured start-ups, relative to their mean.
constexpr double kStartupDeviation = 0.045;

Result<Duration> duration_of(const char* option, const std::string& text) {
  auto duration = parse_duration(text);
  if (!duration.ok()) return std::move(duration).error().at(option);
  if (duration.value() < Duration::zero())
    return invalid(fmt::format("{}: write 0 or more", option));
  return duration;
}

std::string role_of(std::size_t worker) {
  return worker == 0 ? "the chief" : fmt::format("worker {}", worker);
}

// One entry a worker, or one for all.
Result<std::vector<std::string>> for_each_worker(const char* option,
                                                 const std::vector<std::string>& entries,
                                                 std::size_t workers) {
  if (entries.size() == 1) return std::vector<std::string>(workers, entries[0]);
  if (entries.size() == workers) return entries;
  std::string have;
  for (std::size_t i = 0; i < std::min(entries.size(), workers); ++i) {
    have +=
        fmt::format("{}{} has {}", have.empty() ? "" : ", ", role_of(i), plain_text(entries[i]));
  }
  if (entries.size() > workers) {
    return invalid(fmt::format("{}: {} entries for {} workers: {}; the entry '{}' has no worker",
                               option, entries.size(), workers, have,
                               plain_text(entries[workers])));
  }
  return invalid(fmt::format("{}: {} entries for {} workers: {}; {} has none", option,
                             entries.size(), workers, have, role_of(entries.size())));
}

Result<TrainingSpeeds> speeds_of(const std::vector<std::string>& pairs) {
  TrainingSpeeds speeds = resnet32_speeds();
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    double value = 0;
    const char* end = pair.data() + pair.size();
    const char* first = equals == std::string::npos ? end : pair.data() + equals + 1;
    const auto [rest, problem] = std::from_chars(first, end, value);
    if (equals == 0 || problem != std::errc() || rest != end || !(value > 0) || value > 1e12) {
      return invalid(fmt::format("--speed {}: write GPU=STEPS, such as T4=12.5", plain_text(pair)));
    }
    speeds.steps_per_s[pair.substr(0, equals)] = value;
  }
  return speeds;
}

Result<LifetimeTable> lifetimes_of(const std::string& path, const PriceList& prices) {
  LifetimeTable table = LifetimeTable::published();
  if (path.empty()) return table;
  TRY_ASSIGN(const std::vector<LifetimeRecord> records, read_lifetimes(path));
  const RevocationModel model = RevocationModel::fit(records);
  for (const Offer& offer : prices.offers) {
    auto lifetime = model.lifetime(offer.gpu.empty() ? "CPU" : offer.gpu, offer.zone);
    if (lifetime.ok()) table.set(offer.gpu, offer.zone, std::move(lifetime).value());
  }
  return table;
}

Status set_cluster(const TransientClusterArguments& a, const PriceList& prices,
                   TransientTraining& training) {
  const auto workers = static_cast<std::size_t>(a.workers);
  TRY_ASSIGN(const auto gpus, for_each_worker("--gpu", a.gpus, workers));
  TRY_ASSIGN(const auto zones, for_each_worker("--zone", a.zones, workers));
  for (std::size_t i = 0; i < workers; ++i) {
    TRY_ASSIGN(Offer offer, find_offer(prices, zones[i], gpus[i], 1, OfferClass::Spot));
    if (!training.speeds.steps_per_s.contains(offer.gpu)) {
      return invalid(fmt::format("--gpu {0}: its speed is not known; write --speed {0}=STEPS",
                                 plain_text(offer.gpu)));
    }
    training.workers.push_back(std::move(offer));
  }
  const std::string home = a.server_zone.empty() ? zones[0] : a.server_zone;
  for (int i = 0; i < a.servers; ++i) {
    TRY_ASSIGN(Offer offer, find_offer(prices, home, "", 0, OfferClass::OnDemand));
    training.parameter_servers.push_back(std::move(offer));
  }
  for (const Offer& offer : prices.offers) {
    if (!offer.gpu.empty() && training.speeds.steps_per_s.contains(offer.gpu)) {
      training.replacements.push_back(offer);
    }
  }
  return {};
}

Result<TransientTraining> training_of(const TransientSimulateArguments& a,
                                      const PriceList& prices) {
  TransientTraining training;
  training.steps = a.steps;
  TRY_ASSIGN(training.speeds, speeds_of(a.cluster.speeds));
  TRY(set_cluster(a.cluster, prices, training));
  const auto chief = chief_loss_of(a.chief);
  if (!chief)
    return invalid(
        fmt::format("--chief {}: write take-over, restart or stop", plain_text(a.chief)));
  training.chief_loss = *chief;
  TRY_ASSIGN(training.checkpoints.save, duration_of("--save", a.save));
  if (a.checkpoint != "auto") {
    TRY_ASSIGN(training.checkpoints.every, duration_of("--checkpoint", a.checkpoint));
  }
  TRY_ASSIGN(training.startup, duration_of("--startup", a.startup));
  TRY_ASSIGN(training.join, duration_of("--join", a.join));
  training.usd_per_hour_of_time = a.time_value;
  return training;
}

ServerWorld world_of(const TransientSimulateArguments& a, const PriceList& prices, Duration startup,
                     const LifetimeTable& lifetimes) {
  ServerWorld world;
  world.offers = prices.offers;
  world.start_up = [startup](const Offer&, Random& random) {
    return from_seconds(seconds(startup) * std::max(0.5, 1 + kStartupDeviation * random.normal()));
  };
  world.lifetime = [&lifetimes](const Offer& offer) { return lifetimes.of(offer); };
  if (a.shocks_per_day > 0) {
    for (const Offer& offer : prices.offers) {
      world.shocks[offer.zone] = {.per_hour = a.shocks_per_day / 24, .probability = a.shock_share};
    }
  }
  return world;
}

Json json_of(const PolicyResult& result) {
  const auto spread = [](const RunSpread& s) {
    return Json{{"mean", s.mean}, {"p10", s.p10}, {"median", s.median}, {"p90", s.p90}};
  };
  const bool any = result.finished > 0;
  std::map<std::string, int> ends;
  for (const TransientOutcome& run : result.runs) ++ends[run.end];
  return {{"policy", result.name},
          {"runs", result.runs.size()},
          {"finished", result.finished},
          {"ends", ends},
          {"time_s", any ? spread(result.time_s) : Json()},
          {"usd", any ? spread(result.usd) : Json()},
          {"usd_per_finished", any ? Json(result.usd_per_finished) : Json()},
          {"losses", result.losses},
          {"replacements", result.replacements},
          {"roll_backs", result.roll_backs},
          {"steps_lost", result.steps_lost}};
}

std::string table_of(const std::vector<PolicyResult>& results) {
  const std::vector<GridColumn> columns = {{"policy", true},       {"finished"}, {"mean time"},
                                           {"p90 time"},           {"mean USD"}, {"p90 USD"},
                                           {"USD a finished run"}, {"losses"},   {"replaced"}};
  std::vector<std::optional<double>> times_s;  // mean and p90 of each result
  for (const PolicyResult& result : results) {
    const bool any = result.finished > 0;
    times_s.push_back(any ? std::optional(result.time_s.mean) : std::nullopt);
    times_s.push_back(any ? std::optional(result.time_s.p90) : std::nullopt);
  }
  const std::vector<std::string> times = duration_column(times_s);
  std::vector<std::vector<std::string>> rows;
  for (const PolicyResult& result : results) {
    const auto usd = [&](double value) {
      return result.finished > 0 ? fmt::format("{:.3f}", value) : std::string("-");
    };
    const std::size_t time = 2 * rows.size();
    rows.push_back({result.name, fmt::format("{}/{}", result.finished, result.runs.size()),
                    times[time], times[time + 1], usd(result.usd.mean), usd(result.usd.p90),
                    usd(result.usd_per_finished), fmt::format("{:.2f}", result.losses),
                    fmt::format("{:.2f}", result.replacements)});
  }
  return grid(columns, rows);
}

}  // namespace

Status transient_simulate_command(const TransientSimulateArguments& a) {
  const auto begin = std::chrono::steady_clock::now();
  const NamedFile output{"--report", a.report};
  const NamedFile inputs[] = {{"--prices", a.cluster.prices}, {"--lifetimes", a.cluster.lifetimes}};
  TRY(check_outputs({&output, 1}, inputs));
  TRY_ASSIGN(const PriceList prices,
             a.cluster.prices.empty() ? published_prices() : read_prices(a.cluster.prices));
  TRY_ASSIGN(TransientTraining training, training_of(a, prices));
  TRY_ASSIGN(const LifetimeTable lifetimes, lifetimes_of(a.cluster.lifetimes, prices));
  training.lifetime_of = [&lifetimes](const Offer& offer) -> const Lifetime& {
    return lifetimes.of(offer);
  };
  TRY_ASSIGN(const auto policies, compared_policies(training, prices.offers, a.policies));
  std::vector<std::uint64_t> seeds(static_cast<std::size_t>(a.runs));
  std::iota(seeds.begin(), seeds.end(), a.seed);
  TRY_ASSIGN(const auto results,
             compare_replacements(training, world_of(a, prices, training.startup, lifetimes),
                                  policies, seeds));
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  const std::string subtitle = fmt::format(
      "{:.0f} steps on {} workers; {} seeds for each policy, which meets the same luck as the "
      "others; prices of {}",
      a.steps, a.cluster.workers, a.runs, prices.date);
  if (!a.report.empty()) TRY(write_output(a.report, simulate_page(results, subtitle)));
  if (a.json) {
    Json rows = Json::array();
    for (const PolicyResult& result : results) rows.push_back(json_of(result));
    return print_text(Json{{"policies", rows}, {"wall_s", wall.count()}}.dump() + "\n");
  }
  return print_text(policies_verdict(results) + "\n" + subtitle + ".\n\n" + table_of(results));
}

}  // namespace orrery
