// Processes of a run that stop without ending.
#include <gtest/gtest.h>
#include <signal.h>

#include "base/files.h"
#include "training/trainer/started_run.h"

namespace orrery {
namespace {

using nlohmann::json;

TEST(Frozen, AWorkerInSsgdIsNamedAndDoesNotPreventTheEnd) {
  const TestFolder folder;
  StartedRun run({"run", "--model", "linear", "--batch", "64", "--rate", "0.05", "--json",
                  "--workers", "4", "--data", "line:freeze@3000", "--time-limit", "120s",
                  "--silence", "2", "--dir", folder.run()},
                 folder.run());
  // On a busy machine others may be silent for a while as well.
  ASSERT_TRUE(wait_until([&] {
    const std::string frozen = run.table("mischief");
    return !frozen.empty() && run.count("," + frozen + ",\"has sent no heartbeat") > 0;
  })) << run.table("processes.csv");
  kill(run.pid(), SIGINT);
  const TestRun ended = run.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  const auto at =
      ended.errors.find("(process " + run.table("mischief") + ") has sent no heartbeat");
  ASSERT_NE(at, std::string::npos) << ended.errors;
  EXPECT_NE(ended.errors.rfind("worker ", at), std::string::npos) << ended.errors;
  EXPECT_NE(ended.errors.find("--replace", at), std::string::npos) << ended.errors;
  const json summary = json::parse(ended.output, nullptr, false);
  EXPECT_EQ(last_checkpoint(folder.run()).conductor.version, summary["updates"]);
}

class FrozenWorker : public testing::TestWithParam<const char*> {};

TEST_P(FrozenWorker, IsReplacedWhereTheRunReplaces) {
  const TestFolder folder;
  const Outcome outcome =
      run_in(folder.run(), {"--arch", GetParam(), "--data", "line:freeze@1500", "--replace",
                            "--silence", "2", "--steps", "400", "--time-limit", "60s"});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  EXPECT_EQ(outcome.summary["ended"], "as many samples as asked for were used");
  EXPECT_EQ(outcome.summary["deaths"], 1);
  EXPECT_EQ(outcome.summary["workers"], 4);
}

INSTANTIATE_TEST_SUITE_P(Architectures, FrozenWorker, testing::Values("ps", "allreduce"));

TEST(Frozen, AMemberOfARingIsGivenUpAfterTheRingsPatience) {
  const TestFolder folder;
  const Outcome outcome =
      run_in(folder.run(), {"--arch", "allreduce", "--data", "line:freeze@1500", "--patience", "3",
                            "--silence", "2", "--steps", "400", "--time-limit", "60s"});
  ASSERT_EQ(outcome.run.exit_code, 0) << outcome.run.errors;
  EXPECT_EQ(outcome.summary["ended"], "as many samples as asked for were used");
  EXPECT_EQ(outcome.summary["workers"], 3);
}

TEST(Frozen, AShardIsGivenUpAtTheEnd) {
  const TestFolder folder;
  StartedRun run({"run",
                  "--model",
                  "linear",
                  "--batch",
                  "64",
                  "--rate",
                  "0.01",
                  "--workers",
                  "2",
                  "--data",
                  "line",
                  "--time-limit",
                  "120s",
                  "--silence",
                  "2",
                  "--quiet",
                  "--checkpoint-every",
                  "640",
                  "--dir",
                  folder.run()},
                 folder.run());
  ASSERT_TRUE(wait_until([&] { return newest_checkpoint(folder.run()).ok(); }));
  int shard = 0;
  const std::string table = run.table("processes.csv");
  ASSERT_EQ(std::sscanf(table.c_str() + table.find(",shard,"), ",shard,0,%d", &shard), 1);
  kill(shard, SIGSTOP);
  kill(run.pid(), SIGTERM);
  const TestRun ended = run.wait();
  EXPECT_EQ(ended.exit_code, 1) << "the last version is lost with the shard";
  EXPECT_NE(ended.errors.find("shard 0 sent no heartbeat"), std::string::npos) << ended.errors;
  EXPECT_TRUE(newest_checkpoint(folder.run()).ok());
}

TEST(Refused, AWorkerWithAnotherTokenGetsTheReason) {
  const TestFolder folder;
  StartedRun run({"run", "--model", "linear", "--batch", "64", "--rate", "0.01", "--workers", "2",
                  "--data", "line", "--time-limit", "120s", "--quiet", "--dir", folder.run()},
                 folder.run());
  ASSERT_TRUE(wait_until([&] { return run.count("\"joined\"") == 2; }));
  const std::string wrong = folder.path() + "/wrong";
  ASSERT_TRUE(write_file_atomically(wrong, std::string(32, '7')).ok());
  std::string head = run.table("head");
  head = head.substr(0, head.rfind(' '));
  head[head.find(' ')] = ':';
  const TestRun joiner =
      train({"worker", "--join", head, "--token-file", wrong}, folder.path() + "/joiner");
  EXPECT_EQ(joiner.exit_code, 1);
  EXPECT_EQ(joiner.errors, "orrery-train: " + head + ": the token was refused\n");
  kill(run.pid(), SIGTERM);
  EXPECT_EQ(run.wait().exit_code, 0);
}

TEST(Errors, WhatEveryProcessFindsIsPrintedOnce) {
  const TestFolder folder;
  const Outcome outcome = run_in(folder.run(), {"--steps", "10", "--data", "iris"});
  EXPECT_EQ(outcome.run.exit_code, 2);
  EXPECT_EQ(outcome.run.errors, "orrery-train: --data: there is line\n");
}

}  // namespace
}  // namespace orrery
