#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery {

// The GPUs of the published runs, slowest first. Arrays by GPU have this order.
enum class MeasuredGpu : std::uint8_t { K80, P100, V100 };
inline constexpr std::array<MeasuredGpu, 3> kMeasuredGpus = {MeasuredGpu::K80, MeasuredGpu::P100,
                                                             MeasuredGpu::V100};
std::string_view text_of(MeasuredGpu gpu);

// The cluster behind a folder of published runs, as its name says it.
struct TrainingSetup {
  std::string experiment;        // "k80_spot", "experiment_1ps_vs_2ps"
  std::string name;              // "8-spot", "2ps4v"
  std::array<int, 3> workers{};  // by GPU; the master is one of them
  int parameter_servers = 0;     // none if there is one worker
  bool on_demand = false;
  std::vector<int> by_region{};  // cross-region runs: workers in east, central, west; else none

  int workers_total() const { return workers[0] + workers[1] + workers[2]; }
};

// Reads "k80_spot/8-spot" and the like.
Result<TrainingSetup> parse_setup(std::string_view config);

// True if `left` stands before `right` in tables: by experiment, then by size.
bool stands_before(const TrainingSetup& left, const TrainingSetup& right);

}  // namespace orrery
