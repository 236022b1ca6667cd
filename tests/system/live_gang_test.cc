// A training job over two nodes: a scheduler, two agents and `orrery-train`, each as a process.
#include <nlohmann/json.hpp>

#include "system/live.h"

namespace orrery {
namespace {

using nlohmann::json;

class LiveGang : public LiveTest {
 protected:
  JobRequest training(int steps) const {
    return {.argv = {ORRERY_TRAIN_BINARY, "run", "--model", "mlp", "--data", "gaussian", "--batch",
                     "96", "--workers", "2", "--steps", std::to_string(steps), "--json", "--quiet",
                     "--dir", file("run")},
            .name = "gang",
            .gpus = 2,
            .output = file("out.%r"),
            .errors = file("errors.%r")};
  }
};

TEST_F(LiveGang, OverTwoAgentsRank0LeadsRank1JoinsAndTheRunIsTrainedOnce) {
  constexpr int kSteps = 300;
  const auto scheduler = serve({});
  const auto first = agent("first", {"--gpus", "1"});
  const auto second = agent("second", {"--gpus", "1"});
  ASSERT_TRUE(eventually([&] { return node("first") && node("second"); }));
  const auto answer = RpcClient(admin()).submit({.job = training(kSteps)});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  const JobNumber id = answer.value().first;
  std::vector<std::string> nodes;
  ASSERT_TRUE(eventually(
      [&] {
        const auto now = job(id);
        if (now && now->nodes.size() == 2) nodes = now->nodes;
        return now && is_final(now->state);
      },
      std::chrono::seconds(300)));
  const std::string errors = file_text(file("errors.0")) + file_text(file("errors.1"));
  EXPECT_EQ(job(id)->state, JobState::Done) << job(id)->reason << "\n" << errors;
  EXPECT_EQ(job(id)->epoch, 1);
  EXPECT_EQ(nodes, (std::vector<std::string>{"first", "second"}));
  // One summary, of one run with a worker on each node. A step is a gradient of one worker, and an
  // update takes one gradient of each: a rank that trained alone would make as many updates as
  // steps.
  const json summary = json::parse(file_text(file("out.0")), nullptr, false);
  ASSERT_TRUE(summary.is_object()) << file_text(file("out.0")) << errors;
  EXPECT_EQ(summary["updates"], kSteps / 2) << summary.dump(1);
  EXPECT_EQ(summary["workers"], 2) << summary.dump(1);
  EXPECT_EQ(summary["deaths"], 0);
  EXPECT_EQ(summary["restarts"], 0);
  EXPECT_EQ(file_text(file("out.1")), "");
}

}  // namespace
}  // namespace orrery
