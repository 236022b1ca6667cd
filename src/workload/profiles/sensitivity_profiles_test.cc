#include "workload/profiles/sensitivity_profiles.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/test_folder.h"
#include "workload/generators/generate.h"
#include "workload/generators/synergy_models.h"
#include "workload/profiles/speed_profiles.h"

namespace orrery {
namespace {

const std::string kExample = std::string(ORRERY_SOURCE) + "/data/synergy_profiles.csv";
const std::string kHeader =
    "model,batch_size,gpu_type,iteration_s,cpus_per_gpu,memory_gb_per_gpu,speed\n";

SensitivityProfiles parse(const std::string& text) {
  std::istringstream in(text);
  auto result = parse_sensitivities("p.csv", in);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::move(result).value() : SensitivityProfiles();
}

// A model with one point of its own speed.
std::string point(const std::string& key, double speed) {
  return key + ",0.5,1,10," + std::to_string(speed) + "\n";
}

double speed_of(const SensitivityProfiles& profiles, std::string_view model, int batch,
                std::string_view type) {
  const auto found = profiles.find(model, batch, type);
  EXPECT_TRUE(found.ok()) << found.error().message;
  return found.ok() && found.value() != nullptr ? found.value()->sensitivity.speed[0] : 0;
}

Workload jobs(const std::string& rows, const TraceOptions& options) {
  std::istringstream in("job_id,submit_s,gpus,duration_s,model,batch_size,gpu_type\n" + rows);
  auto result = parse_trace("t", in, options);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::move(result).value() : Workload();
}

TEST(SensitivityProfiles, AGridMayComeInAnyOrder) {
  const SensitivityProfiles profiles = parse(
      kHeader + "m,,,0.5,4,10.5,2\nm,,,0.5,1.5,10.5,1\nm,,,0.5,1.5,20,1.25\nm,,,0.5,4,20,2.05\n");
  ASSERT_EQ(profiles.entries().size(), 1u);
  const SensitivityProfiles::Entry& entry = profiles.entries()[0];
  EXPECT_EQ(entry.iteration_s, 0.5);
  EXPECT_EQ(entry.place, "p.csv:2");
  EXPECT_EQ(entry.sensitivity.cpu_milli, (std::vector<std::int64_t>{1500, 4000}));
  EXPECT_EQ(entry.sensitivity.memory_bytes,
            (std::vector<std::int64_t>{10'500'000'000, 20'000'000'000}));
  EXPECT_EQ(entry.sensitivity.speed, (std::vector<double>{1, 1.25, 2, 2.05}));
  EXPECT_EQ(entry.sensitivity.ideal, (HostShare{4000, 10'500'000'000})) << "97 % of the greatest";
}

TEST(SensitivityProfiles, TheKneeMayBeMovedByAColumn) {
  const SensitivityProfiles profiles = parse(
      "model,iteration_s,cpus_per_gpu,memory_gb_per_gpu,speed,knee\n"
      "m,1,1,8,0.9,0.9\nm,1,2,8,1,0.9\nn,1,1,8,0.9,\nn,1,2,8,1,\n");
  EXPECT_EQ(profiles.entries()[0].sensitivity.ideal.cpu_milli, 1000);
  EXPECT_EQ(profiles.entries()[1].sensitivity.ideal.cpu_milli, 2000);
}

TEST(SensitivityProfiles, SpeedsThatScatterNeverFall) {
  const SensitivityProfiles profiles =
      parse(kHeader + "m,,,1,1,8,1\nm,,,1,1,9,0.95\nm,,,1,2,8,0.97\nm,,,1,2,9,1.5\n");
  EXPECT_EQ(profiles.entries()[0].sensitivity.speed, (std::vector<double>{1, 1, 1, 1.5}));
}

TEST(SensitivityProfiles, TheNearestEntryIsFound) {
  const SensitivityProfiles profiles =
      parse(kHeader + point("a,,", 1) + point("a,64,", 2) + point("a,64,A100", 3) +
            point("a,,A100", 4) + point("b,8,T4", 5) + point("c,8,", 6) + point("c,16,", 7));
  EXPECT_EQ(speed_of(profiles, "a", 64, "A100"), 3);
  EXPECT_EQ(speed_of(profiles, "a", 32, "A100"), 4);
  EXPECT_EQ(speed_of(profiles, "a", 64, "T4"), 2);
  EXPECT_EQ(speed_of(profiles, "a", 32, "T4"), 1);
  EXPECT_EQ(speed_of(profiles, "a", 0, ""), 1);
  EXPECT_EQ(speed_of(profiles, "b", 0, ""), 5) << "the only one there is";
  EXPECT_EQ(profiles.find("d", 0, "").value(), nullptr);
  EXPECT_EQ(profiles.find("b", 9, "").error().message,
            "b with batch 9 was not measured with CPUs and memory; measured were: b with batch 8 "
            "on T4");
  EXPECT_EQ(profiles.find("c", 0, "").error().message,
            "c may be several of those measured; measured were: c with batch 8, c with batch 16");
}

TEST(SensitivityProfiles, TheShippedExampleIsTheBuiltInTable) {
  const auto read = read_all_profiles(kExample);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read.value().speeds.entries().empty());
  ASSERT_EQ(read.value().sensitivities.entries().size(), synergy_models().size());
  for (const SynergyModel& model : synergy_models()) {
    const auto entry = read.value().sensitivities.find(model.name, model.batch_size, "").value();
    ASSERT_NE(entry, nullptr) << model.name;
    EXPECT_EQ(entry->iteration_s, model.iteration_s[0]) << model.name;
    Sensitivity expected = model.sensitivity();
    expected.ideal = knee(expected);
    EXPECT_EQ(entry->sensitivity, expected) << model.name;
  }
}

TEST(SensitivityProfiles, JobsOfAnyTraceGetThoseOfTheirModel) {
  const Workload workload = jobs(
      "a,0,1,9,alexnet,,\nb,0,1,9,m5,512,\nc,0,1,9,vgg16,,\nd,0,1,9,,,\ne,0,1,9,alexnet,512,T4\n",
      {.profiles = kExample});
  ASSERT_EQ(workload.sensitivities.size(), 2u);
  EXPECT_EQ(workload.jobs[0].sensitivity, SensitivityId{0});
  EXPECT_EQ(workload.jobs[1].sensitivity, SensitivityId{1});
  EXPECT_EQ(workload.jobs[2].sensitivity, kNoSensitivity);
  EXPECT_EQ(workload.jobs[3].sensitivity, kNoSensitivity);
  EXPECT_EQ(workload.jobs[4].sensitivity, SensitivityId{0});
  EXPECT_EQ(workload.jobs[0].duration_s(), 9) << "the trace says how long it runs";
  std::istringstream in("job_id,submit_s,gpus,duration_s,model,batch_size\na,0,1,9,m5,64\n");
  EXPECT_EQ(parse_trace("t", in, {.profiles = kExample}).error().message,
            "t: job 'a': m5 with batch 64 was not measured with CPUs and memory; measured were: m5 "
            "with batch 512");
}

TEST(SensitivityProfiles, ATraceOfSynergysMayNameOtherModels) {
  const TestFolder folder;
  std::ofstream(folder.file("mine.csv")) << kHeader << "vgg16,64,,0.25,1,8,1\nlstm,,,3,1,8,1\n";
  std::ofstream(folder.file("speeds.csv"))
      << "model,batch_size,gpus,iterations_per_s\nvgg16,64,1,4\n";
  std::istringstream in("0,vgg16,0,10,1\n1,lstm,0,10,1\n2,m5,0,10,1\n");
  const auto workload = parse_trace("t", in, {.profiles = folder.path()});
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  const auto& read = workload.value().jobs;
  EXPECT_EQ(read[0].iteration_s, 0.25);
  EXPECT_EQ(read[0].batch_size, 64);
  EXPECT_NE(read[0].curve, kNoCurve) << "both kinds of profiles of one folder";
  EXPECT_EQ(read[1].iteration_s, 3) << "what is given comes before what is built in";
  EXPECT_EQ(read[2].iteration_s, 0.6);
}

TEST(SensitivityProfiles, ASensitivityOfItsOwnIsKept) {
  const auto workload = load_workload("synergy:jobs=50", {.profiles = kExample});
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  for (const JobSpec& job : workload.value().jobs) {
    const SynergyModel* model = find_synergy_model(workload.value().name_of(job.model));
    EXPECT_EQ(workload.value().sensitivities[index(job.sensitivity)], model->sensitivity());
  }
}

TEST(BadSensitivityProfiles, AreRefusedWithFileLineAndFault) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "p.csv: is empty"},
      {kHeader, "p.csv: has a header but no rows"},
      {"model,cpus_per_gpu\n", "p.csv:1: the header has no column 'iteration_s'"},
      {kHeader + "m,,,1,1,8\n", "p.csv:2: has 6 fields"},
      {kHeader + ",,,1,1,8,1\n", "p.csv:2: column 'model': is empty"},
      {kHeader + "m,0,,1,1,8,1\n", "p.csv:2: column 'batch_size': '0' is outside 1"},
      {kHeader + "m,,,0,1,8,1\n", "p.csv:2: column 'iteration_s': '0' is outside"},
      {kHeader + "m,,,1,0,8,1\n", "p.csv:2: column 'cpus_per_gpu': no job runs without a CPU"},
      {kHeader + "m,,,1,-1,8,1\n", "p.csv:2: column 'cpus_per_gpu': '-1' is outside"},
      {kHeader + "m,,,1,1,much,1\n", "p.csv:2: column 'memory_gb_per_gpu': 'much' is not a num"},
      {kHeader + "m,,,1,1,8,0\n", "p.csv:2: column 'speed': '0' is outside"},
      {kHeader + "m,,,1,1,8,-1\n", "p.csv:2: column 'speed': '-1' is outside"},
      {kHeader + "m,,,1,1,8,nan\n", "p.csv:2: column 'speed': 'nan' is not a finite"},
      {kHeader + "m,,,1,1,8,1\nm,,,1,1.0,8,1\n",
       "p.csv:3: 1 CPUs and 8 GB were given before, in line 2"},
      {kHeader + "m,,,1,1,8,1\nm,,,2,2,8,1\n", "p.csv:3: column 'iteration_s': is 2 here and 1 in"},
      {kHeader + "n,,,1,1,8,1\nm,,,1,1,8,1\nm,,,1,2,9,1\n",
       "p.csv:3: m has no row for 1 CPUs and 9 GB; every number of CPUs must come"},
      {kHeader + "m,,,1,1,8,1\nm,,,1,2,8,0.5\n",
       "p.csv:3: a speed of 0.5, but 1 with fewer CPUs or less memory; are these seconds?"},
      {"model,iteration_s,cpus_per_gpu,memory_gb_per_gpu,speed,knee\nm,1,1,8,1,1.5\n",
       "p.csv:2: column 'knee': '1.5' is outside 0.01 to 1"},
  };
  for (const auto& [text, message] : cases) {
    std::istringstream in(text);
    const auto result = parse_sensitivities("p.csv", in);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.error().code, Code::InvalidArgument);
    EXPECT_TRUE(result.error().message.starts_with(message)) << result.error().message;
  }
}

}  // namespace
}  // namespace orrery
