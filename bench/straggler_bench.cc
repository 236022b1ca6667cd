// The analysis of recorded steps: rows a second of reading them, and of all that `orrery stragglers
// analyse --json` computes. The trace is generated: a pipeline of 4 stages and 32 microbatches on 4
// workers over 44 steps, about as many rows as the larger published trace has.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/random.h"
#include "training/step_trace/step_trace_text.h"
#include "training/step_trace/straggler_analysis.h"

namespace orrery {
namespace {

constexpr int kWorkers = 4, kStages = 4, kMicrobatches = 32, kSteps = 44;

// One step of one worker. Forward passes of a stage come first, then backward passes.
class StepText {
 public:
  StepText(int worker, int step, Random& random) : worker_(worker), step_(step), random_(random) {}

  std::string text() {
    for (int stage = 0; stage < kStages; ++stage) {
      for (int i = 0; i < kMicrobatches; ++i) {
        computation(stage, OperationKind::ForwardCompute, i, stage + i, stage > 0,
                    stage + 1 < kStages, OperationKind::ForwardReceive, OperationKind::ForwardSend);
      }
      const double half = kStages + kMicrobatches;
      for (int i = 0; i < kMicrobatches; ++i) {
        computation(stage, OperationKind::BackwardCompute, i, half + kStages - stage + i,
                    stage + 1 < kStages, stage > 0, OperationKind::BackwardReceive,
                    OperationKind::BackwardSend);
      }
      const double end = 2 * half + 2;
      add(stage, OperationKind::GradsReduceScatter, 0, end, 0.5);
      add(stage, OperationKind::OptimizerClipMainGrad, 0, end + 1, 0.5);
      add(stage, OperationKind::Optimizer, 0, end + 2, 0.5);
    }
    return fmt::to_string(out_);
  }

 private:
  void computation(int stage, OperationKind kind, int i, double at, bool receives, bool sends,
                   OperationKind receive, OperationKind send) {
    const double took = 0.7 + 0.1 * random_.uniform();
    if (receives) add(stage, receive, i, at - 0.1, 0.1);
    add(stage, kind, i, at, took);
    if (sends) add(stage, send, i, at + took, 0.9 - took);
  }
  void add(int stage, OperationKind kind, int sequence, double start, double took) {
    append_step_operation(out_, {.step = step_,
                                 .worker = worker_,
                                 .stage = stage,
                                 .rank = worker_ * kStages + stage,
                                 .kind = kind,
                                 .sequence = sequence,
                                 .chunk = 0,
                                 .microbatch = sequence,
                                 .global_chunk = stage,
                                 .start_s = start,
                                 .duration_s = took});
  }

  const int worker_, step_;
  Random& random_;
  fmt::memory_buffer out_;
};

const std::string& trace_text() {
  static const std::string text = [] {
    Random random(1);
    std::string made = step_trace_header();
    for (int step = 0; step < kSteps; ++step) {
      for (int worker = 0; worker < kWorkers; ++worker) {
        made += StepText(worker, step, random).text();
      }
    }
    return made;
  }();
  return text;
}

void count_rows(benchmark::State& state, std::size_t rows) {
  state.counters["rows"] = static_cast<double>(rows);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows));
}

void BM_Read(benchmark::State& state) {
  std::size_t rows = 0;
  for (auto _ : state) {
    const auto trace = parse_step_trace("bench", trace_text());
    if (!trace.ok()) return state.SkipWithError(trace.error().message.c_str());
    rows = trace.value().operations.size();
  }
  count_rows(state, rows);
}
BENCHMARK(BM_Read)->Unit(benchmark::kMillisecond);

void BM_ReadAndAnalyse(benchmark::State& state) {
  std::size_t rows = 0;
  for (auto _ : state) {
    const auto trace = parse_step_trace("bench", trace_text());
    if (!trace.ok()) return state.SkipWithError(trace.error().message.c_str());
    const auto recorded = arrange_steps(trace.value(), shape_of(trace.value()));
    if (!recorded.ok()) return state.SkipWithError(recorded.error().message.c_str());
    const auto graph = make_step_graph(recorded.value());
    if (!graph.ok()) return state.SkipWithError(graph.error().message.c_str());
    StepReplay replay(recorded.value(), graph.value());
    benchmark::DoNotOptimize(analyse_stragglers(recorded.value(), replay, {}));
    rows = trace.value().operations.size();
  }
  count_rows(state, rows);
}
BENCHMARK(BM_ReadAndAnalyse)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery
