#pragma once

#include <string>

#include "base/result.h"
#include "training/trainer/run_options.h"
#include "training/trainer/transport/part.h"

namespace orrery {

// The sub-commands of `orrery-train`.
Status run_command(const RunOptions& options, const TrainPorts& ports);
// Makes the folder of a run that members lead and carry out.
Status prepare_command(const RunOptions& options);
struct ResizeArguments {
  std::string folder{};
  int workers = 0;
  bool anyway = false;  // also beyond what the machine is thought to bear
  bool json = false;
};
Status resize_command(const ResizeArguments& arguments);
struct EvaluateArguments {
  std::string folder{};
  std::string from = "last";  // or "best"
  bool json = false;
};
// How well a checkpoint of a run does on the test set.
Status evaluate_command(const EvaluateArguments& arguments, const TrainPorts& ports);

struct JoinArguments {
  std::string head{};  // HOST:PORT
  std::string token_file{};
  std::string listen{};  // empty: the address by which it reaches the head
};
Status worker_command(const JoinArguments& arguments, const TrainPorts& ports);

}  // namespace orrery
