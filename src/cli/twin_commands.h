#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace orrery {

struct TwinRunArguments {
  std::vector<std::string> modes = {"ssgd", "star"};
  std::string architecture = "ps";
  std::string model{};       // file; empty: what comes along
  std::string stragglers{};  // file; empty: none
  int workers = 8;
  int batch = 32;
  double rate = 0.1;
  double target = 0;
  std::int64_t steps = 0;  // gradients; 0: until the target
  std::vector<std::uint64_t> seeds = {1};
  std::string curve{};  // file to write; with one mode and seed
  bool json = false;
};
Status twin_run_command(const TwinRunArguments& arguments);

struct TwinFitArguments {
  std::vector<std::string> curves{};  // files
  std::string model{};                // to start from
  std::string output{};
  bool json = false;
};
Status twin_fit_command(const TwinFitArguments& arguments);

}  // namespace orrery
