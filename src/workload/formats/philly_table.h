#pragma once

#include <array>

// What the generator philly-like draws from: counts and quantiles of the 82,247 jobs of Microsoft's
// Philly cluster, September to December 2017. docs/formats/philly-like.md says how they were taken.

namespace orrery {

struct PhillySize {
  int gpus;
  int jobs;
};

// GPU counts rounded to the nearest power of two, those above 64 counted as 64.
inline constexpr std::array<PhillySize, 7> kPhillySizes = {
    {{1, 76627}, {2, 1818}, {4, 1870}, {8, 1643}, {16, 206}, {32, 74}, {64, 9}}};

inline constexpr std::array<double, 18> kPhillyProbabilities = {
    0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1};

// Seconds a job ran, at those probabilities; rows for 1, 2, 4, 8, 16 and from 32 GPUs.
inline constexpr std::array<std::array<double, 18>, 6> kPhillyDurations_s = {{
    {1, 30, 52, 62, 76, 215, 600, 1117, 1728, 2464, 3754, 8512, 19137, 68252, 135399, 266914,
     865709, 3256045},
    {2, 5, 9, 11, 15, 17, 19, 21, 25, 33, 149, 72740, 197062, 343862, 523316, 808064, 1474215,
     2582803},
    {3, 36, 75, 138, 405, 1696, 7468, 17410, 36288, 78660, 106284, 184435, 273968, 533378, 907376,
     1205990, 2446301, 2750674},
    {1, 33, 125, 216, 785, 4011, 12382, 23683, 65014, 140721, 203050, 351982, 525618, 795161,
     1060498, 2000448, 2656479, 4628226},
    {2, 20, 40, 62, 277, 634, 7921, 37188, 72685, 139766, 184816, 338082, 505394, 654329, 1139333,
     1364439, 1640786, 1710643},
    {1, 2, 5, 330, 815, 1103, 1665, 3718, 30676, 47498, 53638, 59596, 77355, 124276, 144112, 178707,
     206383, 213302},
}};

// Submissions by hour of the day and by day of the week from Monday, as counted; only their ratios
// matter.
inline constexpr std::array<double, 24> kPhillyHours = {
    4367, 3374, 3835, 3780, 2400, 3950, 5732, 7159, 3802, 3447, 3510, 2979,
    2567, 2415, 2185, 2224, 3021, 2289, 2744, 2496, 3483, 3142, 3885, 3461};
inline constexpr std::array<double, 7> kPhillyDays = {10136, 12528, 13370, 15114,
                                                      16954, 7157,  6988};

}  // namespace orrery
