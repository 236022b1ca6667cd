#include "training/trainer/head/worker_limit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace orrery {
namespace {

TEST(WorkerLimit, CoresLimitAndAreNamed) {
  const WorkerLimit limit = worker_limit({.present = 3, .batch = 256, .cores = 2});
  EXPECT_EQ(limit.most, 8);
  EXPECT_EQ(limit.why, "2 cores, 4 workers each");
}

TEST(WorkerLimit, MemoryLimitsWhatIsAdded) {
  const WorkerLimit limit = worker_limit(
      {.present = 3, .batch = 256, .cores = 64, .memory_free = 1000e6, .worker_bytes = 200e6});
  EXPECT_EQ(limit.most, 7);
  EXPECT_NE(limit.why.find("memory"), std::string::npos);
}

TEST(WorkerLimit, ARunNeverHasToGiveUpWorkersForTheMachine) {
  EXPECT_EQ(worker_limit({.present = 20, .batch = 256, .cores = 2}).most, 20);
}

TEST(WorkerLimit, ANamedNumberMayExceedTheMachineButNotTheBatch) {
  EXPECT_EQ(worker_limit({.present = 3, .batch = 256, .asked_most = 40, .cores = 2}).most, 40);
  EXPECT_EQ(worker_limit({.present = 3, .batch = 256, .anyway = true, .cores = 2}).most, 256);
  EXPECT_EQ(worker_limit({.present = 3, .batch = 1 << 20, .anyway = true}).most, 4096);
}

TEST(WorkerLimit, EmulatedServersAlwaysLimit) {
  EXPECT_EQ(worker_limit({.present = 2, .batch = 256, .emulated = 5, .anyway = true}).most, 5);
}

TEST(WorkersToStart, TheFirstOneStartsAlone) {
  EXPECT_EQ(workers_to_start({.wanted = 8, .cores = 4}), 1);
  EXPECT_EQ(workers_to_start({.starting = 1, .wanted = 8, .cores = 4}), 0);
}

TEST(WorkersToStart, NoMoreStartAtOnceThanThereAreCores) {
  EXPECT_EQ(workers_to_start({.ready = 1, .wanted = 8, .cores = 4}), 4);
  EXPECT_EQ(workers_to_start({.ready = 2, .starting = 3, .wanted = 8, .cores = 4}), 1);
  EXPECT_EQ(workers_to_start({.ready = 1, .wanted = 8, .cores = 0}), 1);
}

TEST(WorkersToStart, NoMoreStartThanAreWanted) {
  EXPECT_EQ(workers_to_start({.ready = 6, .starting = 1, .wanted = 8, .cores = 4}), 1);
  EXPECT_EQ(workers_to_start({.ready = 8, .wanted = 8, .cores = 4}), 0);
  EXPECT_EQ(workers_to_start({.ready = 8, .wanted = 2, .cores = 4}), 0);
}

TEST(WorkerLimit, ThisMachineIsMeasured) {
  EXPECT_GT(machine_cores(), 0);
  EXPECT_GT(memory_free_bytes(), 0);
  EXPECT_GT(memory_used_bytes(std::array{getpid()}), 1e6);
}

}  // namespace
}  // namespace orrery
