#include "live/job_runner/launch.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

Launch example() {
  return {.job = JobId{7},
          .epoch = 3,
          .gang = {.rank = 5,
                   .ranks = 8,
                   .local_rank = 1,
                   .local_ranks = 4,
                   .node = 1,
                   .nodes = 2,
                   .master_address = "node-a",
                   .master_port = 1234},
          .argv = {"python", "train.py", "", "two\nlines = one argument"},
          .environment = {{"EMPTY", ""}, {"EQUALS", "a=b"}},
          .directory = "/home/u",
          .output = "/logs/7",
          .errors = "/logs/7",
          .user = "u",
          .cpus = {0, 1, 5},
          .gpus = {"GPU-a", "GPU-b"},
          .memory_bytes = 1 << 30,
          .cgroup_home = {.path = "/sys/fs/cgroup/orrery", .version = 2},
          .grace = std::chrono::seconds(5),
          .ends_with_lease = true,
          .socket = "/run/orrery/7.3.5",
          .checkpoint_directory = "/checkpoints/7",
          .resumed = true};
}

std::string value(const Environment& environment, const std::string& wanted) {
  std::string found = "(none)";
  int times = 0;
  for (const auto& [name, text] : environment) {
    if (name == wanted) found = text, ++times;
  }
  EXPECT_LE(times, 1) << wanted;
  return found;
}

TEST(Launch, IsReadBackAsItWasWritten) {
  const Launch launch = example();
  const std::string written = launch_fields(launch).write();
  const auto fields = Fields::read(written);
  ASSERT_TRUE(fields.ok());
  const auto read = read_launch(fields.value());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(launch_fields(read.value()).write(), written);
  EXPECT_EQ(read.value().argv, launch.argv);
  EXPECT_EQ(read.value().environment, launch.environment);
  EXPECT_EQ(read.value().cpus, launch.cpus);
  EXPECT_EQ(read.value().socket, launch.socket);
  EXPECT_EQ(read.value().checkpoint_directory, launch.checkpoint_directory);
  EXPECT_TRUE(read.value().resumed);
  EXPECT_EQ(launch_name(read.value()), "7.3.5");
}

TEST(Launch, AFileCutShortAnywhereIsKnownAsSuch) {
  const std::string written = launch_fields(example()).write();
  for (std::size_t length = 0; length < written.size(); ++length) {
    EXPECT_FALSE(Fields::read(written.substr(0, length)).ok()) << length;
  }
}

TEST(Launch, WhatCannotBeStartedIsRefused) {
  const auto refused = [](auto change) {
    Launch launch = example();
    change(launch);
    return !check_launch(launch).ok();
  };
  EXPECT_TRUE(check_launch(example()).ok());
  EXPECT_TRUE(refused([](Launch& launch) { launch.argv.clear(); }));
  EXPECT_TRUE(refused([](Launch& launch) { launch.argv[1] = std::string("a\0b", 3); }));
  EXPECT_TRUE(refused([](Launch& launch) { launch.environment[0].first = "A=B"; }));
  EXPECT_TRUE(refused([](Launch& launch) { launch.directory = "here"; }));
  EXPECT_TRUE(refused([](Launch& launch) { launch.directory = ""; }));
  EXPECT_TRUE(refused([](Launch& launch) { launch.output = "log"; }));
  EXPECT_TRUE(refused([](Launch& launch) { launch.socket = "socket"; }));
  EXPECT_TRUE(refused([](Launch& launch) { launch.checkpoint_directory = "here"; }));
  EXPECT_TRUE(refused([](Launch& launch) { launch.gang.rank = 8; }));
  EXPECT_TRUE(refused([](Launch& launch) { launch.gang.master_port = 0; }));
  EXPECT_TRUE(refused([](Launch& launch) { launch.memory_bytes = -1; }));
  EXPECT_TRUE(refused([](Launch& launch) { launch.time_left = Duration(-1); }));
  EXPECT_TRUE(refused([](Launch& launch) { launch.signal = 65; }));
  EXPECT_TRUE(refused([](Launch& launch) { launch.job = kNoJob; }));
}

TEST(Launch, TheEnvironmentNamesRanksInTheWaysOfSeveralLaunchers) {
  const Environment environment = job_environment(example());
  for (const char* const name : {"ORRERY_RANK", "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    EXPECT_EQ(value(environment, name), "5") << name;
  }
  for (const char* const name : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    EXPECT_EQ(value(environment, name), "8") << name;
  }
  EXPECT_EQ(value(environment, "LOCAL_RANK"), "1");
  EXPECT_EQ(value(environment, "LOCAL_WORLD_SIZE"), "4");
  EXPECT_EQ(value(environment, "GROUP_RANK"), "1");
  EXPECT_EQ(value(environment, "MASTER_ADDR"), "node-a");
  EXPECT_EQ(value(environment, "MASTER_PORT"), "1234");
  EXPECT_EQ(value(environment, "CUDA_VISIBLE_DEVICES"), "GPU-a,GPU-b");
  EXPECT_EQ(value(environment, "ORRERY_CPUS"), "0-1,5");
  EXPECT_EQ(value(environment, "EQUALS"), "a=b");
}

// As torchrun does: torch.cuda.set_device(LOCAL_RANK) must find the process's own GPU.
TEST(Launch, EveryProcessSeesAllGpusOfItsJobOnTheNode) {
  Launch launch = example();
  launch.gang.local_rank = 1;
  launch.gpus = {"GPU-b"};
  launch.gpus_visible = {"GPU-a", "GPU-b", "GPU-c", "GPU-d"};
  const Environment environment = job_environment(launch);
  EXPECT_EQ(value(environment, "CUDA_VISIBLE_DEVICES"), "GPU-a,GPU-b,GPU-c,GPU-d");
  EXPECT_EQ(value(environment, "ORRERY_GPUS"), "GPU-b");
  EXPECT_EQ(read_launch(launch_fields(launch)).value().gpus_visible, launch.gpus_visible);
}

TEST(Launch, TheEnvironmentSaysWhereToTalkAndWhereCheckpointsGo) {
  Launch launch = example();
  EXPECT_EQ(value(job_environment(launch), "ORRERY_SOCKET"), "/run/orrery/7.3.5");
  EXPECT_EQ(value(job_environment(launch), "ORRERY_CHECKPOINT_DIR"), "/checkpoints/7");
  EXPECT_EQ(value(job_environment(launch), "ORRERY_RESUMED"), "1");
  launch.socket.clear();
  launch.environment = {{"ORRERY_SOCKET", "/of/another/job"}};
  EXPECT_EQ(value(job_environment(launch), "ORRERY_SOCKET"), "") << "set and empty: there is none";
}

TEST(Launch, AJobCannotPretendToOtherDevicesButMaySetItsPath) {
  Launch launch = example();
  launch.gpus.clear();
  launch.environment = {{"CUDA_VISIBLE_DEVICES", "0,1"}, {"PATH", "/opt/bin"}};
  const Environment environment = job_environment(launch);
  EXPECT_EQ(value(environment, "CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(value(environment, "PATH"), "/opt/bin");
}

}  // namespace
}  // namespace orrery
