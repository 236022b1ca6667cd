#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "workload/generators/synergy_models.h"
#include "workload/same_workload.h"
#include "workload/trace.h"

namespace orrery {
namespace {

const std::string kData = std::string(ORRERY_SHARED) + "/data/synergy/";

#define NEEDS_DATA()                                                                    \
  if (!std::filesystem::exists(kData)) {                                                \
    GTEST_SKIP() << "the reference data is not at " << kData << "; nothing was tested"; \
  }

Workload parse(const std::string& text) {
  std::istringstream in(text);
  auto result = parse_trace("t", in, {});
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::move(result).value() : Workload();
}

Workload read(const std::string& file) {
  auto result = read_trace(kData + file);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::move(result).value() : Workload();
}

std::string written(const Workload& workload) {
  std::ostringstream out;
  const Status status = write_synergy_trace(workload, out);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return out.str();
}

std::map<SynergyClass, int> classes(const Workload& workload) {
  std::map<SynergyClass, int> count;
  for (const JobSpec& job : workload.jobs) {
    ++count[find_synergy_model(workload.name_of(job.model))->task];
  }
  return count;
}

TEST(SynergyTrace, ALineIsAJob) {
  const Workload workload = parse("0,alexnet,8,23349,1\n3,gnmt,9.003,30857,4\n");
  ASSERT_EQ(workload.jobs.size(), 2u);
  const JobSpec& job = workload.jobs[1];
  EXPECT_EQ(job.name, "3");
  EXPECT_EQ(workload.name_of(job.model), "gnmt");
  EXPECT_EQ(job.submitted, Time(std::chrono::milliseconds(9003)));
  EXPECT_EQ(job.iterations, 30857);
  EXPECT_EQ(job.iteration_s, 0.12);
  EXPECT_EQ(job.gpus, 4);
  EXPECT_EQ(job.batch_size, 128);
  EXPECT_EQ(job.user, kNoName);
  EXPECT_EQ(job.curve, kNoCurve);
  EXPECT_EQ(job.start_cost, std::chrono::seconds(10));
  EXPECT_EQ(workload.sensitivities[index(job.sensitivity)],
            find_synergy_model("gnmt")->sensitivity());
}

TEST(SynergyTrace, ModelsOfOneShapeShareIt) {
  const Workload workload = parse("0,lstm,0,1,1\n1,gnmt,0,1,1\n2,m5,0,1,1\n3,lstm,0,1,1\n");
  EXPECT_EQ(workload.sensitivities.size(), 2u);
  EXPECT_EQ(workload.jobs[0].sensitivity, workload.jobs[1].sensitivity);
}

TEST(SynergyTrace, TheShippedTracesRead) {
  NEEDS_DATA();
  using enum SynergyClass;
  const Workload at_once = read("static_100job_6_3_1100.0");
  ASSERT_EQ(at_once.jobs.size(), 100u);
  EXPECT_EQ(classes(at_once),
            (std::map<SynergyClass, int>{{Image, 60}, {Language, 30}, {Speech, 10}}));
  EXPECT_EQ(at_once.jobs[99].submitted, Time(std::chrono::milliseconds(99)));
  const Workload spread = read("dynamic/srtf.log");
  ASSERT_EQ(spread.jobs.size(), 100u);
  EXPECT_EQ(classes(spread),
            (std::map<SynergyClass, int>{{Image, 35}, {Language, 64}, {Speech, 1}}));
  EXPECT_EQ(spread.jobs.back().submitted, Time(std::chrono::seconds(12039)));
}

TEST(SynergyTrace, WhatIsWrittenReadsBack) {
  const std::string text = "0,alexnet,8,23349,1\n1,gnmt,8.001,26435,16\n12,m5,100,1,2\n";
  const Workload workload = parse(text);
  EXPECT_EQ(written(workload), text);
  EXPECT_TRUE(same_workload(workload, parse(written(workload))));
  NEEDS_DATA();
  for (const std::string file : {"static_100job_6_3_1100.0", "dynamic/srtf.log"}) {
    EXPECT_TRUE(same_workload(read(file), parse(written(read(file))))) << file;
  }
}

TEST(SynergyTrace, AJobTheFormatHasNoPlaceForIsNotWritten) {
  Workload workload = parse("0,alexnet,8,23349,1\n");
  std::ostringstream out;
  workload.jobs[0].name = "first";
  EXPECT_EQ(write_synergy_trace(workload, out).error().message,
            "job 'first' cannot be written: its name is no whole number, and others have no place "
            "in this format");
  workload.jobs[0].name = "1";
  workload.jobs[0].model = kNoName;
  EXPECT_EQ(write_synergy_trace(workload, out).error().message,
            "job '1' cannot be written: it has no model, and this format gives its speed by the "
            "model");
}

}  // namespace
}  // namespace orrery
