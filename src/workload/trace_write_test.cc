#include <gtest/gtest.h>

#include <sstream>

#include "base/random.h"
#include "workload/generators/generate.h"
#include "workload/same_workload.h"
#include "workload/trace.h"

namespace orrery {
namespace {

std::string written(const Workload& workload, TraceSyntax syntax) {
  std::ostringstream out;
  const Status status = write_trace(workload, out, syntax);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return out.str();
}

void expect_round_trip(const Workload& workload) {
  for (const TraceSyntax syntax : {TraceSyntax::Csv, TraceSyntax::Jsonl}) {
    std::istringstream in(written(workload, syntax));
    const auto back = parse_trace("t", in, {});
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_TRUE(same_workload(workload, back.value())) << written(workload, syntax).substr(0, 999);
  }
}

Workload one_job(const std::string& name) {
  Workload workload;
  JobSpec& job = workload.jobs.emplace_back();
  job.name = name;
  job.gpus = 2;
  job.iterations = 5;
  job.iteration_s = 0.5;
  return workload;
}

// Jobs with every field drawn at random, over the whole range each may have.
Workload random_workload(std::uint64_t seed) {
  Random random(seed);
  const auto some = [&] { return random.uniform() < 0.5; };
  Workload workload;
  workload.names = {"a model", " blanks ", "com,ma \"quoted\"", "back\\slash", "\xC3\xA9"};
  workload.profiles = {{{0.1, 1e-7, 0}, {2, 1, 1}}, {{1.0 / 3}, {16}}};
  workload.curves = {{.points = {{1, 0.1}, {2, 1.0 / 3}, {8, 0.25}}, .spreads = {}, .widest = 64},
                     {.points = {{4, 1e-7}},
                      .spreads = {{2, 2, 7}, {4, 2, 1e8}, {4, 4, 3}, {16, 2, 5}},
                      .widest = 4}};
  workload.sensitivities = {
      {.cpu_milli = {500, 1000, 2250},
       .memory_bytes = {0, 1'000'000'001},
       .speed = {0.1, 1.0 / 3, 0.1, 1, 1, 1e9},
       .ideal = {1000, 20'000'000'000}},
      {.cpu_milli = {1}, .memory_bytes = {7}, .speed = {1e-9}, .ideal = {1, 7}}};
  Time submitted{};
  for (int i = 0; i < 40; ++i) {
    JobSpec& job = workload.jobs.emplace_back();
    job.id = JobId{i};
    job.name = some() ? std::to_string(i) : "job, \"" + std::to_string(i) + "\" ";
    submitted += Duration(random.between(0, 70'000'000'000'000'000));
    job.submitted = submitted;
    job.gpus = static_cast<int>(random.between(1, 1'000'000));
    job.iterations = random.exponential(1e6) + 1;
    job.iteration_s = random.exponential(1) + 1e-6;
    if (some()) job.cpu_milli = random.between(0, 1'000'000'000);
    if (some()) job.memory_bytes = random.between(0, 1'000'000'000'000'000);
    if (some()) job.gpu_memory_bytes = random.between(0, 1'000'000'000'000'000);
    if (some()) job.start_cost = Duration(random.between(0, 1'000'000'000'000));
    if (some()) job.checkpoint_cost = Duration(random.between(0, 1'000'000'000'000));
    if (some()) job.deadline = job.submitted + Duration(random.between(0, 1'000'000'000));
    if (some()) job.deadline_kind = DeadlineKind::Soft;
    if (some()) job.deadline_value = random.exponential(10);
    if (some()) job.batch_size = static_cast<int>(random.between(0, 1'000'000'000));
    if (some()) job.priority = 1;
    // In the order of first use, as a reader numbers them.
    job.model = NameId{std::min(i, 4)};
    job.user = some() ? NameId{0} : kNoName;
    job.gpu_type = some() ? NameId{0} : kNoName;
    job.profile = i == 0 ? ProfileId{0} : some() ? ProfileId{std::min(i, 1)} : kNoProfile;
  }
  workload.jobs[1].profile = ProfileId{1};
  for (int i : {2, 3, 6, 7, 8}) {
    workload.jobs[static_cast<std::size_t>(i)].sensitivity = SensitivityId{i % 2};
  }
  for (int i : {0, 1, 5, 7, 9}) workload.jobs[static_cast<std::size_t>(i)].curve = CurveId{i % 2};
  return workload;
}

TEST(WriteTrace, ReadingBackGivesTheSameWorkload) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    expect_round_trip(random_workload(seed));
  }
}

TEST(WriteTrace, AGeneratedWorkloadReadsBack) {
  const auto workload = generate("philly-like", {{"jobs", "3000"}});
  ASSERT_TRUE(workload.ok());
  expect_round_trip(workload.value());
}

TEST(WriteTrace, AWorkloadOfSynergysReadsBack) {
  const auto workload = generate("synergy", {{"jobs", "200"}});
  ASSERT_TRUE(workload.ok());
  expect_round_trip(workload.value());
}

TEST(WriteTrace, OnlyColumnsInUseAreWritten) {
  const Workload workload = one_job("a");
  EXPECT_EQ(written(workload, TraceSyntax::Csv),
            "job_id,submit_s,gpus,iterations,iteration_s\na,0,2,5,0.5\n");
  EXPECT_EQ(written(workload, TraceSyntax::Jsonl),
            "{\"job_id\":\"a\",\"submit_s\":0,\"gpus\":2,\"iterations\":5,\"iteration_s\":0.5}\n");
}

TEST(WriteTrace, SpeedsAreListsOfOneLength) {
  Workload workload = one_job("a");
  workload.curves = {{.points = {{1, 2.5}, {2, 4}}, .spreads = {}, .widest = 8}};
  workload.jobs[0].curve = CurveId{0};
  EXPECT_EQ(written(workload, TraceSyntax::Csv),
            "job_id,submit_s,gpus,iterations,iteration_s,speeds,speed_gpus\n"
            "a,0,2,5,0.5,2.5;4;0,1;2;8\n")
      << "the widest count of the table comes with speed 0";
}

TEST(WriteTrace, ElasticFlowsLayoutReadsBackWithoutWhatItHasNoColumnFor) {
  Workload workload = one_job("a");
  workload.names = {"bert"};
  JobSpec& job = workload.jobs[0];
  job.model = NameId{0};
  job.batch_size = 64;
  job.submitted = Time(std::chrono::milliseconds(1500));
  job.iterations = 6503;
  job.iteration_s = 604.0 / 6503;
  std::ostringstream out;
  ASSERT_TRUE(write_elasticflow_trace(workload, out).ok());
  EXPECT_EQ(out.str(),
            "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration,"
            "best_effort\na,1.5,6503,bert,605.5,64,2,604,1\n");
  std::istringstream in(out.str());
  const auto back = parse_trace("t", in, {});
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back.value().jobs[0].iteration_s, job.iteration_s);
  EXPECT_FALSE(back.value().jobs[0].deadline);
}

TEST(WriteTrace, ANameThatCannotBeReadBackIsRefused) {
  for (const std::string name : {"", "two\nlines", "\xFF"}) {
    std::ostringstream out;
    EXPECT_FALSE(write_trace(one_job(name), out, TraceSyntax::Csv).ok()) << name;
  }
}

TEST(WriteTrace, AFailedStreamIsReported) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  const Status status = write_trace(one_job("a"), out, TraceSyntax::Csv);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::Unavailable);
}

}  // namespace
}  // namespace orrery
