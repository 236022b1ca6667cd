#include "cloud/models/fit.h"

#include <algorithm>
#include <map>
#include <utility>

namespace orrery {
namespace {

// The published table lists the parameter servers' configurations first, by workers, with the
// single runs of one server and K80 behind each number of workers.
void add_server_points(const PublishedData& data, const std::array<double, 3>& speeds,
                       std::vector<NamedSpeedPoint>& points) {
  for (auto training = data.training.begin(); training != data.training.end(); ++training) {
    const TrainingSetup& setup = training->setup;
    if (setup.experiment != "experiment_1ps_vs_2ps") continue;
    const int workers = setup.workers_total();
    double sum = 0;
    for (std::size_t gpu = 0; gpu < 3; ++gpu) sum += setup.workers[gpu] * speeds[gpu];
    points.push_back(
        {setup.name, {sum, setup.parameter_servers, mean_of(*training).steps_per_s()}, false});
    const auto next = std::next(training);
    if (next != data.training.end() && next->setup.experiment == setup.experiment &&
        next->setup.workers_total() == workers) {
      continue;
    }
    for (const SingleTraining& single : data.singles) {
      const auto result = result_of(single.evaluations);
      if (single.workers != workers || !result) continue;
      points.push_back({"1ps" + std::to_string(workers) + "k",
                        {workers * speeds[0], 1, kTrainingSteps / result->duration_s},
                        false});
    }
  }
}

struct Listed {
  std::string_view config;
  bool full_name;  // True if the table writes the experiment too
  bool held_out;
};
constexpr Listed kOtherPoints[] = {
    {"p100_v100_spot/4p100", true, true},         {"p100_v100_spot/4v100", true, true},
    {"k80_on_demand/4-demand", true, false},      {"k80_on_demand/2-demand", true, false},
    {"k80_on_demand/8-demand", true, false},      {"experiment_mixed_gpu/1v1p2k", false, true},
    {"experiment_mixed_gpu/1v2p1k", false, true}, {"experiment_mixed_gpu/2v1p1k", false, true}};

}  // namespace

const MeasuredTraining* find_training(const PublishedData& data, std::string_view config) {
  const auto found = std::ranges::find_if(data.training, [&](const MeasuredTraining& training) {
    return training.folder.config == config;
  });
  return found == data.training.end() ? nullptr : &*found;
}

ConfigMean mean_of(const MeasuredTraining& training) {
  ConfigMean mean;
  for (const EvaluatedRun& run : training.folder.runs) {
    if (!run.published || !result_of(run.evaluations)) continue;
    mean.runs += 1;
    mean.duration_s += run.published->duration_s;
  }
  if (mean.runs > 0) mean.duration_s /= static_cast<double>(mean.runs);
  return mean;
}

std::array<double, 3> single_speeds(const PublishedData& data) {
  constexpr std::string_view kConfigs[] = {"k80_on_demand/k80-demand", "p100_v100_spot/p100",
                                           "p100_v100_spot/v100"};
  std::array<double, 3> speeds{};
  for (std::size_t gpu = 0; gpu < 3; ++gpu) {
    const MeasuredTraining* training = find_training(data, kConfigs[gpu]);
    if (training == nullptr) continue;
    const ConfigMean mean = mean_of(*training);
    if (mean.runs > 0) speeds[gpu] = mean.steps_per_s();
  }
  return speeds;
}

std::vector<NamedSpeedPoint> server_cap_points(const PublishedData& data) {
  const std::array<double, 3> speeds = single_speeds(data);
  std::vector<NamedSpeedPoint> points;
  add_server_points(data, speeds, points);
  for (const Listed& listed : kOtherPoints) {
    const MeasuredTraining* training = find_training(data, listed.config);
    if (training == nullptr) continue;
    double sum = 0;
    for (std::size_t gpu = 0; gpu < 3; ++gpu) sum += training->setup.workers[gpu] * speeds[gpu];
    points.push_back({listed.full_name ? std::string(listed.config) : training->setup.name,
                      {sum, training->setup.parameter_servers, mean_of(*training).steps_per_s()},
                      listed.held_out});
  }
  std::erase_if(points, [](const NamedSpeedPoint& named) {
    return !(named.point.sum_of_workers > 0) || !(named.point.steps_per_s > 0) ||
           named.point.steps_per_s > 1e9;
  });
  return points;
}

std::vector<NamedCrossRegionPoint> cross_region_points(const PublishedData& data) {
  const std::array<double, 3> speeds = single_speeds(data);
  std::vector<NamedCrossRegionPoint> points;
  for (const MeasuredTraining& training : data.training) {
    const TrainingSetup& setup = training.setup;
    if (setup.by_region.empty() || mean_of(training).runs == 0) continue;
    const bool p100 = setup.workers[1] > 0;
    const double alone = speeds[p100 ? 1 : 0];
    if (!(alone > 0)) continue;
    const std::string name = setup.name.substr(0, setup.name.find('-'));
    points.push_back({name + (p100 ? " P100" : " K80"),
                      {alone,
                       setup.parameter_servers,
                       {setup.by_region[0], setup.by_region[1], setup.by_region[2]},
                       mean_of(training).steps_per_s()}});
  }
  return points;
}

FittedModels fit_models(const PublishedData& data) {
  FittedModels models;
  std::vector<ClusterSpeedPoint> caps;
  for (const NamedSpeedPoint& named : server_cap_points(data)) caps.push_back(named.point);
  std::vector<CrossRegionPoint> regions;
  for (const NamedCrossRegionPoint& named : cross_region_points(data)) {
    regions.push_back(named.point);
  }
  const auto cap = fit_server_cap(caps);
  const auto delay = fit_region_delay(regions, cap.ok() ? cap.value() : ServerCap{});
  if (cap.ok() && delay.ok()) {
    const std::array<double, 3> speeds = single_speeds(data);
    std::map<std::string, double, std::less<>> by_gpu;
    for (std::size_t gpu = 0; gpu < 3; ++gpu) {
      if (speeds[gpu] > 0) by_gpu[std::string(text_of(kMeasuredGpus[gpu]))] = speeds[gpu];
    }
    models.cluster_speed.emplace(std::move(by_gpu), cap.value(), delay.value());
  }
  if (auto fitted = fit_step_time(data.cm_dare.step_times); fitted.ok()) {
    models.step_time = std::move(fitted).value();
  }
  if (auto fitted = fit_checkpoint_time(data.cm_dare.checkpoints); fitted.ok()) {
    models.checkpoint = std::move(fitted).value();
  }
  if (!data.cm_dare.startups.empty()) models.startup.emplace(data.cm_dare.startups);
  if (!data.lifetimes.empty()) models.revocation = RevocationModel::fit(data.lifetimes);
  return models;
}

}  // namespace orrery
