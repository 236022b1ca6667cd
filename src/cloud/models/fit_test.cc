#include "cloud/models/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <vector>

namespace orrery {
namespace {

TEST(FitModels, WithoutDataThereAreNoModels) {
  const FittedModels models = fit_models({});
  EXPECT_FALSE(models.cluster_speed || models.step_time || models.checkpoint || models.startup ||
               models.revocation);
}

TEST(FitModels, ThePublishedDataGiveModelsThatMeetThem) {
  const std::vector<std::string> folders = {std::string(ORRERY_SHARED) + "/data/transient"};
  if (!std::filesystem::exists(folders[0])) {
    GTEST_SKIP() << "no published runs at " << folders[0] << "; nothing was tested";
  }
  const auto data = read_published_data(folders);
  ASSERT_TRUE(data.ok()) << data.error().message;
  const FittedModels models = fit_models(data.value());
  ASSERT_TRUE(models.cluster_speed && models.step_time && models.checkpoint && models.startup &&
              models.revocation);
  // 8 V100 with two parameter servers, which the fit has seen: 78.80 steps a second.
  const std::vector<WorkerPlace> eight(8, {"V100", "us-west1-b"});
  const auto speed = models.cluster_speed->steps_per_s(eight, 2, "us-west1-b");
  ASSERT_TRUE(speed.ok());
  EXPECT_NEAR(speed.value(), 78.80, 0.8);
  // ... and across regions, 4 K80 in 2e1c1w: 13.91.
  const std::vector<WorkerPlace> spread = {{"K80", "us-east1-c"},
                                           {"K80", "us-east1-c"},
                                           {"K80", "us-central1-c"},
                                           {"K80", "us-west1-b"}};
  EXPECT_NEAR(models.cluster_speed->steps_per_s(spread, 1, "us-east1-c").value() / 13.91, 1, 0.1);
  EXPECT_NEAR(models.checkpoint->seconds_for(100), 3.652 + 1.99, 0.01);
  EXPECT_NEAR(models.startup->summary("K80", true).value().mean_s, 83, 3);
  EXPECT_NEAR(checkpoint_error_pct(data.value().cm_dare.checkpoints).value(), 7.9, 0.1);
}

}  // namespace
}  // namespace orrery
