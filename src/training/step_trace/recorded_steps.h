#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "training/step_trace/step_trace.h"
#include "training/step_trace/training_shape.h"

namespace orrery {

// A value for each operation of a step, in every step of every worker. All workers and steps have
// the same operations, so they lie side by side: lane `step * workers + worker`.
class LaneValues {
 public:
  LaneValues() = default;
  LaneValues(std::size_t operations, std::size_t lanes)
      : lanes_(lanes), values_(operations * lanes) {}

  std::size_t lanes() const { return lanes_; }
  double* of(std::size_t operation) { return values_.data() + operation * lanes_; }
  const double* of(std::size_t operation) const { return values_.data() + operation * lanes_; }

 private:
  std::size_t lanes_ = 0;
  std::vector<double> values_;
};

// The operations of a trace as a table: rows are the operations that worker 0 has in the first
// step, columns the lanes. Times are seconds since the first operation of their step began.
struct RecordedSteps {
  std::string name;  // of the file, for messages
  TrainingShape shape;
  std::vector<std::int64_t> steps;        // ascending
  std::vector<int> ranks;                 // of worker w and stage s: [w * stages + s]
  std::vector<StepOperation> operations;  // of worker 0 in the first step
  LaneValues starts;
  LaneValues durations;

  std::size_t workers() const { return static_cast<std::size_t>(shape.workers); }
  std::size_t stages() const { return static_cast<std::size_t>(shape.stages); }
  std::size_t lanes() const { return steps.size() * workers(); }
};

// What the trace alone says about the shape: its workers and stages.
TrainingShape shape_of(const StepTrace& trace);

// Fails if an operation occurs twice, or if a worker or step lacks an operation that another has.
Result<RecordedSteps> arrange_steps(const StepTrace& trace, const TrainingShape& shape);

}  // namespace orrery
