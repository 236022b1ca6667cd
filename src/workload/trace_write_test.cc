#include <gtest/gtest.h>

#include <sstream>

#include "base/random.h"
#include "workload/generate.h"
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
    if (some()) job.deadline = job.submitted + Duration(random.between(0, 1'000'000'000));
    if (some()) job.batch_size = static_cast<int>(random.between(0, 1'000'000'000));
    if (some()) job.priority = 1;
    // In the order of first use, as a reader numbers them.
    job.model = NameId{std::min(i, 4)};
    job.user = some() ? NameId{0} : kNoName;
    job.gpu_type = some() ? NameId{0} : kNoName;
    job.profile = i == 0 ? ProfileId{0} : some() ? ProfileId{std::min(i, 1)} : kNoProfile;
  }
  workload.jobs[1].profile = ProfileId{1};
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

TEST(WriteTrace, OnlyColumnsInUseAreWritten) {
  const Workload workload = one_job("a");
  EXPECT_EQ(written(workload, TraceSyntax::Csv),
            "job_id,submit_s,gpus,iterations,iteration_s\na,0,2,5,0.5\n");
  EXPECT_EQ(written(workload, TraceSyntax::Jsonl),
            "{\"job_id\":\"a\",\"submit_s\":0,\"gpus\":2,\"iterations\":5,\"iteration_s\":0.5}\n");
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
