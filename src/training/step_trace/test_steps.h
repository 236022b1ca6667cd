#pragma once

#include <string>
#include <utility>
#include <vector>

#include "training/step_trace/recorded_steps.h"
#include "training/step_trace/step_graph.h"

namespace orrery {

// Traces for tests, operation by operation.
class TestSteps {
 public:
  // The next of its kind, stage and step of this worker, after all of them.
  TestSteps& add(StepOperation operation) {
    for (const StepOperation& other : trace_.operations) {
      const bool same = other.step == operation.step && other.worker == operation.worker &&
                        other.stage == operation.stage && other.kind == operation.kind;
      operation.sequence += same ? 1 : 0;
    }
    trace_.operations.push_back(operation);
    trace_.lines.push_back(static_cast<std::int64_t>(trace_.operations.size()) + 1);
    return *this;
  }

  // A step of workers that hold whole models: each computes, then all sum their gradients.
  TestSteps& all_reduce_step(std::int64_t step, const std::vector<double>& compute_s,
                             double sum_s) {
    double last = 0;
    for (const double took : compute_s) last = std::max(last, took);
    const double begin = 100.0 * static_cast<double>(step);
    for (std::size_t w = 0; w < compute_s.size(); ++w) {
      const int worker = static_cast<int>(w);
      add({.step = step,
           .worker = worker,
           .rank = worker,
           .kind = OperationKind::Compute,
           .start_s = begin,
           .duration_s = compute_s[w]});
      add({.step = step,
           .worker = worker,
           .rank = worker,
           .kind = OperationKind::GradientAllReduce,
           .start_s = begin + compute_s[w],
           .duration_s = last - compute_s[w] + sum_s});
    }
    return *this;
  }

  // A step of one worker with two stages and one microbatch: forward at stage 0 then 1, backward at
  // 1 then 0, the optimizer at both. Each computation takes `compute_s`, each transfer 1 s.
  TestSteps& pipeline_step(std::int64_t step, int worker, double compute_s) {
    const auto at = [&](int stage, OperationKind kind, double start, double took, int chunk = -1) {
      add({.step = step,
           .worker = worker,
           .stage = stage,
           .rank = 2 * worker + stage,
           .kind = kind,
           .chunk = 0,
           .global_chunk = chunk,
           .start_s = start,
           .duration_s = took});
    };
    using enum OperationKind;
    const double c = compute_s;
    at(0, ForwardCompute, 0, c, 0);
    at(0, ForwardSend, c, 1);
    at(1, ForwardReceive, 0, c + 1);
    at(1, ForwardCompute, c + 1, c, 1);
    at(1, BackwardCompute, 2 * c + 1, c, 1);
    at(1, BackwardSend, 3 * c + 1, 1);
    at(0, BackwardReceive, c, 2 * c + 2);
    at(0, BackwardCompute, 3 * c + 2, c, 0);
    at(0, Optimizer, 4 * c + 2, 1);
    at(1, Optimizer, 3 * c + 1, 1);
    return *this;
  }

  StepTrace& trace() { return trace_; }
  Result<RecordedSteps> arranged() const { return arrange_steps(trace_, shape_of(trace_)); }
  // Of a trace that is known to be right.
  RecordedSteps recorded() const { return arranged().value(); }

 private:
  StepTrace trace_{.name = "steps.csv", .operations = {}, .lines = {}};
};

}  // namespace orrery
