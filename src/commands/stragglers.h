#pragma once

#include <string>

#include "base/result.h"

namespace orrery {

struct StragglersArguments {
  std::string trace{};   // CSV, packed with zstd if its name ends in .zst
  std::string meta{};    // YAML; empty: the shape is what the trace shows
  std::string report{};  // files to write
  std::string perfetto{};
  bool json = false;
};
Status stragglers_command(const StragglersArguments& arguments);

}  // namespace orrery
