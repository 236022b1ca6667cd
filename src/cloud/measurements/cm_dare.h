#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cloud/measurements/table.h"

namespace orrery {

// One measured second-long speed of a network on one GPU without network latency.
struct StepTimeSample {
  std::string gpu;        // "K80"
  std::string model;      // "Res15"
  double tflops = 0;      // of the GPU
  double gflop = 0;       // of a training step
  double normalized = 0;  // gflop on a scale from 0 to 1 over all models
  double parameters = 0;
  double step_s = 0;
};
Result<std::vector<StepTimeSample>> read_step_times(const std::string& path);

struct CheckpointSample {
  std::string model;
  double size_mb = 0;
  double duration_s = 0;
};
Result<std::vector<CheckpointSample>> read_checkpoints(const std::string& path);

// From the request of a server until it can be logged in to.
struct StartupSample {
  double provisioning_s = 0;
  double staging_s = 0;
  double booting_s = 0;
  double total_s() const { return provisioning_s + staging_s + booting_s; }
};
Result<std::vector<StartupSample>> read_startups(const std::string& path);

// The start-up times of one setting, which is a folder: "pre_east" (preemptible), "on_demand_west".
struct StartupTable {
  std::string setting;
  std::string gpu;  // "K80"
  bool preemptible = false;
  std::vector<StartupSample> samples;
};

// Steps a second of a cluster, logged about every hundred steps.
struct ClusterSpeedSeries {
  std::string gpus;   // the folder: "k80", "p100", "p100ps2" with two parameter servers
  std::string model;  // "res15", "res32", "shakesmall", "shakebig"
  int workers = 0;
  std::vector<SeriesPoint> speeds;
};

// All of a folder of CM-DARE. A part whose folder is missing is empty.
struct CmDareData {
  std::vector<StepTimeSample> step_times;  // those of a GPU together
  std::vector<CheckpointSample> checkpoints;
  std::vector<StartupTable> startups;              // by setting, then GPU
  std::vector<ClusterSpeedSeries> cluster_speeds;  // by GPUs, model, workers
};
Result<CmDareData> read_cm_dare(const std::string& path);

}  // namespace orrery
