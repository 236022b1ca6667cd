#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cloud/lifetimes/survival_curve.h"
#include "model/time.h"

namespace orrery {

// GCE ended preemptible servers at this age.
inline constexpr Duration kPreemptibleLife = std::chrono::hours(24);

// One server of the measurements of lifetimes in 2018 and 2019 (docs/formats/transient-data.md).
struct LifetimeRecord {
  std::string gpu;  // "K80", "P100", "V100"; "CPU": none
  int year = 0;
  std::string day{};  // the heading above it, in the section of 2018: "8-May"
  std::string zone;
  std::string name;
  bool stressed = true;  // True if it ran a load
  Duration age{};        // at its end, no more than 24 h
  bool revoked = false;  // False if it lived to the limit
  int hour_ended = 0;    // of the day, on the clock of the file
  std::int64_t line = 0;
};

// Reads lifetime.csv of the published data. Rows of 2018 hold the time of day only, or hours since
// 1899 where the authors knew the day. The rule below gives the lifetimes that the authors drew:
// hours since 1899 are exact; of the others the difference is taken modulo a day, and less than an
// hour means the limit, except for eight servers that the authors knew to be revoked.
Result<std::vector<LifetimeRecord>> parse_lifetimes(std::string_view name, std::string_view text);
Result<std::vector<LifetimeRecord>> read_lifetimes(const std::string& path);

LifetimeSample sample_of(const LifetimeRecord& record);

}  // namespace orrery
