#include "cloud/analysis/facts.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

double cost_of(const RunFacts& facts, const std::vector<const MeasuredServer*>& servers,
               const TrainingSetup& setup, const Rates& rates) {
  const double duration_s = facts.run->published->duration_s;
  if (servers.empty()) return rates.of_cluster(setup) * duration_s;
  const auto gpu = static_cast<MeasuredGpu>(
      std::ranges::find_if(setup.workers, [](int count) { return count > 0; }) -
      setup.workers.begin());
  double sum = setup.parameter_servers * rates.parameter_server * duration_s;
  for (const MeasuredServer* server : servers) {
    const bool short_lived = server->end == MeasuredEnd::Revoked && server->uptime_s.has_value();
    sum += rates.of_worker(setup, gpu) * (short_lived ? *server->uptime_s : duration_s);
  }
  return sum;
}

RunFacts facts_of(const EvaluatedRun& run, const MeasuredTraining& training, const Rates& rates) {
  RunFacts facts{.run = &run, .measured = result_of(run.evaluations)};
  std::vector<const MeasuredServer*> servers;
  for (const MeasuredServer& server : training.folder.servers) {
    if (server.key != run.key) continue;
    servers.push_back(&server);
    if (server.master) {
      facts.master_uptime_s = server.uptime_s;
      facts.master_revoked = was_revoked(server);
    } else if (was_revoked(server) && server.uptime_s) {
      facts.revoked_s.push_back(*server.uptime_s);
    }
  }
  std::ranges::sort(facts.revoked_s);
  if (run.published) facts.cost_usd = cost_of(facts, servers, training.setup, rates);
  return facts;
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  Spread spread{.count = values.size()};
  if (values.empty()) return spread;
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  spread.mean = sum / n;
  for (const double value : values) squares += std::pow(value - spread.mean, 2);
  spread.deviation_all = std::sqrt(squares / n);
  spread.deviation_sample = values.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
  spread.least = *std::ranges::min_element(values);
  spread.most = *std::ranges::max_element(values);
  return spread;
}

std::vector<ConfigFacts> facts_of(const PublishedData& data, const Rates& rates) {
  std::vector<ConfigFacts> all;
  for (const MeasuredTraining& training : data.training) {
    ConfigFacts facts{.training = &training, .rate_usd_s = rates.of_cluster(training.setup)};
    std::vector<double> duration_s, accuracy, nominal, file, measured_s;
    for (const EvaluatedRun& run : training.folder.runs) {
      const RunFacts& added = facts.runs.emplace_back(facts_of(run, training, rates));
      if (added.measured) measured_s.push_back(added.measured->duration_s);
      if (!added.completed()) continue;
      duration_s.push_back(run.published->duration_s);
      accuracy.push_back(run.published->accuracy);
      nominal.push_back(facts.rate_usd_s * run.published->duration_s);
      if (run.cost) file.push_back(run.cost->usd);
    }
    facts.duration_s = spread_of(duration_s);
    facts.accuracy = spread_of(accuracy);
    facts.cost_nominal = spread_of(nominal);
    facts.cost_file = spread_of(file);
    facts.measured_s = spread_of(measured_s);
    all.push_back(std::move(facts));
  }
  return all;
}

const ConfigFacts* find_config(const std::vector<ConfigFacts>& all, std::string_view config) {
  const auto found = std::ranges::find(all, config, &ConfigFacts::config);
  return found == all.end() || found->duration_s.count == 0 ? nullptr : &*found;
}

}  // namespace orrery
