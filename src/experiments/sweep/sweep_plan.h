#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "experiments/sweep/sweep_spec.h"
#include "model/run_description.h"
#include "workload/trace.h"

namespace orrery {

// One run of a sweep.
struct SweepPoint {
  // The place of its value on each axis; kNoValue where an axis does not reach it.
  std::vector<std::size_t> values;
  SweepSettings settings;  // that reach the run, by name
  std::string trace;       // a file, or a generator with all of its options
  TraceOptions reading;
  std::string cluster;
  std::string label;  // of its policy
  RunDescription run;
};

inline constexpr std::size_t kNoValue = static_cast<std::size_t>(-1);

// All runs of a sweep, in the order of its tables: the last axis changes first.
struct SweepPlan {
  std::vector<SweepAxis> axes;
  std::vector<SweepPoint> points;
  std::optional<std::size_t> seed_axis;  // over which figures are aggregated
  std::vector<SweepChoice> baseline;     // a value each; empty: nothing to compare with
  // By point: the run of the baseline that has its other values. Empty for runs of the baseline.
  std::vector<std::optional<std::size_t>> baseline_of;
  SweepReport report;

  // Empty where the axis does not reach the point.
  std::string_view label(const SweepPoint& point, std::size_t axis) const;
  // An axis with the name of a metric is called generator.NAME.
  std::string column(std::size_t axis) const;
  // "policy=fifo"; empty without a baseline.
  std::string baseline_text() const;
  // "policy=fifo, load=0.5, seed=3"
  std::string text_of(const SweepPoint& point) const;
};

// Makes the runs. An option reaches runs of the policies that know it, a parameter those whose
// generator has it; a run has it once where neither does, and a value that policy or trace state
// themselves stays. An axis that reaches no run is an error.
Result<SweepPlan> plan_sweep(const SweepSpec& spec);

}  // namespace orrery
