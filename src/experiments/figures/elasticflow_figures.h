#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace orrery {

// What the figures of ElasticFlow (ASPLOS '23) say about its simulations: facts to compare with,
// never used by anything that schedules.
namespace elasticflow {

enum class Metric { DeadlineRatio, AvgJct, Efficiency, BestEffortGain };

// The policies of the figures, and two of ours that the figures do not have.
enum class Shown {
  Edf,
  EdfAdmission,
  EdfElastic,
  Gandiva,
  Tiresias,
  Themis,
  Chronus,
  Pollux,
  Released,
  Ours,
  OrreryDeadline,
};

struct ShownPolicy {
  std::string_view name;  // as the figures call it
  std::string_view policy;
  std::string_view options;   // key=value:key=value
  std::string_view schedule;  // as the released code calls it; empty: it does not have it
};
const ShownPolicy& shown_policy(Shown shown);

// One set-up of a figure: a trace on a cluster.
struct Setting {
  std::string_view figure;
  std::string_view label;
  std::string_view trace;
  std::string_view cluster;
  double x = 0;  // where it stands in the figure, if that is a curve
};

struct Figure {
  std::string_view name;
  std::string_view title;
  std::string_view gpu_type;
  int slot_s = 0;
  std::span<const Metric> metrics;
  std::span<const Shown> policies;
  std::string_view note;  // what one should know; may be empty
};
std::span<const Figure> figures();
std::span<const Setting> settings();  // of all figures, each figure's together

// What is published for a policy in the n-th set-up of a figure; 0: nothing.
double published(std::string_view figure, Metric metric, Shown shown, std::size_t setting);

std::string_view metric_key(Metric metric);  // as in `orrery simulate --json` where that has it
std::string_view metric_title(Metric metric);

}  // namespace elasticflow
}  // namespace orrery
