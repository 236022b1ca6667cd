#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cloud/lifetimes/lifetime_table.h"
#include "cloud/measurements/cm_dare.h"
#include "cloud/measurements/training_folder.h"
#include "cloud/measurements/training_setup.h"

namespace orrery {

struct MeasuredTraining {
  TrainingSetup setup;
  TrainingFolder folder;
};

// One run without a table of results, one parameter server: 1ps_k80/4_data.csv.
struct SingleTraining {
  int workers = 0;
  std::vector<SeriesPoint> evaluations;
};

// Accuracy over steps under one rule for the learning rate: adaptive_lr/lr_case1.csv.
struct RateSeries {
  std::string name;  // "lr_case1"
  std::vector<SeriesPoint> evaluations;
};

// What was found. A part whose folder is missing is empty.
struct PublishedData {
  std::vector<std::string> folders;        // that were read
  std::vector<MeasuredTraining> training;  // in the order of stands_before()
  std::vector<SingleTraining> singles;     // by workers
  std::vector<RateSeries> rates;           // by name
  std::vector<LifetimeRecord> lifetimes;
  CmDareData cm_dare;
};

// Reads the folders of Transient-DL (with training/, lifetime/, adaptive_lr/) and of CM-DARE (with
// speed_data/, checkpoint/, startup_time/, speed_and_cluster_size/), or folders that hold them as
// transient/ and cm-dare/. If one of two neighbours of these names is given alone, the other is
// read too. A folder that holds none of it is an error.
Result<PublishedData> read_published_data(std::span<const std::string> folders);

}  // namespace orrery
