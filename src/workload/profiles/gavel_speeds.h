#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace orrery {

// What Gavel measured: steps a second of a job type, such as "ResNet-18 (batch size 64)", on
// some workers of one GPU type, each job alone.
class GavelSpeeds {
 public:
  // Reads simulation_throughputs.json. The GPU type that is meant is `gpu_type`, else v100, to
  // which Gavel's own durations refer, else the only one there is.
  static Result<GavelSpeeds> read(const std::string& path, std::string_view gpu_type);
  // The same from its text; `name` stands where the path would in messages.
  static Result<GavelSpeeds> parse(std::string_view name, std::string_view text,
                                   std::string_view gpu_type);

  // 0: not measured.
  double steps_per_s(std::string_view job_type, int workers) const;

 private:
  std::map<std::pair<std::string, int>, double, std::less<>> speeds_;
};

inline constexpr std::string_view kGavelSpeedsFile = "simulation_throughputs.json";

}  // namespace orrery
