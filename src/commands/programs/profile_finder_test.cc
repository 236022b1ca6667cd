#include "commands/programs/profile_finder.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"

namespace orrery {
namespace {

class ProfileFinder : public testing::Test {
 protected:
  // The error of a request, or nothing; the request is then as the scheduler takes it.
  std::string refusal(JobRequest& request) const {
    const auto finder = profile_finder(path_, "");
    EXPECT_TRUE(finder.ok()) << finder.error().message;
    const Status filled = finder.value()(request);
    return filled.ok() ? "" : filled.error().message;
  }
  static JobRequest elastic(const std::string& model, int gpus) {
    return {.gpus = gpus, .gpus_min = 1, .gpus_max = 4, .model = model};
  }

  const TestFolder folder_;
  const std::string path_ =
      folder_.write("speeds.csv",
                    "model,batch_size,gpu_type,gpus,iterations_per_s\n"
                    "bert,64,A100,1,1\nbert,64,A100,2,1.8\nbert,64,A100,4,3\n"
                    "gpt,8,A100,1,1\ngpt,8,A100,2,1.5\ngpt,16,A100,1,0.6\ngpt,16,A100,2,1\n");
};

TEST_F(ProfileFinder, AnElasticJobGetsTheSpeedsOfItsModel) {
  JobRequest request = elastic("bert", 2);
  EXPECT_EQ(refusal(request), "");
  ASSERT_TRUE(request.speeds.has_value());
  ASSERT_EQ(request.speeds->points.size(), 3U);
  EXPECT_EQ(request.speeds->points[1].gpus, 2);
}

TEST_F(ProfileFinder, AJobWithoutAModelIsLeftAsItIs) {
  JobRequest request = elastic("", 3);
  const JobRequest before = request;
  EXPECT_EQ(refusal(request), "");
  EXPECT_TRUE(request == before);
}

TEST_F(ProfileFinder, AModelMeasuredWithSeveralBatchesNeedsOne) {
  JobRequest request = elastic("gpt", 1);
  EXPECT_NE(refusal(request).find("the batches 8, 16; write gpt:8"), std::string::npos)
      << refusal(request);
  request.model = "gpt:16";
  EXPECT_EQ(refusal(request), "");
  ASSERT_TRUE(request.speeds.has_value());
  EXPECT_EQ(request.speeds->points.size(), 2U);
  request.model = "gpt:x";
  EXPECT_NE(refusal(request).find("write MODEL:BATCH"), std::string::npos) << refusal(request);
}

TEST_F(ProfileFinder, AnUnknownModelIsRefusedWithTheNearestName) {
  JobRequest request = elastic("brt", 1);
  EXPECT_NE(refusal(request).find("the nearest is 'bert'"), std::string::npos) << refusal(request);
}

TEST_F(ProfileFinder, ANumberOfGpusThatWasNotMeasuredIsRefused) {
  JobRequest request = elastic("bert", 3);
  EXPECT_NE(refusal(request).find("measured on 1, 2, 4 GPUs, not on 3"), std::string::npos)
      << refusal(request);
}

TEST_F(ProfileFinder, ATypeWithoutProfilesIsRefusedAtTheStart) {
  EXPECT_FALSE(profile_finder(path_, "no-such-type").ok());
  EXPECT_FALSE(profile_finder(folder_ / "missing.csv", "").ok());
}

}  // namespace
}  // namespace orrery
