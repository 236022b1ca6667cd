#include "workload/profiles/speed_profiles.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "workload/trace.h"

namespace orrery {
namespace {

using Points = std::vector<SpeedCurve::Point>;

SpeedProfiles parse(const std::string& text, const std::string& name = "some/bert.csv") {
  std::istringstream in(text);
  auto result = parse_profiles(name, in);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::move(result).value() : SpeedProfiles(name);
}

TEST(SpeedProfiles, ReadElasticFlowsTables) {
  const SpeedProfiles profiles = parse(
      "global_batch_size,1,2,4\n"
      "64,6.030661553957379,8.643477263279834,10.356284859349557\n"
      "128,3.5749256045333064,5.679410396897942,8.45093362704855");
  EXPECT_TRUE(profiles.knows("bert"));
  EXPECT_FALSE(profiles.knows("gpt2"));
  const SpeedCurve* curve = profiles.find("bert", 128, "A100");
  ASSERT_NE(curve, nullptr) << "a table without types is good for any";
  EXPECT_EQ(curve->points,
            (Points{{1, 3.5749256045333064}, {2, 5.679410396897942}, {4, 8.45093362704855}}));
  EXPECT_EQ(curve->widest, 4);
  EXPECT_EQ(profiles.find("bert", 96, "A100"), nullptr);
  EXPECT_EQ(profiles.batches("bert", ""), (std::vector<int>{64, 128}));
  EXPECT_TRUE(profiles.gpu_types().empty());
}

TEST(SpeedProfiles, LeaveOutWhatCannotRunAndRememberTheWidestColumn) {
  const SpeedProfiles profiles = parse(
      "global_batch_size,1,2,4,8\r\n"
      "64,1,2,nan,nan\r\n"
      "65,1,2,3,\r\n"
      "66,1,2,0,0\r\n");
  EXPECT_EQ(profiles.find("bert", 64, "")->points, (Points{{1, 1}, {2, 2}}));
  EXPECT_EQ(profiles.find("bert", 64, "")->widest, 2);
  EXPECT_EQ(profiles.find("bert", 65, "")->points, (Points{{1, 1}, {2, 2}, {4, 3}}));
  EXPECT_EQ(profiles.find("bert", 65, "")->widest, 8);
  EXPECT_EQ(profiles.find("bert", 66, "")->points, (Points{{1, 1}, {2, 2}}));
  EXPECT_EQ(profiles.find("bert", 66, "")->widest, 8);
}

const std::string kOurs =
    "model,batch_size,gpu_type,gpus,nodes,iterations_per_s\n"
    "bert,64,A100,4,2,9\n"
    "bert,64,A100,1,,3\n"
    "bert,64,A100,4,,10\n"
    "bert,64,A100,8,2,12\n"
    "bert,64,A100,8,4,11\n"
    "bert,64,A100,16,,nan\n"
    "bert,64,T4,1,,0.5\n"
    "gpt2,32,A100,1,,7\n";

TEST(SpeedProfiles, ReadOurOwnTable) {
  const SpeedProfiles profiles = parse(kOurs, "ours.csv");
  EXPECT_EQ(profiles.gpu_types(), (std::vector<std::string>{"A100", "T4"}));
  const SpeedCurve* curve = profiles.find("bert", 64, "A100");
  ASSERT_NE(curve, nullptr);
  EXPECT_EQ(curve->points, (Points{{1, 3}, {4, 10}, {8, 12}}))
      << "8 GPUs were only measured spread; the fewest nodes stand for them";
  EXPECT_EQ(curve->spreads, (std::vector<SpeedCurve::Spread>{{4, 2, 9}, {8, 2, 12}, {8, 4, 11}}));
  EXPECT_EQ(profiles.find("bert", 64, "T4")->points, (Points{{1, 0.5}}));
  EXPECT_EQ(profiles.find("bert", 64, "V100"), nullptr);
}

struct Case {
  std::string what;
  std::string text;
  std::string message;
};

const std::string kCounts = "global_batch_size,1,2\n";
const std::string kHead = "model,batch_size,gpu_type,gpus,nodes,iterations_per_s\n";

const std::vector<Case> kCases = {
    {"empty", "", "p.csv: is empty"},
    {"another table", "a,b\n1,2\n", "p.csv:1: is no table of speeds"},
    {"header only", kCounts, "p.csv: has a header but no rows"},
    {"ours: header only", kHead, "p.csv: has a header but no rows"},
    {"no number of GPUs", "global_batch_size,one\n", "p.csv:1: the header must be"},
    {"no GPUs", "global_batch_size,0\n", "p.csv:1: the header must be"},
    {"count twice", "global_batch_size,2,2\n", "p.csv:1: column '2' comes twice"},
    {"batch twice", "global_batch_size,global_batch_size\n", "p.csv:1: column 'global_batch"},
    {"short row", kCounts + "64,1\n", "p.csv:2: has 2 fields, but the header names 3"},
    {"batch text", kCounts + "big,1,2\n", "p.csv:2: column 'global_batch_size': 'big' is not"},
    {"batch 0", kCounts + "0,1,2\n", "p.csv:2: column 'global_batch_size': '0' is outside"},
    {"speed text", kCounts + "64,1,fast\n", "p.csv:2: column '2': 'fast' is not a number"},
    {"negative speed", kCounts + "64,1,-2\n", "p.csv:2: column '2': '-2' is outside"},
    {"infinite speed", kCounts + "64,1,inf\n", "p.csv:2: column '2': 'inf' is not a finite"},
    {"endless iteration", kCounts + "64,1,1e-300\n", "p.csv:2: column '2': '1e-300' is so slow"},
    {"runs nowhere", kCounts + "64,nan,0\n", "p.csv:2: p with batch 64 cannot run on any"},
    {"row twice", kCounts + "64,1,2\n8,1,2\n64,1,2\n",
     "p.csv:4: p with batch 64 was given before, at p.csv:2"},
    {"open quote", kCounts + "\"64,1,2\n", "p.csv:2: field 1: a quoted field must end"},
    {"ours: no model", kHead + ",64,A100,1,,2\n", "p.csv:2: column 'model': is empty"},
    {"ours: no batch", kHead + "m,,A100,1,,2\n", "p.csv:2: column 'batch_size': is empty"},
    {"ours: no GPUs", kHead + "m,64,A100,0,,2\n", "p.csv:2: column 'gpus': '0' is outside"},
    {"ours: nodes", kHead + "m,64,A100,2,3,2\n", "p.csv:2: column 'nodes': '3' is outside 1 to 2"},
    {"ours: speed", kHead + "m,64,A100,2,,-1\n", "p.csv:2: column 'iterations_per_s': '-1' is"},
    {"ours: twice", kHead + "m,64,A100,2,,1\nm,64,A100,2,,1\n",
     "p.csv:3: m with batch 64 on 2 GPUs was given before, in line 2"},
    {"ours: runs nowhere", kHead + "m,8,A100,2,,1\nm,64,A100,2,,0\nm,64,A100,4,,nan\n",
     "p.csv:3: m with batch 64 on A100 cannot run on any number of GPUs"},
    {"ours: column", "model,batch_size,gpus,speed,iterations_per_s\n", "p.csv:1: unknown column"},
    {"ours: missing", "model,gpus,iterations_per_s\n", "p.csv:1: the header has no column 'batch"},
};

TEST(BadProfiles, AreRefusedWithFileLineAndFault) {
  for (const Case& bad : kCases) {
    std::istringstream in(bad.text);
    const auto result = parse_profiles("p.csv", in);
    ASSERT_FALSE(result.ok()) << bad.what;
    EXPECT_EQ(result.error().code, Code::InvalidArgument) << bad.what;
    EXPECT_TRUE(result.error().message.starts_with(bad.message))
        << bad.what << ": " << result.error().message;
  }
}

Workload jobs(const std::string& rows) {
  std::istringstream in("job_id,submit_s,gpus,duration_s,model,batch_size,gpu_type\n" + rows);
  auto result = parse_trace("t", in, {});
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::move(result).value() : Workload();
}

TEST(MakeElastic, GivesEveryMeasuredJobItsCurveAndLeavesTheOthersRigid) {
  const SpeedProfiles profiles = parse(kOurs, "ours.csv");
  Workload workload = jobs("a,0,1,5,gpt2,32,\nb,0,1,5,vgg16,1,\nc,0,1,5,,,\nd,0,1,5,bert,64,\n");
  ASSERT_TRUE(make_elastic(profiles, "A100", "t", workload).ok());
  ASSERT_EQ(workload.curves.size(), 2u);
  EXPECT_EQ(workload.jobs[0].curve, CurveId{0});
  EXPECT_EQ(workload.jobs[1].curve, kNoCurve) << "vgg16 is not in the table";
  EXPECT_EQ(workload.jobs[2].curve, kNoCurve) << "no model, no speed";
  EXPECT_EQ(workload.jobs[3].curve, CurveId{1});
  EXPECT_EQ(workload.curves[1], *profiles.find("bert", 64, "A100"));
}

TEST(MakeElastic, TheTypeAJobMustHaveCountsBeforeTheOneOfTheRun) {
  const SpeedProfiles profiles = parse(kOurs, "ours.csv");
  Workload workload = jobs("a,0,1,5,bert,64,T4\nb,0,1,5,bert,64,\n");
  ASSERT_TRUE(make_elastic(profiles, "A100", "t", workload).ok());
  EXPECT_EQ(workload.curves[index(workload.jobs[0].curve)], *profiles.find("bert", 64, "T4"));
  EXPECT_EQ(workload.curves[index(workload.jobs[1].curve)], *profiles.find("bert", 64, "A100"));
}

TEST(MakeElastic, SaysWhatIsMissing) {
  const SpeedProfiles profiles = parse(kOurs, "ours.csv");
  const auto fault = [&](const std::string& rows, const std::string& type) {
    Workload workload = jobs(rows);
    const Status status = make_elastic(profiles, type, "t", workload);
    return status.ok() ? "" : status.error().message;
  };
  EXPECT_EQ(fault("a,0,1,5,bert,96,\n", "A100"),
            "t: job 'a': bert with batch 96 is not in ours.csv; the batches of bert there: 64");
  EXPECT_EQ(fault("a,0,1,5,bert,64,\n", "V100"),
            "ours.csv: has no profiles of the GPU type 'V100'; those there are: A100, T4");
  EXPECT_EQ(fault("a,0,1,5,bert,64,\n", ""),
            "t: job 'a': ours.csv: has profiles of several GPU types; choose one with --gpu-type: "
            "A100, T4");
  EXPECT_EQ(fault("a,0,1,5,gpt2,32,T4\n", ""),
            "t: job 'a': gpt2 is not in ours.csv for the GPU type 'T4'");
}

TEST(MakeElastic, AMissingFolderIsNamed) {
  const auto profiles = read_all_profiles("no/such/folder");
  ASSERT_FALSE(profiles.ok());
  EXPECT_TRUE(profiles.error().message.starts_with("no/such/folder: cannot be opened"));
}

TEST(ReferenceProfiles, EveryTableReadsAndFitsTheTraces) {
  const std::string folder = std::string(ORRERY_SHARED) + "/data/elasticflow/";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "the reference data is not at " << folder << "; nothing was tested";
  }
  const auto a100 = read_profiles(folder + "throughputs_A100");
  ASSERT_TRUE(a100.ok()) << a100.error().message;
  EXPECT_EQ(a100.value().entries().size(), 17u);
  EXPECT_EQ(a100.value().find("deepspeech2", 32, "A100")->points.back().gpus, 32);
  EXPECT_EQ(a100.value().find("deepspeech2", 32, "A100")->widest, 64);
  EXPECT_EQ(a100.value().find("resnet50_cifar10", 64, "")->points.back().gpus, 8);
  const auto t4 = read_profiles(folder + "throughputs_T4");
  ASSERT_TRUE(t4.ok()) << t4.error().message;
  EXPECT_EQ(t4.value().entries().size(), 9u);
  EXPECT_EQ(t4.value().find("yolov3", 64, "T4")->widest, 16);

  for (const std::string trace : {"fig10_authors", "cluster10", "philly_103959", "195job"}) {
    const auto workload = read_trace(folder + "traces/" + trace + ".csv",
                                     {.profiles = folder + "throughputs_A100", .gpu_type = "A100"});
    ASSERT_TRUE(workload.ok()) << workload.error().message;
    EXPECT_EQ(workload.value().curves.size(), 14u) << trace;
    for (const JobSpec& job : workload.value().jobs) EXPECT_NE(job.curve, kNoCurve);
  }
  const auto pollux = read_trace(folder + "traces/elasticVpollux_e.csv",
                                 {.profiles = folder + "throughputs_T4", .gpu_type = "T4"});
  ASSERT_TRUE(pollux.ok()) << pollux.error().message;
  for (const JobSpec& job : pollux.value().jobs) EXPECT_NE(job.curve, kNoCurve);
}

}  // namespace
}  // namespace orrery
