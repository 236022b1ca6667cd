#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "workload/trace.h"

namespace orrery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Workload parse(const std::string& text, const TraceOptions& options = {}) {
  std::istringstream in(text);
  auto result = parse_trace("t.csv", in, options);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::move(result).value() : Workload();
}

TEST(ElasticFlowTrace, ReadsTheSpellingOfThePublicTraces) {
  const Workload workload = parse(
      "job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_gpu,duration\n"
      "5dc7d9cd,2266647,6503,bert,2267101,128,16,604\n");
  ASSERT_EQ(workload.jobs.size(), 1u);
  const JobSpec& job = workload.jobs[0];
  EXPECT_EQ(job.name, "5dc7d9cd");
  EXPECT_EQ(job.submitted, Time(seconds(2266647)));
  EXPECT_EQ(job.iterations, 6503);
  EXPECT_EQ(job.iteration_s, 604.0 / 6503);
  EXPECT_EQ(workload.name_of(job.model), "bert");
  EXPECT_EQ(job.deadline, Time(seconds(2267101)));
  EXPECT_EQ(job.deadline_kind, DeadlineKind::Hard);
  EXPECT_EQ(job.batch_size, 128);
  EXPECT_EQ(job.gpus, 16);
  EXPECT_EQ(job.start_cost, milliseconds(4239));
  EXPECT_EQ(job.curve, kNoCurve);
}

TEST(ElasticFlowTrace, ReadsTheSpellingOfTheGenerator) {
  const Workload workload = parse(
      "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration,best_effort\n"
      "0,0,7246,resnet50,5896,256,1,3930,0\n"
      "1,129,3877,inception3,869,64,1,804,1\n");
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[0].deadline, Time(seconds(5896)));
  EXPECT_EQ(workload.jobs[0].start_cost, milliseconds(1884));
  EXPECT_FALSE(workload.jobs[1].deadline) << "best effort has no deadline";
}

TEST(ElasticFlowTrace, ReadsThePhillyFileWithItsRealColumns) {
  const Workload workload = parse(
      "job_id,submit_time,real_iteration,model_name,ddl,batch_size,num_gpu,real_duration,"
      "duration,iteration\n"
      "0,0,1000,vgg16,771220,256,1,500,976570,1282877\n");
  ASSERT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(workload.jobs[0].iterations, 1282877);
  EXPECT_NEAR(workload.jobs[0].duration_s(), 976570, 1e-6);
}

TEST(ElasticFlowTrace, AnUnmeasuredModelCostsTheMostToStart) {
  const Workload workload = parse(
      "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration\n"
      "0,0,1548,ncf,3717583,32768,8,66\n");
  EXPECT_EQ(workload.jobs[0].start_cost, milliseconds(4239));
}

TEST(ElasticFlowTrace, ADeadlineBeforeSubmissionIsThePolicysBusiness) {
  const Workload workload = parse(
      "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration\n"
      "0,100,10,bert,50,64,1,66\n");
  EXPECT_EQ(workload.jobs[0].deadline, Time(seconds(50)));
}

TEST(ElasticFlowTrace, NeedsNoDeadlinesAtAll) {
  const Workload workload = parse(
      "job_id,submit_time,iteration,num_gpu,duration\n"
      "0,100,10,2,66\n");
  EXPECT_FALSE(workload.jobs[0].deadline);
  EXPECT_EQ(workload.jobs[0].model, kNoName);
}

const std::string kChronus =
    "job_id,user,num_gpu,batch_size,submit_time,iterations,model_name,duration,interval,"
    "expect_time_list,expect_value_list,best_effort,job_type\n";

TEST(ChronusTrace, ReadsWhatTheConverterWrites) {
  const Workload workload = parse(kChronus + "7,user7,4,64,500,1000,vgg16,200,0,300,10,0,strict\n");
  ASSERT_EQ(workload.jobs.size(), 1u);
  const JobSpec& job = workload.jobs[0];
  EXPECT_EQ(workload.name_of(job.user), "user7");
  EXPECT_EQ(job.gpus, 4);
  EXPECT_EQ(job.batch_size, 64);
  EXPECT_EQ(job.submitted, Time(seconds(500)));
  EXPECT_EQ(job.deadline, Time(seconds(800))) << "an expected time counts from submission";
  EXPECT_EQ(job.deadline_kind, DeadlineKind::Hard);
  EXPECT_EQ(job.deadline_value, 1);
  EXPECT_NEAR(job.duration_s(), 200, 1e-9);
  EXPECT_EQ(job.start_cost, milliseconds(3209));
}

TEST(ChronusTrace, ASoftDeadlineIsTheFirstOfTheListWithItsValue) {
  const Workload workload =
      parse(kChronus + "7,u,4,64,500,1000,vgg16,200,0,300-330-360,100-80-50,0,soft\n");
  EXPECT_EQ(workload.jobs[0].deadline, Time(seconds(800)));
  EXPECT_EQ(workload.jobs[0].deadline_kind, DeadlineKind::Soft);
  EXPECT_EQ(workload.jobs[0].deadline_value, 100);
}

TEST(ChronusTrace, BestEffortIsSaidByTheTypeOrTheFlag) {
  const Workload workload = parse(kChronus + "7,u,4,64,500,1000,vgg16,200,0,0,1,0,best\n" +
                                  "8,u,4,64,500,1000,vgg16,200,0,300,10,1,strict\n");
  EXPECT_FALSE(workload.jobs[0].deadline);
  EXPECT_FALSE(workload.jobs[1].deadline);
}

TEST(ReferenceTraces, EveryElasticFlowTraceReads) {
  const std::string folder = std::string(ORRERY_SHARED) + "/data/elasticflow/traces";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "the reference data is not at " << folder << "; nothing was tested";
  }
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    const auto found = read_trace(entry.path().string());
    ASSERT_TRUE(found.ok()) << found.error().message;
    const auto named = read_trace(entry.path().string(), {.format = "elasticflow"});
    ASSERT_TRUE(named.ok()) << named.error().message;
    EXPECT_EQ(found.value().jobs.size(), named.value().jobs.size());
    ++files;
  }
  EXPECT_EQ(files, 23);
}

}  // namespace
}  // namespace orrery
