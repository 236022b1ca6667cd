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

struct TwinCheckArguments {
  std::vector<std::string> runs{};  // folders of `orrery reproduce star`
  std::vector<std::string> fit{};   // texts in the names of those that the model is fitted to;
                                    // empty: each is predicted from all the others
  double noise = 0.2;               // measured times that differ by less are no order
  bool json = false;
};
Status twin_check_command(const TwinCheckArguments& arguments);

}  // namespace orrery
