#include "commands/whatif.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "workload/clusters/cluster_spec.h"
#include "workload/trace.h"

namespace orrery {
namespace {

Workload parsed(const std::string& text) {
  std::istringstream in(text);
  auto workload = parse_trace("t.csv", in);
  EXPECT_TRUE(workload.ok()) << workload.error().message;
  return std::move(workload).value();
}

RunRequest world(const std::string& trace, const std::string& cluster, const std::string& policy) {
  return {.workload = std::make_shared<const Workload>(parsed(trace)),
          .cluster = std::make_shared<const Cluster>(read_cluster(cluster).value()),
          .run = {.policy = {.name = policy}},
          .label = policy};
}

AddedJobEffect answer(const RunRequest& asked, const std::string& job) {
  auto made = parse_job({.text = job}, *asked.workload);
  EXPECT_TRUE(made.ok()) << made.error().message;
  auto answered = ask(asked, made.value(), {.threads = 1, .progress = false});
  EXPECT_TRUE(answered.ok()) << answered.error().message;
  return std::move(answered).value();
}

std::string problem(const std::string& job, const std::string& trace) {
  const auto made = parse_job({.text = job}, parsed(trace));
  return made.ok() ? "" : made.error().message;
}

constexpr auto at = time_from_seconds;

const std::string kHeader = "job_id,submit_s,gpus,duration_s\n";
// Two machines of one GPU: a runs at once, b waits for c.
const std::string kBusy = kHeader + "a,0,1,100\nb,5,1,100\nc,10,1,50\n";

TEST(Whatif, ThoseBehindItEndLaterByItsLength) {
  const RunRequest asked = world(kBusy, "1x1", "fifo");
  const AddedJobEffect found = answer(asked, "submit=7,duration=40");
  EXPECT_EQ(found.outcome.started, at(200));
  EXPECT_EQ(found.outcome.ended, at(240));
  EXPECT_FALSE(found.outcome.refused);
  EXPECT_EQ(found.others, 3U);
  EXPECT_EQ(found.compared, 3U);
  ASSERT_EQ(found.slowed.size(), 1U);
  EXPECT_EQ(found.slowed[0].name, "c");
  EXPECT_EQ(found.slowed[0].before, at(250));
  EXPECT_EQ(found.slowed[0].after, at(290));
  EXPECT_EQ(found.mean_delay_s(), 40);
  EXPECT_EQ(found.sooner, 0U);
  EXPECT_TRUE(found.refused.empty());
}

TEST(Whatif, NoJobIsSlowedIfGpusAreFree) {
  const AddedJobEffect found = answer(world(kBusy, "4x1", "fifo"), "submit=7,duration=40");
  EXPECT_EQ(found.outcome.started, at(7));
  EXPECT_TRUE(found.slowed.empty());
  EXPECT_NE(whatif_text(found, world(kBusy, "4x1", "fifo")).find("No other job ends later"),
            std::string::npos);
}

TEST(Whatif, TheWorstComeFirstAndTenAreShown) {
  std::string trace = kHeader;
  for (int i = 0; i < 14; ++i) trace += "j" + std::to_string(i) + ",1,1,10\n";
  const RunRequest asked = world(trace, "1x1", "srtf");
  // The shortest: it overtakes all.
  const AddedJobEffect found = answer(asked, "name=short,submit=2,duration=5");
  EXPECT_EQ(found.slowed.size(), 14U);
  EXPECT_EQ(found.mean_delay_s(), 5);
  for (std::size_t i = 1; i < found.slowed.size(); ++i) {
    EXPECT_LE(found.slowed[i].after - found.slowed[i].before,
              found.slowed[i - 1].after - found.slowed[i - 1].before);
  }
  const auto json = nlohmann::ordered_json::parse(whatif_json(found, asked));
  EXPECT_EQ(json["others"]["worst"].size(), 10U);
  EXPECT_EQ(json["others"]["slowed"], 14);
  EXPECT_NE(whatif_text(found, asked).find("the 10 worst"), std::string::npos);
}

const std::string kDeadlines =
    "job_id,submit_s,gpus,duration_s,deadline_s\n"
    "first,0,1,600,900\n"
    "later,1200,1,1800,3600\n";

TEST(Whatif, ReportsAPromiseAndTheJobsRefusedForIt) {
  const RunRequest asked = world(kDeadlines, "1x1", "elasticflow");
  const AddedJobEffect found = answer(asked, "submit=660,duration=1500,deadline=30m");
  EXPECT_FALSE(found.outcome.refused);
  ASSERT_TRUE(found.outcome.promised);
  EXPECT_LE(*found.outcome.promised, at(660 + 1800));
  ASSERT_EQ(found.refused.size(), 1U);
  EXPECT_EQ(found.refused[0].name, "later");
  EXPECT_NE(found.refused[0].reason, "");
  EXPECT_TRUE(found.slowed.empty());
  const std::string shown = whatif_text(found, asked);
  EXPECT_NE(shown.find("admitted  yes, promised for "), std::string::npos) << shown;
  EXPECT_NE(shown.find("1 would be refused because of it:\n  later: "), std::string::npos) << shown;
}

TEST(Whatif, ARefusalNamesAnEarliestPromiseThatHolds) {
  const RunRequest asked = world(kDeadlines, "1x1", "elasticflow");
  const AddedJobEffect found = answer(asked, "submit=10,duration=600,deadline=11m");
  ASSERT_TRUE(found.outcome.refused);
  ASSERT_TRUE(found.earliest);
  EXPECT_GT(*found.earliest, at(10 + 660));
  EXPECT_FALSE(found.outcome.started);
  EXPECT_TRUE(found.slowed.empty());
  EXPECT_TRUE(found.refused.empty());
  const auto json = nlohmann::ordered_json::parse(whatif_json(found, asked));
  EXPECT_EQ(json["answer"]["admitted"], false);
  EXPECT_EQ(json["answer"]["earliest_promise_s"], seconds(*found.earliest));
  EXPECT_TRUE(json["answer"]["end_s"].is_null());
  EXPECT_EQ(json["answer"]["in_time"], false);
  // Both of 600 s on one GPU: nothing before 1200 s can be promised to both.
  EXPECT_GE(*found.earliest, at(1200));
  EXPECT_LE(*found.earliest, at(1300));
  const double deadline_s = seconds(*found.earliest) - 10;
  const AddedJobEffect again =
      answer(asked, fmt::format("submit=10,duration=600,deadline={}s", deadline_s));
  EXPECT_FALSE(again.outcome.refused);
  EXPECT_LE(again.outcome.finished.value(), *found.earliest);
}

TEST(Whatif, NamesTheJobsThatMissTheirDeadline) {
  const RunRequest asked = world(kDeadlines, "1x1", "fifo");
  const AddedJobEffect found = answer(asked, "submit=660,duration=1500");
  EXPECT_EQ(found.late, std::vector<std::string>{"later"});
  EXPECT_FALSE(found.outcome.promised);
}

TEST(WhatifJob, ALeftOutIterationIsThatOfItsKindInTheTrace) {
  const Workload trace = parsed(
      "job_id,submit_s,gpus,iterations,iteration_s,model,batch_size,start_cost_s\n"
      "a,0,4,100,0.5,bert,128,7\n");
  const auto made = parse_job(
      {.text = "submit=1h,gpus=4,model=bert,batch=128,iterations=5000,deadline=2h"}, trace);
  ASSERT_TRUE(made.ok()) << made.error().message;
  const JobSpec& job = made.value().jobs.at(0);
  EXPECT_EQ(job.name, "new-job");
  EXPECT_EQ(job.submitted, at(3600));
  EXPECT_EQ(job.deadline, at(3 * 3600));
  EXPECT_EQ(job.gpus, 4);
  EXPECT_DOUBLE_EQ(job.duration_s(), 2500);
  EXPECT_EQ(job.start_cost, std::chrono::seconds(7));
}

TEST(WhatifJob, ItsNameIsAFreeOne) {
  const std::string trace = kHeader + "new-job,0,1,5\nnew-job-2,0,1,5\n";
  const auto made = parse_job({.text = "submit=1,duration=5"}, parsed(trace));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.value().jobs.at(0).name, "new-job-3");
}

TEST(WhatifJob, ErrorsNameTheKeysOfTheUser) {
  EXPECT_NE(problem("submit=1,colour=red", kBusy).find("no key 'colour'; there are name, submit"),
            std::string::npos);
  EXPECT_NE(problem("submit=1,duration", kBusy).find("'duration': write key=value"),
            std::string::npos);
  EXPECT_NE(problem("submit=1,submit=2", kBusy).find("'submit' comes twice"), std::string::npos);
  EXPECT_NE(problem("duration=5", kBusy).find("submit=10h"), std::string::npos);
  EXPECT_NE(problem("submit=soon,duration=5", kBusy).find("--job: submit: 'soon'"),
            std::string::npos);
  EXPECT_NE(problem("submit=1,iterations=5", kBusy).find("give duration or iteration"),
            std::string::npos);
  EXPECT_NE(problem("submit=1,iteration=5", kBusy).find("--job: the work is not known"),
            std::string::npos);
  EXPECT_TRUE(problem("submit=1,duration=5,gpus=0", kBusy).starts_with("--job: column 'gpus'"));
}

TEST(WhatifJob, ANameThatIsTakenCannotBeAskedAbout) {
  const RunRequest asked = world(kBusy, "1x1", "fifo");
  const auto made = parse_job({.text = "name=a,submit=1,duration=5"}, *asked.workload);
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE(ask(asked, made.value(), {.progress = false}).ok());
}

}  // namespace
}  // namespace orrery
