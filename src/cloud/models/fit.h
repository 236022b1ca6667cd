#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cloud/measurements/published_data.h"
#include "cloud/models/cluster_speed.h"
#include "cloud/models/revocation_model.h"
#include "cloud/models/server_times.h"
#include "cloud/models/step_time.h"

namespace orrery {

// Mean over the runs that reached the target.
struct ConfigMean {
  std::size_t runs = 0;
  double duration_s = 0;
  double steps_per_s() const { return kTrainingSteps / duration_s; }
};
ConfigMean mean_of(const MeasuredTraining& training);
// The configuration of that name ("k80_spot/8-spot"); none if its folder is missing.
const MeasuredTraining* find_training(const PublishedData& data, std::string_view config);

// Steps a second of one worker of each GPU, from the runs with one server; 0: not measured.
std::array<double, 3> single_speeds(const PublishedData& data);

// A measured configuration as the model of the parameter servers sees it.
struct NamedSpeedPoint {
  std::string name;  // as the tables spell it: "1ps2v", "p100_v100_spot/4p100"
  ClusterSpeedPoint point;
  bool held_out = false;  // True if the fit without 4 P100, 4 V100 and mixed clusters leaves it out
};
std::vector<NamedSpeedPoint> server_cap_points(const PublishedData& data);

struct NamedCrossRegionPoint {
  std::string name;  // "3e1c P100"
  CrossRegionPoint point;
};
std::vector<NamedCrossRegionPoint> cross_region_points(const PublishedData& data);

// All models for which the data suffice; the others are empty.
struct FittedModels {
  std::optional<ClusterSpeed> cluster_speed{};
  std::optional<StepTimeModel> step_time{};
  std::optional<CheckpointTime> checkpoint{};
  std::optional<StartupTimes> startup{};
  std::optional<RevocationModel> revocation{};
};
FittedModels fit_models(const PublishedData& data);

}  // namespace orrery
