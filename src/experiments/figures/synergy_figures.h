#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::synergy {

enum class Metric : std::uint8_t { AvgJct, P99Jct, Makespan, GpuUse, CpuUse, MemoryUse };

std::string_view metric_key(Metric metric);    // as in JSON
std::string_view metric_title(Metric metric);  // with its unit
bool is_share(Metric metric);                  // in per cent; the others are hours

// What one place of a figure is run on.
struct Setting {
  std::string label;
  double x = 0;         // its place on the axis of the figure, where that has one
  std::string trace;    // a file of the data, or, where `load` is not 0, options of the generator
  double load = 0;      // jobs an hour
  std::string cluster;  // a file of the data
  int first = 0;        // figures are taken over jobs first <= id < end; all, where end is 0
  int end = 0;
  bool at_once = false;   // all jobs are there at the start
  bool check = false;     // only to be held against others, not part of the figure
  std::string reference;  // how a table of reference runs calls it: see ReferenceTable

  // Jobs to draw: those of the window and of the hours after it.
  std::int64_t jobs() const;
};

struct Figure {
  std::string_view name;  // as --figure has it
  std::string_view title;
  std::string_view note;
  std::string_view axis;  // what the settings differ in; empty: no axis
  std::vector<std::string_view> orders;
  std::vector<std::string_view> allocators;  // of those that are built
  std::vector<Metric> metrics;
  std::vector<Setting> settings;
};

const std::vector<Figure>& figures();

std::string heading(const Figure& figure);  // "Figure 7", or its name

// Arrivals go on for so long after the last job of a window came, which is beyond the end of any
// run that keeps up with them.
inline constexpr double kArrivalsAfter_h = 300;

// The figure as published, where that is known.
std::optional<double> published(const Figure& figure, const Setting& setting,
                                std::string_view policy, Metric metric);

// How many times better tune is than what it is compared with, as the paper says.
struct Claim {
  std::string_view text;
  std::string_view figure;
  double published = 0;
  std::string_view order;    // empty: the best of any
  std::string_view setting;  // likewise
  std::string_view over;     // the allocator that is worse
  std::string_view under;    // the allocator that is better
  Metric metric{};
};
const std::vector<Claim>& claims();

}  // namespace orrery::synergy
