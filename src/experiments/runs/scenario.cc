#include "experiments/runs/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "cloud/market/spot_trace.h"
#include "experiments/runs/run_texts.h"
#include "model/duration_text.h"
#include "workload/formats/row.h"
#include "workload/outages/fault_trace.h"
#include "workload/outages/spot_outages.h"

namespace orrery {
namespace {

constexpr double kPriceMax = 1e6;

Result<Duration> read_duration(const char* option, const std::string& text) {
  auto duration = parse_duration(text);
  if (!duration.ok()) return std::move(duration).error().at(option);
  return duration;
}

Status read_price(std::string_view text, FaultRules& rules) {
  TRY_ASSIGN(const auto pair, split_pair(std::string(text)));
  const auto price = parse_number(pair.second, 0, kPriceMax);
  if (!price.ok()) return price.error();
  if (pair.first == "on-demand") {
    rules.on_demand_price = price.value();
  } else if (pair.first == "spot") {
    rules.spot_price = price.value();
  } else {
    return invalid(fmt::format("there is no '{}'; write on-demand=X,spot=Y", pair.first));
  }
  return {};
}

Status read_prices(std::string_view text, FaultRules& rules) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (auto read = read_price(text.substr(0, comma), rules); !read.ok()) {
      return std::move(read).error().at("--price");
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return {};
}

Result<FaultRules> read_rules(const ScenarioTexts& texts, const Cluster& cluster) {
  FaultRules rules;
  const auto nodes = static_cast<std::int64_t>(cluster.nodes.size());
  if (texts.on_demand_nodes > nodes) {
    return invalid(
        fmt::format("--on-demand {}: the cluster has {} nodes", texts.on_demand_nodes, nodes));
  }
  if (texts.spot.empty() && texts.on_demand_nodes > 0) {
    return invalid("--on-demand: says which nodes are not spot, so it goes with --spot");
  }
  rules.on_demand_nodes = static_cast<int>(texts.spot.empty() ? nodes : texts.on_demand_nodes);
  TRY(read_prices(texts.prices, rules));
  if (!texts.notice.empty()) {
    TRY_ASSIGN(rules.notice, read_duration("--notice", texts.notice));
  }
  if (!texts.checkpoint_cost.empty()) {
    TRY_ASSIGN(rules.checkpoint_cost, read_duration("--checkpoint-cost", texts.checkpoint_cost));
  }
  const std::string& interval = texts.checkpoint_interval;
  if (interval.empty() || interval == "none") return rules;
  TRY_ASSIGN(rules.checkpoint_interval, read_duration("--checkpoint-interval", interval));
  if (rules.checkpoint_interval == Duration::zero()) {
    return invalid("--checkpoint-interval 0: write none, or how long a job trains between saves");
  }
  return rules;
}

std::string rules_text(const FaultRules& rules) {
  std::string text = rules.checkpoint_interval == Duration::zero()
                         ? "no checkpoints"
                         : "checkpoints every " + duration_text(rules.checkpoint_interval);
  if (rules.checkpoint_cost > Duration::zero()) {
    text += fmt::format(", a save takes {}", duration_text(rules.checkpoint_cost));
  }
  if (rules.notice > Duration::zero()) text += ", notice " + duration_text(rules.notice);
  return text;
}

std::string file_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

}  // namespace

Result<std::shared_ptr<const Workload>> mark_lasting(const Workload& workload,
                                                     const ScenarioTexts& texts) {
  Duration least{};
  if (!texts.lasting.empty()) {
    TRY_ASSIGN(least, read_duration("--lasting", texts.lasting));
  }
  auto marked = std::make_shared<Workload>(workload);
  for (JobSpec& job : marked->jobs) job.lasting = job.duration_s() >= seconds(least);
  return std::shared_ptr<const Workload>(std::move(marked));
}

Result<std::shared_ptr<const NodeScenario>> read_scenario(const ScenarioTexts& texts,
                                                          const Cluster& cluster,
                                                          std::uint64_t seed) {
  if (!texts.has_nodes()) {
    if (texts == ScenarioTexts()) return std::shared_ptr<const NodeScenario>();
    return invalid(
        "--notice, --checkpoint-interval, --checkpoint-cost, --lasting, --on-demand, "
        "--fault-servers and --price are about nodes that come and go; name --faults or --spot");
  }
  auto scenario = std::make_shared<NodeScenario>();
  TRY_ASSIGN(scenario->rules, read_rules(texts, cluster));
  std::vector<Outage> outages;
  std::vector<std::string> parts;
  if (!texts.faults.empty()) {
    TRY_ASSIGN(const FaultTrace trace, read_fault_trace(texts.faults));
    TRY_ASSIGN(outages, outages_on(trace, cluster, texts.fault_servers));
    scenario->end = trace.end;
    parts.push_back(fmt::format("faults of {}", file_of(texts.faults)));
    if (trace.overlapping > 0) {
      scenario->remark = fmt::format(
          "{}: {} faults begin while their server is down already; it is down until "
          "all have ended",
          texts.faults, trace.overlapping);
    }
  }
  if (!texts.spot.empty()) {
    std::vector<ZoneCapacity> zones;
    for (const std::string& path : texts.spot) {
      TRY_ASSIGN(SpotTrace trace, read_spot_trace(path));
      zones.push_back({.tick = trace.tick, .machines = std::move(trace.capacity)});
      scenario->end = std::max(scenario->end, zones.back().end());
      parts.push_back(fmt::format("spot {}", file_of(path)));
    }
    auto revoked =
        spot_outages(zones, cluster, static_cast<std::size_t>(texts.on_demand_nodes), seed);
    if (!revoked.ok()) return std::move(revoked).error().at("--spot");
    outages.insert(outages.end(), revoked.value().begin(), revoked.value().end());
  }
  parts.push_back(rules_text(scenario->rules));
  scenario->text = fmt::format("{}", fmt::join(parts, ", "));
  scenario->changes = node_changes(std::move(outages), scenario->rules.notice);
  return std::shared_ptr<const NodeScenario>(std::move(scenario));
}

}  // namespace orrery
