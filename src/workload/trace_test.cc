#include "workload/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "workload/same_workload.h"

namespace orrery {
namespace {

Workload parse(const std::string& text, const TraceOptions& options = {}) {
  std::istringstream in(text);
  auto result = parse_trace("dir/t.csv", in, options);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::move(result).value() : Workload();
}

std::vector<std::string> names(const Workload& workload) {
  std::vector<std::string> result;
  for (const JobSpec& job : workload.jobs) result.push_back(job.name);
  return result;
}

using Names = std::vector<std::string>;

constexpr auto kMuriHeader =
    "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,"
    "resource_time_0,resource_time_1,resource_time_2,priority\n";

TEST(MuriTrace, MillisecondsBecomeSeconds) {
  const Workload workload =
      parse(std::string(kMuriHeader) + "a,16,1500,4378042,vgg16,16,1453510000,1,332,83,68,110,1\n");
  ASSERT_EQ(workload.jobs.size(), 1u);
  const JobSpec& job = workload.jobs[0];
  EXPECT_EQ(workload.name, "t");
  EXPECT_EQ(job.name, "a");
  EXPECT_EQ(job.gpus, 16);
  EXPECT_EQ(job.submitted, Time(std::chrono::milliseconds(1500)));
  EXPECT_EQ(job.iterations, 4378042);
  EXPECT_EQ(job.iteration_s, 332 / 1000.0);
  EXPECT_EQ(job.batch_size, 16);
  EXPECT_EQ(job.priority, 1);
  EXPECT_EQ(workload.name_of(job.model), "vgg16");
  const StageProfile expected{{83 / 1000.0, 68 / 1000.0, 110 / 1000.0}, {2, 1, 1}};
  EXPECT_EQ(workload.profiles.at(index(job.profile)), expected);
}

Duration muri_start_cost(const std::string& gpus, const std::string& model) {
  return parse(std::string(kMuriHeader) + "a," + gpus + ",0,1," + model + ",1,1,1,1,1,1,1,0\n")
      .jobs.at(0)
      .start_cost;
}

TEST(MuriTrace, TheStartCostIsThatOfTheNextSmallerMeasuredGpuCount) {
  using std::chrono::seconds;
  EXPECT_EQ(muri_start_cost("1", "a2c"), seconds(38));
  EXPECT_EQ(muri_start_cost("7", "a2c"), seconds(39));
  EXPECT_EQ(muri_start_cost("8", "a2c"), seconds(46));
  EXPECT_EQ(muri_start_cost("16", "vgg19"), seconds(10));
  EXPECT_EQ(muri_start_cost("64", "shufflenet_v2_x1_0"), seconds(8));
  EXPECT_EQ(muri_start_cost("1", "alexnet"), seconds(10));
}

TEST(MuriTrace, AnyNumberOfStagesIsRead) {
  const Workload workload = parse(
      "iteration_time,iterations,resource_time_1,resource_time_0,submit_time,num_gpu,job_id\n"
      "10,5,2,1,0,1,x\n");
  const StageProfile expected{{0.001, 0.002}, {1, 1}};
  EXPECT_EQ(workload.profiles.at(0), expected);
  EXPECT_EQ(
      parse("iteration_time,iterations,submit_time,num_gpu,job_id\n1,5,0,1,x\n").jobs.at(0).profile,
      kNoProfile);
}

TEST(MuriTrace, EqualProfilesAreKeptOnce) {
  const Workload workload =
      parse(std::string(kMuriHeader) + "a,1,0,1,m,1,1,1,9,1,2,3,0\nb,1,0,1,m,1,1,1,8,1,2,3,0\n" +
            "c,1,0,1,m,1,1,1,8,1,2,4,0\n");
  EXPECT_EQ(workload.profiles.size(), 2u);
  EXPECT_EQ(workload.names, Names{"m"});
}

TEST(TiresiasTrace, IsDistinguishedFromMuriByItsHeader) {
  const Workload workload = parse(
      "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
      "0,8,30,133,vgg11,147,23\n");
  const JobSpec& job = workload.jobs.at(0);
  EXPECT_EQ(job.submitted, Time(std::chrono::seconds(30)));
  EXPECT_EQ(job.iteration_s, 147.0 / 133.0);
  EXPECT_EQ(job.start_cost, std::chrono::seconds(10));
  EXPECT_EQ(job.profile, kNoProfile);
  EXPECT_EQ(workload.name_of(job.model), "vgg11");
}

TEST(OrreryTrace, EveryColumnReachesTheJob) {
  const Workload workload = parse(
      "job_id,submit_s,gpus,duration_s,iterations,iteration_s,model,user,batch_size,cpus,"
      "memory_gb,gpu_memory_gb,gpu_type,priority,deadline_s,start_cost_s,stages_s,stage_slots\n"
      "\"a,\"\"b\",0.3,4,20.1,100,0.2,bert,ann,32,1.5,12.25,16,A100,1,90,7.5,0.1;0.05,2;1\n");
  const JobSpec& job = workload.jobs.at(0);
  EXPECT_EQ(job.name, "a,\"b");
  EXPECT_EQ(job.submitted, Time(std::chrono::milliseconds(300)));
  EXPECT_EQ(job.gpus, 4);
  EXPECT_EQ(job.iterations, 100);
  EXPECT_EQ(job.iteration_s, 0.2);
  EXPECT_EQ(workload.name_of(job.model), "bert");
  EXPECT_EQ(workload.name_of(job.user), "ann");
  EXPECT_EQ(job.batch_size, 32);
  EXPECT_EQ(job.cpu_milli, 1500);
  EXPECT_EQ(job.memory_bytes, 12'250'000'000);
  EXPECT_EQ(job.gpu_memory_bytes, 16'000'000'000);
  EXPECT_EQ(workload.name_of(job.gpu_type), "A100");
  EXPECT_EQ(job.priority, 1);
  EXPECT_EQ(job.deadline, Time(std::chrono::seconds(90)));
  EXPECT_EQ(job.start_cost, std::chrono::milliseconds(7500));
  const StageProfile expected{{0.1, 0.05}, {2, 1}};
  EXPECT_EQ(workload.profiles.at(index(job.profile)), expected);
}

TEST(OrreryTrace, JsonLinesSayTheSame) {
  const Workload csv = parse(
      "job_id,submit_s,gpus,iterations,iteration_s,user,stages_s,stage_slots,deadline_s\n"
      "7,0.1,2,10,0.5,ann,0.1;2,1;3,\n8,3000000000.123456789,2,1,1,,,,3000000001\n");
  const Workload jsonl =
      parse(R"({"job_id":7,"submit_s":0.1,"gpus":2,"iterations":10,"iteration_s":0.5,"user":"ann",)"
            R"("stages_s":[0.1,2],"stage_slots":[1,3],"deadline_s":null})"
            "\n"
            R"({"deadline_s":3000000001,"job_id":"8","submit_s":3000000000.123456789,"gpus":2,)"
            R"("duration_s":1})");
  EXPECT_TRUE(same_workload(csv, jsonl));
  EXPECT_EQ(csv.jobs.at(1).submitted, Time(Duration(3'000'000'000'123'456'789)));
}

JobSpec work(const std::string& columns, const std::string& values) {
  return parse("job_id,submit_s,gpus," + columns + "\nx,0,1," + values + "\n").jobs.at(0);
}

TEST(OrreryTrace, TwoOfThreeNumbersGiveTheWork) {
  EXPECT_EQ(work("iterations,iteration_s", "10,2").duration_s(), 20);
  EXPECT_EQ(work("duration_s,iterations", "20,10").iteration_s, 2);
  EXPECT_EQ(work("duration_s,iteration_s", "20,2").iterations, 10);
  EXPECT_EQ(work("duration_s,iterations,iteration_s", "20.1,10,2").duration_s(), 20);
}

TEST(OrreryTrace, AJobKnownByItsDurationCountsInSeconds) {
  EXPECT_EQ(work("duration_s", "20.5").iterations, 20.5);
  EXPECT_EQ(work("duration_s", "20.5").iteration_s, 1);
}

TEST(Trace, WindowsLineEndsByteOrderMarksAndBlankLinesAreNoConcern) {
  EXPECT_TRUE(same_workload(
      parse("\xEF\xBB\xBFjob_id,submit_s,gpus,duration_s\r\n\r\na,0,1,5\r\n  \r\nb,1,1,5"),
      parse("job_id,submit_s,gpus,duration_s\na,0,1,5\nb,1,1,5\n")));
}

TEST(Trace, JobsComeInOrderOfSubmission) {
  const Workload workload =
      parse("job_id,submit_s,gpus,duration_s\nc,30,1,5\nb,10,1,5\nd,30,1,5\na,10,1,5\n");
  EXPECT_EQ(names(workload), (Names{"b", "a", "c", "d"}));
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    EXPECT_EQ(index(workload.jobs[i].id), i);
  }
  EXPECT_EQ(workload.jobs[0].submitted, Time(std::chrono::seconds(10)));
}

TEST(Trace, TheOrderOfLinesIsIrrelevantWhereTimesDiffer) {
  const std::string header = "job_id,submit_s,gpus,duration_s,model,stages_s\n";
  std::vector<std::string> lines;
  for (int i = 0; i < 50; ++i) {
    const std::string n = std::to_string(i);
    lines.push_back("j" + n + "," + n + ",1,5,m" + std::to_string(i % 7) + ",1;" + n + "\n");
  }
  std::string forward = header, shuffled = header;
  for (std::size_t i = 0; i < 50; ++i) {
    forward += lines[i];
    shuffled += lines[(i * 17 + 5) % 50];
  }
  EXPECT_TRUE(same_workload(parse(forward), parse(shuffled)));
}

TEST(Trace, TheLimitKeepsTheFirstSubmitted) {
  const std::string text =
      "job_id,submit_s,gpus,duration_s,user\nc,30,1,5,u\nb,10,1,5,v\na,20,1,5,w\n";
  const Workload workload = parse(text, {.limit = 2});
  EXPECT_EQ(names(workload), (Names{"b", "a"}));
  EXPECT_EQ(workload.names, (Names{"v", "w"}));
  EXPECT_EQ(parse(text, {.limit = 3}).jobs.size(), 3u);
  EXPECT_EQ(parse(text, {.limit = 99}).jobs.size(), 3u);
}

TEST(Trace, AFormatCanBeNamed) {
  EXPECT_EQ(parse("job_id,submit_s,gpus,duration_s\na,0,1,5\n", {.format = "orrery"}).jobs.size(),
            1u);
  std::istringstream in("job_id,submit_s,gpus,duration_s\na,0,1,5\n");
  const auto result = parse_trace("t.csv", in, {.format = "muri"});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("t.csv:1: unknown column 'submit_s'"), std::string::npos)
      << result.error().message;
}

TEST(Trace, EveryFormatIsListedWithItsColumns) {
  std::vector<std::string_view> listed;
  for (const TraceFormat& format : trace_formats()) {
    listed.push_back(format.name);
    EXPECT_FALSE(format.summary.empty());
    EXPECT_FALSE(format.columns.empty());
  }
  for (const char* name :
       {"muri", "chronus", "tiresias", "elasticflow", "orrery", "elasticflow-raw", "philly",
        "helios", "acme", "pai2020", "openb", "gavel", "sia", "gen-parallel", "slurm", "synergy"}) {
    EXPECT_EQ(std::ranges::count(listed, name), 1) << name;
  }
}

}  // namespace
}  // namespace orrery
