#include <gtest/gtest.h>

#include "simulation/kernel/simulation.h"
#include "simulation/testing/law_sink.h"

namespace orrery {
namespace {

constexpr double kHour = 3600;

JobSpec job(double submitted_h, double length_h, int gpus) {
  JobSpec spec;
  spec.submitted = time_from_seconds(submitted_h * kHour);
  spec.iterations = length_h * kHour;
  spec.iteration_s = 1;
  spec.gpus = gpus;
  return spec;
}

// When each job ends, in hours, on one node.
std::vector<double> ends(std::deque<JobSpec> specs, int gpus,
                         const std::map<std::string, std::string>& options) {
  Workload workload;
  workload.jobs = std::move(specs);
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    workload.jobs[i].id = static_cast<JobId>(i);
  }
  Node node;
  node.gpus = gpus;
  const Cluster cluster{.name = "", .nodes = {node}};
  LawSink laws({.cluster = &cluster, .workload = &workload, .honest = true});
  const auto outcome = simulate({.workload = &workload,
                                 .cluster = &cluster,
                                 .run = {.policy = {.name = "gandiva", .options = options}}},
                                laws);
  EXPECT_TRUE(outcome.ok()) << outcome.error().message;
  laws.finish();
  EXPECT_EQ(laws.broken(), "");
  std::vector<double> hours;
  for (const Time end : laws.ends()) hours.push_back(seconds(end) / kHour);
  return hours;
}

TEST(Gandiva, TwoJobsTakeTurnsOnOneGpu) {
  EXPECT_EQ(ends({job(0, 3, 1), job(0, 3, 1)}, 1, {{"quantum", "1h"}}),
            (std::vector<double>{5, 6}));
}

TEST(Gandiva, WithoutAQuantumNoJobIsPreempted) {
  EXPECT_EQ(ends({job(0, 3, 1), job(0, 1, 1)}, 1, {{"quantum", "0s"}}),
            (std::vector<double>{3, 4}));
}

TEST(Gandiva, AJobThatComesLaterWaitsForTheNextTickOnly) {
  EXPECT_EQ(ends({job(0, 10, 1), job(2.5, 0.5, 1)}, 1, {{"quantum", "1h"}}),
            (std::vector<double>{10.5, 3.5}));
}

TEST(Gandiva, AWideJobTakesThePlaceOfNarrowOnesThatKeepComing) {
  // A GPU is always held by a job that came in mid-quantum.
  std::deque<JobSpec> specs = {job(0, 1, 1), job(0, 0.75, 1), job(0.1, 1, 2)};
  for (int i = 0; i < 40; ++i) specs.push_back(job(0.5 + 0.5 * i, 0.9, 1));
  std::ranges::stable_sort(specs, {}, &JobSpec::submitted);
  EXPECT_LE(ends(specs, 2, {{"quantum", "1h"}})[2], 5);
}

}  // namespace
}  // namespace orrery
