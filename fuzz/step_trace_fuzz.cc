#include <cstdint>
#include <string>

#include "base/invariant.h"
#include "training/step_trace/perfetto_trace.h"
#include "training/step_trace/step_trace_text.h"
#include "training/step_trace/straggler_analysis.h"

using namespace orrery;

namespace {

template <class T>
bool refused(const Result<T>& result) {
  if (result.ok()) return false;
  INVARIANT(result.error().code == Code::InvalidArgument, result.error().message.c_str());
  return true;
}

}  // namespace

// Whatever the bytes are, they are analysed or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  // What follows a NUL byte is the meta file.
  const std::size_t end = text.find('\0');
  const auto trace = parse_step_trace("trace", text.substr(0, end));
  if (refused(trace)) return 0;
  TrainingShape shape = shape_of(trace.value());
  if (end != std::string::npos) {
    const auto read = parse_training_shape("meta", text.substr(end + 1));
    if (refused(read)) return 0;
    shape = read.value();
  }
  const auto recorded = arrange_steps(trace.value(), shape);
  if (refused(recorded)) return 0;
  const auto graph = make_step_graph(recorded.value());
  if (refused(graph)) return 0;
  StepReplay replay(recorded.value(), graph.value());
  const StragglerAnalysis analysis =
      analyse_stragglers(recorded.value(), replay, {.by_rank = true});
  find_culprit(recorded.value(), analysis);
  const StepTimes& ideal = replay.replay(ideal_durations(recorded.value(), replay.own_durations()));
  const Status written =
      write_perfetto_trace(recorded.value(), ideal, [](std::string_view) { return Status{}; });
  INVARIANT(written.ok(), "nothing is refused here");
  return 0;
}
