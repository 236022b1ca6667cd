#include "training/twin/twin_cluster.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TwinJob job(const std::string& stragglers, double left, int shards_on) {
  TwinJob made;
  made.setup.workers.resize(4, {.per_sample_s = 0.1 / 32});
  made.setup.jitter = 0.03;
  made.setup.shards = {.gradient_s = 0.03, .update_s = 0.002};
  made.setup.conductor = {.global_batch = 128,
                          .samples_limit = static_cast<std::int64_t>(128 * 3000 * left),
                          .evaluate_every = 512};
  made.setup.convergence.scale_samples = 40'000;
  made.setup.script =
      parse_straggler_script(stragglers, "script", 4, 1, std::chrono::hours(1)).value();
  for (int i = 0; i < 4; ++i) made.workers.push_back({ServerId{i}, {.cpu = 0.2}});
  made.shards = {ServerId{shards_on}, {.cpu = 0.1}};
  return made;
}

// Four servers without a core to spare: every one holds a worker of both jobs and one of the
// parameter servers, or what two others keep.
TwinClusterSetup two_jobs() {
  TwinClusterSetup setup;
  setup.servers = {{.cpu = 0.5}, {.cpu = 0.5}, {.cpu = 0.5}, {.cpu = 0.5}};
  setup.jobs = {job("at 5s server 3 cpu 0.2", 1, 0), job("", 0.5, 1)};
  return setup;
}

TEST(TwinCluster, JobsThatLendNothingRunAsIfTheyWereAlone) {
  TwinClusterSetup setup = two_jobs();
  for (TwinJob& one : setup.jobs) one.mode = "ssgd";
  const auto together = run_twin_cluster(setup);
  ASSERT_TRUE(together.ok()) << together.error().message;
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(together.value().jobs[i].wall_s, run_twin(setup.jobs[i].setup).wall_s);
  }
  EXPECT_EQ(together.value().asked, 0);
}

TEST(TwinCluster, ConsiderationHelpsTheStragglingJobAndCostsTheOthersLessThanItGains) {
  TwinClusterSetup setup = two_jobs();
  const TwinClusterResult with = run_twin_cluster(setup).value();
  setup.considers = false;
  const TwinClusterResult without = run_twin_cluster(setup).value();
  for (auto& one : setup.jobs) one.mode = "ssgd";
  const TwinClusterResult ssgd = run_twin_cluster(setup).value();
  EXPECT_LT(with.jobs[0].wall_s, ssgd.jobs[0].wall_s);
  EXPECT_LT(with.jobs[0].wall_s, 0.9 * without.jobs[0].wall_s);
  EXPECT_GT(with.limits_moved, 0);
  const auto total = [](const TwinClusterResult& result) {
    return result.jobs[0].wall_s + result.jobs[1].wall_s;
  };
  EXPECT_LT(total(with), total(without));
}

TEST(TwinCluster, AnUnknownModeIsRefused) {
  TwinClusterSetup setup = two_jobs();
  setup.jobs[1].mode = "stra";
  EXPECT_FALSE(run_twin_cluster(setup).ok());
}

}  // namespace
}  // namespace orrery
