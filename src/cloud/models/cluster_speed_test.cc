#include "cloud/models/cluster_speed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace orrery {
namespace {

const ServerCap kCap = {44, 83, 4};

ClusterSpeed speeds() {
  return ClusterSpeed({{"K80", 4.5}, {"P100", 11.8}, {"V100", 14.4}}, kCap, {0.1, 0.2});
}

TEST(ServerCap, ASmallClusterRunsAtTheSumAndALargeOneAtTheCap) {
  EXPECT_NEAR(kCap.steps_per_s(4.5, 1), 4.5, 1e-3);
  EXPECT_NEAR(kCap.steps_per_s(10'000, 1), 44, 1e-6);
  EXPECT_NEAR(kCap.steps_per_s(44, 1), 44 * std::pow(2, -0.25), 1e-9);
  EXPECT_EQ(kCap.steps_per_s(200, 0), 200) << "a single server has no parameter server";
}

TEST(ServerCap, FurtherParameterServersRaiseTheCapAsTheSecondDid) {
  EXPECT_NEAR(kCap.cap(1), 44, 1e-9);
  EXPECT_NEAR(kCap.cap(2), 83, 1e-9);
  EXPECT_NEAR(kCap.cap(4), 83 * 83 / 44.0, 1e-9);
}

TEST(ServerCap, AFitFindsTheCapOfItsOwnSpeeds) {
  std::vector<ClusterSpeedPoint> points;
  for (int servers = 1; servers <= 2; ++servers) {
    for (double sum = 10; sum < 160; sum += 15) {
      points.push_back({sum, servers, kCap.steps_per_s(sum, servers)});
    }
  }
  const auto fit = fit_server_cap(points);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit.value().cap_1, 44, 1e-3);
  EXPECT_NEAR(fit.value().cap_2, 83, 1e-3);
  EXPECT_NEAR(fit.value().power, 4, 1e-3);
  EXPECT_LT(mean_error_pct(fit.value(), points), 1e-3);
}

TEST(ServerCap, OneKindOfClusterIsNotEnough) {
  const std::vector<ClusterSpeedPoint> points = {{10, 1, 9}, {20, 1, 18}};
  EXPECT_FALSE(fit_server_cap(points).ok());
}

TEST(RegionDelay, AFitFindsTheDelaysOfItsOwnSpeeds) {
  std::vector<CrossRegionPoint> points;
  for (const double alone : {4.5, 9.4}) {
    for (const auto& workers : {std::array{3, 1, 0}, std::array{2, 2, 0}, std::array{2, 1, 1}}) {
      CrossRegionPoint point{alone, 1, workers, 0};
      point.steps_per_s = cross_region_steps_per_s({0.12, 0.25}, kCap, point);
      points.push_back(point);
    }
  }
  const auto fit = fit_region_delay(points, kCap);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit.value().near_s, 0.12, 1e-4);
  EXPECT_NEAR(fit.value().far_s, 0.25, 1e-4);
}

TEST(ClusterSpeed, AWorkerInAnotherRegionIsSlower) {
  const std::vector<WorkerPlace> home(4, {"K80", "us-east1-c"});
  std::vector<WorkerPlace> spread = home, far = home;
  spread[3].zone = "us-central1-c", far[3].zone = "europe-west1-b";
  const auto speed = [&](const std::vector<WorkerPlace>& workers) {
    const auto result = speeds().steps_per_s(workers, 1, "us-east1-b");
    EXPECT_TRUE(result.ok());
    return result.ok() ? result.value() : 0;
  };
  EXPECT_GT(speed(home), speed(spread));
  EXPECT_GT(speed(spread), speed(far));
  EXPECT_NEAR(speed(spread), kCap.steps_per_s(3 * 4.5 + 1 / (1 / 4.5 + 0.1), 1), 1e-9);
}

TEST(ClusterSpeed, AnUnknownGpuIsNamedWithTheKnownOnes) {
  const std::vector<WorkerPlace> workers = {{"T4", "us-east1-c"}};
  const auto result = speeds().steps_per_s(workers, 1, "us-east1-c");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message,
            "no speed is known of GPU 'T4'; the known ones are K80, P100, V100");
}

}  // namespace
}  // namespace orrery
