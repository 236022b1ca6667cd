#include "scheduling/policy/deadline/fixed_placements.h"

#include <gtest/gtest.h>

#include "scheduling/policy/deadline/elastic_scene.h"

namespace orrery {
namespace {

Time at(double s) { return time_from_seconds(s); }

class FixedPlacementsTest : public testing::Test {
 protected:
  void begin() {
    view_ = scene.view();
    fixed.begin(view_, scene.packer(), scene.jobs());
  }
  ElasticScene scene{2, 3};
  FixedPlacements fixed;

 private:
  View view_;
};

TEST_F(FixedPlacementsTest, TheSmallestOptionThatIsInTimeIsFixed) {
  ElasticJob& job = scene.add(100);
  begin();
  ASSERT_TRUE(fixed.admit(job, at(60)));
  EXPECT_TRUE(job.promise.fixed);
  EXPECT_EQ(job.round.target, scene.option(2));
  EXPECT_EQ(gpu_count(job.promise.place), 2);
  EXPECT_EQ(job.promise.plan.done, at(50));
}

TEST_F(FixedPlacementsTest, AJobThatRunsFastEnoughKeepsItsDevices) {
  ElasticJob& job = scene.run({{NodeId{1}, 0b110}}, 100);
  begin();
  ASSERT_TRUE(fixed.admit(job, at(200)));
  EXPECT_EQ(job.promise.place, (Devices{{NodeId{1}, 0b110}})) << "one GPU would do";
  EXPECT_EQ(job.round.target, scene.option(2));
}

TEST_F(FixedPlacementsTest, AJobThatRunsTooSlowlyIsFixedElsewhere) {
  ElasticJob& job = scene.run({{NodeId{1}, 0b100}}, 100);
  begin();
  ASSERT_TRUE(fixed.admit(job, at(60)));
  EXPECT_EQ(gpu_count(job.promise.place), 2);
}

TEST_F(FixedPlacementsTest, JobsWithoutAFixedPlacementDoNotCount) {
  scene.run({{NodeId{0}, 0b011}});
  scene.run({{NodeId{1}, 0b011}});
  ElasticJob& job = scene.add(100);
  begin();
  EXPECT_TRUE(fixed.admit(job, at(60)));
}

TEST_F(FixedPlacementsTest, AFixedPlacementIsNeverGivenAway) {
  for (const NodeId node : {NodeId{0}, NodeId{1}}) {
    ElasticJob& job = scene.run({{node, 0b011}});
    job.promise.fixed = true;
  }
  ElasticJob& job = scene.add(100);
  begin();
  EXPECT_FALSE(fixed.admit(job, at(60)));
  EXPECT_FALSE(job.promise.fixed);
  const Reason reason = fixed.refusal(job, at(60));
  EXPECT_EQ(reason.code, Reason::Code::Promised);
  EXPECT_EQ(reason.wanted, 2);
  EXPECT_EQ(reason.available, 2);
}

TEST_F(FixedPlacementsTest, AJobThatNoOptionBringsInTimeIsRefused) {
  ElasticJob& job = scene.add(100);
  begin();
  EXPECT_FALSE(fixed.admit(job, at(10)));
  EXPECT_EQ(fixed.refusal(job, at(10)).wanted, 8);
}

TEST_F(FixedPlacementsTest, TheLedgerIsAsBeforeInTheEnd) {
  scene.run({{NodeId{0}, 0b011}});
  ElasticJob& job = scene.add(100);
  begin();
  ASSERT_TRUE(fixed.admit(job, at(60)));
  fixed.end();
  EXPECT_EQ(scene.ledger().free_mask(0), 0b100U);
  EXPECT_EQ(scene.ledger().gpus_free(), 4);
}

}  // namespace
}  // namespace orrery
