#include "live/daemon/policy/job_spec.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

JobRequest elastic() {
  return {.argv = {"train"}, .gpus = 2, .gpus_min = 1, .gpus_max = 4, .model = "bert"};
}

SpeedCurve curve_of(const JobRequest& request) {
  Workload workload;
  NameIds names;
  add_spec(workload, names, request, -1, {}, {});
  add_spec(workload, names, request, -1, {}, {});
  EXPECT_EQ(workload.curves.size(), 1u) << "each is there once";
  return workload.curves.front();
}

TEST(JobSpec, MeasuredSpeedsCountRelativeToTheGpusAskedFor) {
  JobRequest request = elastic();
  request.speeds = SpeedCurve{.points = {{1, 5}, {2, 8}, {4, 12}, {8, 14}},
                              .spreads = {{4, 2, 10}, {8, 2, 9}},
                              .widest = 16};
  const SpeedCurve expected{
      .points = {{1, 5.0 / 8}, {2, 1}, {4, 1.5}}, .spreads = {{4, 2, 1.25}}, .widest = 4};
  EXPECT_EQ(curve_of(request), expected) << "no further than the job allows";
}

TEST(JobSpec, WithoutTheCountAskedForAScalingIsAssumed) {
  const SpeedCurve assumed = curve_of(elastic());
  ASSERT_EQ(assumed.points.size(), 4u);
  EXPECT_EQ(assumed.points[1].iterations_per_s, 1);
  EXPECT_NEAR(assumed.points[3].iterations_per_s, 1.8, 0.01);
  JobRequest request = elastic();
  request.speeds = SpeedCurve{.points = {{1, 5}, {4, 12}}, .widest = 4};
  EXPECT_EQ(curve_of(request), assumed);
}

TEST(JobSpec, OneThatKeepsItsGpusHasNoCurve) {
  JobRequest request{.argv = {"train"}, .gpus = 2};
  request.speeds = SpeedCurve{.points = {{1, 5}, {2, 8}}, .widest = 2};
  Workload workload;
  NameIds names;
  add_spec(workload, names, request, -1, {}, {});
  EXPECT_EQ(workload.jobs.front().curve, kNoCurve);
}

TEST(JobSpec, KnowsWhatCpusAndMemoryDo) {
  JobRequest request{.argv = {"train"}};
  request.sensitivity = Sensitivity{
      .cpu_milli = {1000, 2000}, .memory_bytes = {1}, .speed = {0.5, 1}, .ideal = {2000, 1}};
  Workload workload;
  NameIds names;
  for (int i = 0; i < 2; ++i) add_spec(workload, names, request, i, {}, {});
  ASSERT_EQ(workload.sensitivities.size(), 1u);
  EXPECT_EQ(workload.sensitivities.front(), *request.sensitivity);
  EXPECT_EQ(workload.jobs.back().sensitivity, SensitivityId{0});
}

}  // namespace
}  // namespace orrery
