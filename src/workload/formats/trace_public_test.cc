#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/test_folder.h"
#include "workload/clusters/cluster_spec.h"
#include "workload/profiles/gavel_speeds.h"
#include "workload/text/slurm_text.h"
#include "workload/trace.h"

namespace orrery {
namespace {

const std::string kSamples = std::string(ORRERY_SOURCE) + "/data/samples/";

Workload sample(const std::string& file, const std::string& format,
                const TraceOptions& options = {}) {
  auto result = read_trace(kSamples + file, options);
  EXPECT_TRUE(result.ok()) << result.error().message;
  if (!result.ok()) return {};
  EXPECT_EQ(result.value().format, format);
  return std::move(result).value();
}

Workload parse(const std::string& text, const TraceOptions& options = {}) {
  std::istringstream in(text);
  auto result = parse_trace("t", in, options);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::move(result).value() : Workload();
}

using Counts = std::map<std::string, std::int64_t>;

Counts left_out(const Workload& workload) {
  Counts counts;
  for (const Oddity& oddity : workload.oddities) {
    if (oddity.left_out) counts[oddity.what] = oddity.count;
  }
  return counts;
}

Counts kept(const Workload& workload) {
  Counts counts;
  for (const Oddity& oddity : workload.oddities) {
    if (!oddity.left_out) counts[oddity.what] = oddity.count;
  }
  return counts;
}

std::string names(const Workload& workload) {
  std::string all;
  for (const JobSpec& job : workload.jobs) all += job.name + ' ';
  return all;
}

TEST(Helios, DatesAreCountedFromTheFirstSubmission) {
  const Workload workload = sample("helios.csv", "helios");
  EXPECT_EQ(names(workload), "806 801 803 ");
  EXPECT_EQ(seconds(workload.jobs[0].submitted), 0);
  EXPECT_EQ(seconds(workload.jobs[1].submitted), 9 * 3600 + 30);
  EXPECT_EQ(workload.jobs[1].duration_s(), 3600);
  EXPECT_EQ(workload.jobs[0].duration_s(), 86400);
  EXPECT_EQ(workload.jobs[2].gpus, 16);
  EXPECT_EQ(workload.jobs[2].cpu_milli, 64'000);
  EXPECT_EQ(workload.name_of(workload.jobs[2].user), "uAnn");
  EXPECT_EQ(left_out(workload),
            (Counts{{"asks for no GPU", 1}, {"never ran", 1}, {"ran for no time", 1}}));
  EXPECT_EQ(workload.oddities[0], (Oddity{"asks for no GPU", 1, 3, true}));
}

TEST(Acme, DurationsAreThoseFromStartToEndWhateverTheColumnSays) {
  const Workload kalos = sample("acme-kalos.csv", "acme");
  EXPECT_EQ(names(kalos), "dlc1 dlc2 ");
  EXPECT_EQ(kalos.jobs[0].duration_s(), 8);
  EXPECT_EQ(kalos.jobs[0].memory_bytes, 8'000'000'000'000);
  EXPECT_EQ(kalos.jobs[0].cpu_milli, 960'000);
  EXPECT_EQ(seconds(kalos.jobs[1].submitted), 542) << "zones count";
  EXPECT_EQ(left_out(kalos), (Counts{{"never ran", 1}}));
  const Workload seren = sample("acme-seren.csv", "acme");
  EXPECT_EQ(names(seren), "41 ");
  EXPECT_EQ(seren.jobs[0].duration_s(), 120);
  EXPECT_EQ(seren.jobs[0].memory_bytes, 0);
}

TEST(Openb, PodsAreJobs) {
  const Workload workload = sample("openb-pods.csv", "openb");
  EXPECT_EQ(names(workload), "pod-0 pod-1 pod-2 ");
  const JobSpec& part = workload.jobs[1];
  EXPECT_EQ(part.gpus, 1);
  EXPECT_EQ(part.cpu_milli, 6000);
  EXPECT_EQ(part.memory_bytes, 12288LL << 20);
  EXPECT_EQ(seconds(part.submitted), 100);
  EXPECT_EQ(part.duration_s(), 540);
  EXPECT_EQ(part.priority, 1);
  EXPECT_EQ(workload.name_of(part.gpu_type), "T4");
  EXPECT_EQ(workload.jobs[2].gpu_type, kNoName);
  EXPECT_EQ(left_out(workload), (Counts{{"asks for no GPU", 1}, {"never ran", 1}}));
  EXPECT_EQ(kept(workload), (Counts{{"asks for part of a GPU; given a whole one", 1},
                                    {"may run on several GPU types; taken to run on any", 1}}));
}

TEST(Openb, AListWithoutTimesIsReadWithAssumedOnes) {
  const Workload workload = sample("openb-pods-snapshot.csv", "openb");
  EXPECT_EQ(names(workload), "pod-0 pod-1 pod-3 ");
  EXPECT_EQ(workload.jobs[2].gpus, 8);
  EXPECT_EQ(workload.jobs[2].duration_s(), 3600);
  EXPECT_EQ(left_out(workload), (Counts{{"asks for no GPU", 1}}));
  EXPECT_EQ(kept(workload),
            (Counts{{"asks for part of a GPU; given a whole one", 1},
                    {"states no times; taken to be submitted at 0 and to run for an hour", 3}}));
}

TEST(PhillyCsv, RowsAreJobsAndVirtualClustersAreUsers) {
  const Workload workload = sample("philly-table.csv", "philly-csv");
  EXPECT_EQ(names(workload), "line-3 line-2 ");
  EXPECT_EQ(seconds(workload.jobs[0].submitted), 0);
  EXPECT_EQ(seconds(workload.jobs[1].submitted), 48 * 60 + 52);
  EXPECT_EQ(workload.jobs[0].gpus, 4);
  EXPECT_EQ(workload.jobs[0].duration_s(), 2951);
  EXPECT_EQ(workload.name_of(workload.jobs[0].user), "vc-b");
  EXPECT_EQ(left_out(workload), (Counts{{"had not ended", 1}, {"asks for no GPU", 1}}));
}

TEST(Dlrm, InstancesWithGpusAndTimesAreJobs) {
  const Workload workload = sample("dlrm2025.csv", "dlrm2025");
  EXPECT_EQ(names(workload), "instance_4 instance_1 ");
  const JobSpec& job = workload.jobs[1];
  EXPECT_EQ(seconds(job.submitted), 100);
  EXPECT_EQ(job.duration_s(), 1000);
  EXPECT_EQ(job.cpu_milli, 12'000);
  EXPECT_EQ(job.memory_bytes, std::int64_t{120} << 30);
  EXPECT_EQ(workload.name_of(job.model), "app_0");
  EXPECT_EQ(
      left_out(workload),
      (Counts{{"has no time of submission", 1}, {"asks for no GPU", 1}, {"had not ended", 1}}));
}

TEST(Durations, EveryLengthIsAJobOfOneGpu) {
  const Workload workload = sample("durations.csv", "durations");
  EXPECT_EQ(names(workload), "line-2 line-3 line-4 ");
  EXPECT_EQ(workload.jobs[2].duration_s(), 53'294'624);
  EXPECT_EQ(kept(workload).size(), 1U);
}

TEST(Openb, NodesAreACluster) {
  const auto cluster = read_cluster(kSamples + "openb-nodes.csv");
  ASSERT_TRUE(cluster.ok()) << cluster.error().message;
  ASSERT_EQ(cluster.value().nodes.size(), 2u);
  EXPECT_EQ(cluster.value().gpus_total(), 10);
  EXPECT_EQ(cluster.value().nodes[0].name, "node-0");
  EXPECT_EQ(cluster.value().nodes[0].gpu_type, "P100");
  EXPECT_EQ(cluster.value().nodes[1].cpu_milli, 96'000);
  EXPECT_EQ(cluster.value().nodes[1].memory_bytes, 786432LL << 20);
}

TEST(Openb, ABadListOfNodesIsRefused) {
  const std::string header = "sn,cpu_milli,memory_mib,gpu,model\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {header, "has no node with a GPU"},
      {header + "n,1000,1,0,\n", "has no node with a GPU"},
      {header + "n,1000,1,65,V100\n", "65 GPUs on a node"},
      {header + "n,many,1,8,V100\n", "c:2: column 'cpu_milli': 'many'"},
      {header + "n,1000,-1,8,V100\n", "c:2: column 'memory_mib': '-1'"},
      {header + ",1000,1,8,V100\n", "c:2: column 'sn': is empty"},
      {header + "n,1000\n", "c:2: has 2 fields"},
  };
  for (const auto& [text, message] : cases) {
    const auto cluster = parse_cluster("c", text);
    ASSERT_FALSE(cluster.ok()) << text;
    EXPECT_NE(cluster.error().message.find(message), std::string::npos) << cluster.error().message;
  }
}

TEST(Pai, TasksMakeJobsAndTheTableOfJobsHoldsUserAndTime) {
  const Workload workload = sample("pai2020", "pai2020");
  EXPECT_EQ(names(workload), "j1 j2 j5 ");
  EXPECT_EQ(seconds(workload.jobs[0].submitted), 990);
  EXPECT_EQ(workload.jobs[0].duration_s(), 600);
  EXPECT_EQ(workload.jobs[0].gpus, 1);
  EXPECT_EQ(workload.jobs[1].gpus, 4);
  EXPECT_EQ(workload.jobs[1].cpu_milli, 40'000);
  EXPECT_EQ(workload.jobs[1].memory_bytes, 100'000'000'000);
  EXPECT_EQ(workload.jobs[1].duration_s(), 3700);
  EXPECT_EQ(workload.name_of(workload.jobs[1].gpu_type), "V100");
  EXPECT_EQ(workload.name_of(workload.jobs[1].user), "bob");
  EXPECT_EQ(workload.jobs[2].gpus, 1) << "three quarters of a GPU";
  EXPECT_EQ(left_out(workload), (Counts{{"never ran", 1}, {"had not ended", 1}}));
  EXPECT_EQ(kept(workload).at("asks for parts of GPUs; the sum is rounded up"), 2);
}

TEST(Pai, WithoutTheTableOfJobsSubmissionIsTheFirstStart) {
  const Workload workload = parse(
      "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n"
      "j1,worker,2.0,Terminated,2000.0,2100.0,600.0,29.5,100.0,T4\n"
      "j1,worker2,1.0,Terminated,1990.0,2100.0,600.0,29.5,100.0,P100\n");
  EXPECT_EQ(seconds(workload.jobs.at(0).submitted), 1990);
  EXPECT_EQ(workload.jobs[0].gpus, 3);
  EXPECT_EQ(workload.jobs[0].gpu_type, kNoName);
  EXPECT_EQ(kept(workload).size(), 2u);
}

TEST(Gavel, SpeedsComeFromTheFileBeside) {
  const Workload workload = sample("gavel.trace", "gavel");
  ASSERT_EQ(names(workload), "0 1 2 ");
  EXPECT_EQ(workload.jobs[0].gpus, 2);
  EXPECT_EQ(workload.jobs[0].batch_size, 128);
  EXPECT_EQ(workload.name_of(workload.jobs[0].model), "ResNet-18");
  EXPECT_EQ(workload.jobs[0].duration_s(), 50);
  EXPECT_FALSE(workload.jobs[0].deadline);
  EXPECT_EQ(workload.jobs[1].duration_s(), 10);
  EXPECT_EQ(workload.jobs[1].deadline, time_from_seconds(45.5));
  EXPECT_EQ(workload.jobs[2].duration_s(), 20);
  EXPECT_EQ(kept(workload), (Counts{{"has no measured speed; 20 steps a second are assumed", 1}}));
}

TEST(Gavel, SpeedsMayBeNamedAndOfAnotherType) {
  const Workload workload =
      sample("gavel.trace", "gavel",
             {.profiles = kSamples + "simulation_throughputs.json", .gpu_type = "k80"});
  EXPECT_EQ(workload.jobs.at(0).duration_s(), 250);
  EXPECT_EQ(kept(workload).begin()->second, 2);
  const auto none = read_trace(kSamples + "gavel.trace", {.gpu_type = "h100"});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("has no GPU type 'h100'; it has k80, v100"),
            std::string::npos);
}

TEST(Gavel, TheOlderLayoutHasSevenFields) {
  const Workload workload = sample("gavel-old.trace", "gavel");
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[0].gpus, 2);
  EXPECT_EQ(workload.jobs[0].duration_s(), 50);
  EXPECT_EQ(seconds(workload.jobs[1].submitted), 120.5);
  EXPECT_EQ(workload.jobs[1].iterations, 600);
  EXPECT_EQ(workload.jobs[1].batch_size, 0);
}

TEST(GavelSpeeds, BadTablesAreRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "is not valid JSON"},
      {"[]", "is not an object with GPU types"},
      {R"({"v100":1})", "'v100' is not an object"},
      {R"j({"v100":{"A3C":{"null":1}}})j", "'A3C' is not a key such as ('A3C', 1)"},
      {R"j({"v100":{"('A3C', 1)":{"x":1}}})j", "has no number under \"null\""},
      {R"j({"v100":{"('A3C', 1)":{"null":-1}}})j", "-1 steps a second make no sense"},
      {R"j({"a":{},"b":{}})j", "has several GPU types; say which with --gpu-type"},
  };
  for (const auto& [text, message] : cases) {
    const auto speeds = GavelSpeeds::parse("g", text, "");
    ASSERT_FALSE(speeds.ok()) << text;
    EXPECT_NE(speeds.error().message.find(message), std::string::npos) << speeds.error().message;
  }
}

TEST(Sia, WorkIsThatOfTheApplication) {
  const Workload workload = sample("sia.csv", "sia");
  ASSERT_EQ(names(workload), "bert-0 cifar10-1 gpt-2 ");
  EXPECT_EQ(workload.jobs[0].gpus, 6);
  EXPECT_EQ(workload.jobs[0].batch_size, 384);
  EXPECT_NEAR(workload.jobs[0].duration_s(), 3.78 * 3600 / 6, 1e-6);
  EXPECT_NEAR(workload.jobs[1].duration_s(), 1.12 * 3600, 1e-6);
  EXPECT_NEAR(workload.jobs[2].duration_s(), 2.5 * 3600, 1e-6);
  EXPECT_EQ(seconds(workload.jobs[2].submitted), 250.25);
  EXPECT_EQ(workload.name_of(workload.jobs[2].model), "gpt_pretrain");
  EXPECT_EQ(kept(workload).size(), 2u);
}

TEST(ElasticFlowRaw, IsReadAndTheJobsThatDidNothingAreCounted) {
  const Workload workload = sample("elasticflow-raw.csv", "elasticflow-raw");
  EXPECT_EQ(names(workload), "6b2d-1 6b2d-2 ");
  EXPECT_EQ(seconds(workload.jobs[0].submitted), 16566);
  EXPECT_EQ(workload.jobs[0].duration_s(), 3890);
  EXPECT_EQ(workload.jobs[0].gpus, 4);
  EXPECT_EQ(left_out(workload), (Counts{{"ran for no time", 1}}));
}

TEST(GenParallel, IntervalsAddUpOverRowsThatAreLeftOut) {
  const Workload workload = sample("gen-parallel.csv", "gen-parallel");
  EXPECT_EQ(names(workload), "0 1 2 ");
  EXPECT_EQ(seconds(workload.jobs[1].submitted), 3951);
  EXPECT_EQ(seconds(workload.jobs[2].submitted), 4100);
  EXPECT_EQ(workload.jobs[0].cpu_milli, 4000);
  EXPECT_EQ(workload.name_of(workload.jobs[2].user), "2");
  EXPECT_EQ(left_out(workload), (Counts{{"asks for no GPU", 1}}));
}

TEST(Slurm, JobsAreReadAndStepsAreNot) {
  const Workload workload = sample("sacct.txt", "slurm");
  ASSERT_EQ(names(workload), "701 702_1 ");
  const JobSpec& job = workload.jobs[0];
  EXPECT_EQ(job.gpus, 4);
  EXPECT_EQ(job.cpu_milli, 8000);
  EXPECT_EQ(job.memory_bytes, 64LL << 30);
  EXPECT_EQ(workload.name_of(job.gpu_type), "a100");
  EXPECT_EQ(workload.name_of(job.user), "ann");
  EXPECT_EQ(job.duration_s(), 26 * 3600);
  EXPECT_EQ(seconds(workload.jobs[1].submitted), 300);
  EXPECT_EQ(workload.name_of(workload.jobs[1].gpu_type), "t4");
  EXPECT_EQ(left_out(workload),
            (Counts{{"never ran", 2}, {"asks for no GPU", 1}, {"had not ended", 1}}));
}

TEST(Slurm, AnyColumnsThatSayEnoughWill) {
  const Workload old = parse(
      "AllocCPUS|JobIDRaw|ReqGRES|ReqMem|NNodes|ElapsedRaw|Start|Comment|\n"
      "8|5|gpu:v100:2|4Gn|2|90|2020-01-01T00:00:10|a \"b|\n"
      "8|6|craynetwork:1,gpu|500Mc|1|60|2020-01-01T00:00:00||\n");
  ASSERT_EQ(names(old), "6 5 ");
  EXPECT_EQ(old.jobs[1].gpus, 4);
  EXPECT_EQ(old.jobs[1].memory_bytes, 8LL << 30);
  EXPECT_EQ(old.jobs[1].duration_s(), 90);
  EXPECT_EQ(seconds(old.jobs[1].submitted), 10);
  EXPECT_EQ(old.jobs[0].memory_bytes, 4000LL << 20);
  EXPECT_EQ(kept(old), (Counts{{"has no time of submission; taken from its start", 2}}));
}

TEST(Slurm, ARequeuedJobIsThereOnce) {
  const Workload workload = parse(
      "JobID|Submit|Start|End|AllocTRES\n"
      "9|2020-01-01T00:00:00|2020-01-01T00:00:00|2020-01-01T00:01:00|gres/gpu=1\n"
      "9|2020-01-01T00:00:00|2020-01-01T00:02:00|2020-01-01T00:09:00|gres/gpu=1\n"
      "10|2020-01-01T00:00:00|2020-01-01T00:02:00|2020-01-01T00:01:00|gres/gpu=1\n");
  EXPECT_EQ(names(workload), "9 ");
  EXPECT_EQ(left_out(workload),
            (Counts{{"has an id that was used before", 1}, {"ends before it starts", 1}}));
}

TEST(Slurm, ResourcesAndMemoryAreUnderstood) {
  const auto several = parse_tres("cpu=4,gres/gpu:a100=2,gres/gpu:t4=1,mem=1.50G");
  ASSERT_TRUE(several.ok());
  EXPECT_EQ(several.value().gpus, 3);
  EXPECT_TRUE(several.value().several_types);
  EXPECT_EQ(several.value().gpu_type, "");
  EXPECT_EQ(several.value().memory_bytes, 3LL << 29);
  EXPECT_EQ(parse_slurm_memory("1000").value(), 1000LL << 20);
  EXPECT_EQ(parse_slurm_memory("2T").value(), 2LL << 40);
  EXPECT_FALSE(parse_slurm_memory("").ok());
  EXPECT_FALSE(parse_slurm_memory("9999999T").ok());
  EXPECT_FALSE(parse_tres("cpu").ok());
  EXPECT_FALSE(parse_tres("gres/gpu=-1").ok());
  EXPECT_FALSE(parse_gres("gpu:x").ok());
}

TEST(Philly, AttemptsAddUpAndTheLastSaysHowManyGpus) {
  const Workload workload = sample("philly.json", "philly");
  ASSERT_EQ(names(workload), "application_1_4 application_1_1 ");
  EXPECT_EQ(workload.jobs[1].gpus, 4);
  EXPECT_EQ(workload.jobs[1].duration_s(), 3660);
  EXPECT_EQ(seconds(workload.jobs[1].submitted), 42 * 60);
  EXPECT_EQ(workload.name_of(workload.jobs[1].user), "ann");
  EXPECT_EQ(workload.jobs[0].duration_s(), 600);
  EXPECT_EQ(left_out(workload), (Counts{{"never ran", 1}, {"had not ended", 1}}));
  EXPECT_EQ(kept(workload),
            (Counts{{"has an attempt without start or end, which is not counted", 2}}));
}

TEST(Philly, TheWholeLogMayStandOnOneLine) {
  std::string text = "[";
  for (int i = 0; i < 20'000; ++i) {
    if (i > 0) text += ',';
    text +=
        R"({"jobid":"j)" + std::to_string(i) +
        R"(","submitted_time":"2017-10-07 01:11:39","attempts":[{"start_time":)"
        R"("2017-10-07 01:12:09","end_time":"2017-10-07 01:13:23","detail":[{"gpus":["g"]}]}]})";
  }
  EXPECT_EQ(parse(text + "]").jobs.size(), 20'000u);
}

TEST(Philly, AFolderWithTheLogWillDo) {
  const TestFolder folder;
  std::filesystem::copy_file(kSamples + "philly.json", folder.file("cluster_job_log"));
  const auto workload = read_trace(folder.path());
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  EXPECT_EQ(workload.value().name, "cluster_job_log");
}

TEST(PublicTraces, NoSampleIsTakenForAnotherFormat) {
  for (const auto& entry : std::filesystem::directory_iterator(kSamples)) {
    if (entry.path().filename() == "openb-nodes.csv" || entry.path().extension() == ".json") {
      continue;
    }
    const auto workload = read_trace(entry.path().string());
    ASSERT_TRUE(workload.ok()) << workload.error().message;
    const auto again = read_trace(entry.path().string(), {.format = workload.value().format});
    EXPECT_TRUE(again.ok()) << entry.path();
  }
}

}  // namespace
}  // namespace orrery
