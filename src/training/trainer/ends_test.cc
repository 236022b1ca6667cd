// However a run ends, it leaves a whole checkpoint that is no older than promised.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "base/random.h"
#include "training/trainer/started_run.h"

namespace orrery {
namespace {

using nlohmann::json;

std::vector<std::string> training(const std::string& folder, std::vector<std::string> more) {
  std::vector<std::string> arguments = {"run",    "--model", "linear", "--batch",   "64",
                                        "--rate", "0.01",    "--json", "--quiet",   "--dir",
                                        folder,   "--data",  "line",   "--workers", "3"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Every sum takes long, so that an end always meets one.
class SlowSums {
 public:
  explicit SlowSums(const char* milliseconds) { setenv("ORRERY_TEST_SUM_MS", milliseconds, 1); }
  ~SlowSums() { unsetenv("ORRERY_TEST_SUM_MS"); }
  SlowSums(const SlowSums&) = delete;
  SlowSums& operator=(const SlowSums&) = delete;
};

TEST(Ends, AnAllReduceRunEndsAfterTheSumThatIsUnderWay) {
  const SlowSums slow("60");
  const TestFolder folder;
  StartedRun run(training(folder.run(), {"--arch", "allreduce", "--time-limit", "1s"}),
                 folder.run());
  const TestRun ended = run.wait();
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const json summary = json::parse(ended.output, nullptr, false);
  EXPECT_GT(summary["updates"], 0);
  EXPECT_EQ(last_checkpoint(folder.run()).conductor.version, summary["updates"]);
}

TEST(Ends, ASecondHeadIsRefusedByTheFolder) {
  const TestFolder folder;
  StartedRun run(training(folder.run(), {"--time-limit", "60s"}), folder.run());
  ASSERT_TRUE(wait_until([&] { return run.count("\"joined\"") >= 3; }));
  const TestRun second = train({"run", "--resume", folder.run(), "--quiet"}, folder.path() + "/b");
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_NE(second.errors.find("process " + std::to_string(run.pid())), std::string::npos)
      << second.errors;
  kill(run.pid(), SIGTERM);
  EXPECT_EQ(run.wait().exit_code, 0);
}

TEST(Ends, ATerminalThatIsClosedStopsARunWithItsCheckpoint) {
  const TestFolder folder;
  StartedRun run(training(folder.run(), {"--time-limit", "60s"}), folder.run());
  ASSERT_TRUE(wait_until([&] { return run.count("\"joined\"") >= 3; }));
  kill(run.pid(), SIGHUP);
  kill(run.pid(), SIGHUP);
  const TestRun ended = run.wait();
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  const json summary = json::parse(ended.output, nullptr, false);
  EXPECT_EQ(summary["ended"], "it was asked to stop");
  EXPECT_EQ(last_checkpoint(folder.run()).conductor.version, summary["updates"]);
}

TEST(Ends, UnderNohupATerminalThatIsClosedStopsNoRun) {
  const TestFolder folder;
  StartedRun run(training(folder.run(), {"--time-limit", "60s", "--checkpoint-every", "640"}),
                 folder.run(), {"nohup"});
  ASSERT_TRUE(wait_until([&] { return newest_checkpoint(folder.run()).ok(); }));
  kill(run.pid(), SIGHUP);
  const ParameterVersion before = last_checkpoint(folder.run()).conductor.version;
  EXPECT_TRUE(wait_until([&] {
    return last_checkpoint(folder.run()).conductor.version > before + 100;
  })) << "it trains on";
  kill(run.pid(), SIGTERM);
  EXPECT_EQ(run.wait().exit_code, 0);
}

class EndedRun : public testing::TestWithParam<const char*> {};

TEST_P(EndedRun, TrainsNoMoreWhenItIsResumed) {
  const std::vector<std::vector<std::string>> limits = {{"--steps", "60"}, {"--time-limit", "0.4"}};
  for (const std::vector<std::string>& limit : limits) {
    const TestFolder folder;
    std::vector<std::string> more = {"--arch", GetParam()};
    more.insert(more.end(), limit.begin(), limit.end());
    ASSERT_EQ(train(training(folder.run(), more), folder.run()).exit_code, 0);
    const ParameterVersion version = last_checkpoint(folder.run()).conductor.version;
    ASSERT_GT(version, 0);
    const TestRun again =
        train({"run", "--resume", folder.run(), "--json", "--quiet"}, folder.run());
    ASSERT_EQ(again.exit_code, 0) << again.errors;
    EXPECT_EQ(json::parse(again.output, nullptr, false)["updates"], 0) << again.output;
    EXPECT_EQ(last_checkpoint(folder.run()).conductor.version, version);
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, EndedRun, testing::Values("ps", "allreduce"));

enum class End { Interrupt, Group, AllProcesses, KillHead, TimeLimit, Target, Steps, Last = Steps };

struct RandomEnd {
  explicit RandomEnd(std::uint64_t seed) : random(seed) {
    kind = static_cast<End>(seed % (static_cast<std::uint64_t>(End::Last) + 1));
    const bool ring = random.uniform() < 0.5;
    const std::vector<std::string> modes = {"ssgd", "asgd", "static-2", "ssp", "star", "dynamic"};
    more = {"--arch",
            ring ? "allreduce" : "ps",
            "--checkpoint-every",
            "2560",
            "--evaluate-every",
            "1280",
            "--patience",
            "20"};
    if (!ring) {
      const auto at = static_cast<std::size_t>(random.between(0, std::ssize(modes) - 1));
      more.insert(more.end(), {"--mode", modes[at], "--shards", "2"});
    }
    if (kind == End::TimeLimit) {
      more.insert(more.end(), {"--time-limit", std::to_string(0.3 + random.uniform())});
    } else if (kind == End::Target) {
      more.insert(more.end(), {"--target", "0.3", "--time-limit", "60s"});
    } else if (kind == End::Steps) {
      more.insert(more.end(), {"--steps", std::to_string(random.between(3, 600))});
    } else {
      more.insert(more.end(), {"--time-limit", "60s"});
    }
  }
  bool by_signal() const {
    return kind == End::Interrupt || kind == End::Group || kind == End::AllProcesses ||
           kind == End::KillHead;
  }
  void send(const StartedRun& run) {
    if (kind == End::Interrupt) kill(run.pid(), SIGINT);
    if (kind == End::Group) kill(-run.pid(), SIGTERM);
    if (kind == End::KillHead) kill(run.pid(), SIGKILL);
    if (kind != End::AllProcesses) return;
    std::vector<pid_t> all = run.parts();
    all.push_back(run.pid());
    for (std::size_t i = all.size(); i > 1; --i) {
      std::swap(all[i - 1],
                all[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i) - 1))]);
    }
    for (const pid_t pid : all) kill(pid, SIGTERM);
  }

  Random random;
  End kind{};
  std::vector<std::string> more{};
};

ParameterVersion newest_on_disk(const std::string& folder) {
  auto found = newest_checkpoint(folder);
  return found.ok() ? found.value().checkpoint.conductor.version : -1;
}

void end_once(std::uint64_t seed) {
  RandomEnd end(seed);
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const TestFolder folder;
  StartedRun run(training(folder.run(), end.more), folder.run());
  ParameterVersion before = -1;
  if (end.by_signal()) {
    ASSERT_TRUE(wait_until([&] { return run.ended() || run.count("\"joined\"") >= 3; }));
    // Where in the run the end falls is the point.
    std::this_thread::sleep_for(std::chrono::milliseconds(end.random.between(0, 400)));
    if (end.kind == End::KillHead) {
      ASSERT_TRUE(wait_until([&] { return newest_on_disk(folder.run()) > 0; }));
      before = newest_on_disk(folder.run());
    }
    end.send(run);
  }
  const TestRun ended = run.wait();
  EXPECT_EQ(ended.exit_code, end.kind == End::KillHead ? 128 + SIGKILL : 0) << ended.errors;
  const auto found = newest_checkpoint(folder.run());
  ASSERT_TRUE(found.ok()) << found.error().message << ended.errors;
  const ParameterVersion version = found.value().checkpoint.conductor.version;
  if (end.kind == End::KillHead) {
    EXPECT_GE(version, before);
  } else {
    const json summary = json::parse(ended.output, nullptr, false);
    EXPECT_EQ(version, summary["updates"]) << ended.output;
    EXPECT_TRUE(found.value().damaged.empty());
  }
  const std::vector<pid_t> parts = run.parts();
  EXPECT_TRUE(wait_until([&] { return std::ranges::none_of(parts, process_is_there); }))
      << "a process of the run outlives it";
  const TestRun resumed =
      train({"run", "--resume", folder.run(), "--target", "0", "--time-limit", "10m", "--steps",
             std::to_string(found.value().checkpoint.conductor.gradients_done + 30), "--quiet"},
            folder.run());
  EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_GT(newest_on_disk(folder.run()), version);
}

TEST(Ends, ARandomEndLeavesAWholeCheckpointAndARunThatGoesOn) {
  const char* const asked = std::getenv("ORRERY_END_SEEDS");
  const std::uint64_t seeds = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 7;
  for (std::uint64_t seed = 0; seed < seeds && !HasFailure(); ++seed) end_once(seed);
}

}  // namespace
}  // namespace orrery
