#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "training/libtorch/learner.h"
#include "training/trainer/checkpoint/checkpoint.h"
#include "training/trainer/shard/flat_math.h"
#include "training/trainer/shard/flat_optimizer.h"
#include "training/trainer/test_run.h"

namespace orrery {
namespace {

using nlohmann::json;

constexpr std::int32_t kBatch = 96;

std::vector<std::string> training(const std::string& folder, std::vector<std::string> more) {
  std::vector<std::string> arguments = {"run",       "--model", "mlp",     "--data", "gaussian",
                                        "--workers", "3",       "--batch", "96",     "--json",
                                        "--quiet",   "--dir",   folder};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Checkpoint last_checkpoint(const std::string& folder) {
  auto found = newest_checkpoint(folder);
  EXPECT_TRUE(found.ok()) << found.error().message;
  return found.ok() ? found.value().checkpoint : Checkpoint{};
}

// The large batch in one process, in the parts that the workers compute.
std::vector<float> one_process(int updates, int parts) {
  auto learner = make_learner({.model = "mlp", .data = "gaussian"});
  EXPECT_TRUE(learner.ok());
  Learner& model = *learner.value();
  std::vector<float> parameters(model.parameters().begin(), model.parameters().end());
  FlatOptimizer optimizer({}, parameters.size());
  const std::int32_t part = kBatch / parts;
  for (int update = 0; update < updates; ++update) {
    std::vector<float> sum(parameters.size());
    for (int worker = 0; worker < parts; ++worker) {
      EXPECT_TRUE(model.set_parameters(parameters).ok());
      const Samples samples{.first = std::int64_t{update} * kBatch + worker * part, .count = part};
      EXPECT_TRUE(model.compute(samples, 1, [] { return true; }).ok());
      add_weighted(sum, static_cast<double>(part) / kBatch, model.gradient());
    }
    optimizer.step(parameters, sum, 0.1);
  }
  return parameters;
}

TEST(Training, AllWorkersAtOnceAreOneProcessWithALargeBatchToTheBit) {
  const TestFolder folder;
  const TestRun run =
      train(training(folder.run(), {"--mode", "static-3", "--steps", "60", "--shards", "2"}),
            folder.run());
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_EQ(last_checkpoint(folder.run()).parameters, one_process(20, 3));
}

// The process of a worker, as soon as it has joined and something was evaluated.
pid_t wait_for_worker(const std::string& folder, int id) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::ifstream curve(folder + "/curve.csv");
    std::string line;
    int evaluations = -1;
    while (std::getline(curve, line)) ++evaluations;
    if (evaluations < 1) continue;
    std::ifstream table(folder + "/processes.csv");
    while (std::getline(table, line)) {
      double at = 0;
      int number = -1;
      int pid = 0;
      if (std::sscanf(line.c_str(), "%lf,worker,%d,%d", &at, &number, &pid) == 3 && number == id) {
        return pid;
      }
    }
  }
  return 0;
}

TEST(Training, AKilledMemberOfTheRingDelaysNoOther) {
  const TestFolder folder;
  auto running = std::async(std::launch::async, [&folder] {
    return train(training(folder.run(), {"--arch", "allreduce", "--time-limit", "4s",
                                         "--checkpoint-every", "9600", "--evaluate-every", "960"}),
                 folder.run());
  });
  const pid_t worker = wait_for_worker(folder.run(), 1);
  ASSERT_GT(worker, 0);
  kill(worker, SIGKILL);
  const TestRun run = running.get();
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  const json summary = json::parse(run.output, nullptr, false);
  EXPECT_EQ(summary["deaths"], 1) << run.errors;
  EXPECT_EQ(summary["workers"], 2);
  EXPECT_EQ(summary["restarts"], 0);
  EXPECT_EQ(summary["modes"].back()["mode"], "ring-2");
}

}  // namespace
}  // namespace orrery
