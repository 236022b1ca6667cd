#include "training/step_trace/perfetto_trace.h"

#include <gtest/gtest.h>

#include "training/step_trace/straggler_analysis.h"
#include "training/step_trace/test_steps.h"

namespace orrery {
namespace {

std::string traced(const RecordedSteps& recorded) {
  const auto graph = make_step_graph(recorded);
  EXPECT_TRUE(graph.ok());
  StepReplay replay(recorded, graph.value());
  const StepTimes& ideal = replay.replay(ideal_durations(recorded, replay.own_durations()));
  std::string text;
  const Status written = write_perfetto_trace(recorded, ideal, [&](std::string_view piece) {
    text += piece;
    return Status{};
  });
  EXPECT_TRUE(written.ok());
  return text;
}

TEST(PerfettoTrace, EachOperationIsAnEventInMicroseconds) {
  TestSteps steps;
  const std::string text = traced(steps.all_reduce_step(4, {1, 3}, 0.5).recorded());
  EXPECT_NE(text.find("{\"ph\":\"X\",\"pid\":1,\"tid\":0,\"name\":\"gradient-all-reduce\",\"ts\":"
                      "3000000.000,\"dur\":500000.000,\"args\":{\"step\":4,"),
            std::string::npos)
      << text;
}

TEST(PerfettoTrace, StepsFollowEachOther) {
  TestSteps steps;
  const std::string text =
      traced(steps.all_reduce_step(4, {1, 3}, 0.5).all_reduce_step(9, {2, 2}, 0.5).recorded());
  EXPECT_NE(text.find("\"ts\":3500000.000,\"dur\":2000000.000,\"args\":{\"step\":9"),
            std::string::npos)
      << text;
}

TEST(PerfettoTrace, TheStepWithoutSlownessHasProcessesOfItsOwn) {
  TestSteps steps;
  const std::string text = traced(steps.all_reduce_step(4, {1, 3}, 0.5).recorded());
  EXPECT_NE(text.find("\"name\":\"worker 1, without slowness\""), std::string::npos);
  EXPECT_NE(text.find("\"pid\":3,\"tid\":0,\"name\":\"compute\",\"ts\":0.000,\"dur\":2000000.000"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace orrery
