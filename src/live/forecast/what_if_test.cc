#include "live/forecast/what_if.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "live/forecast/test_situation.h"

namespace orrery {
namespace {

using nlohmann::json;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// A node that is taken for 200 s more, and two that wait for it.
std::string busy() {
  TestSituation situation(1, "srtf");
  situation.submit(4, seconds(200));
  situation.submit(4, hours(1));
  situation.submit(4, hours(2));
  situation.pass({});
  return situation.text();
}

TEST(WhatIfLive, SaysWhenTheJobWouldStartAndWhichJobsItWouldDelay) {
  const auto answer = what_if_live(
      busy(), {.job = TestSituation::job(4, minutes(30)), .nodes_more = 1, .policy = "fifo"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(
      answer.value().text,
      "as things are:                 would start in 3m20s on n0, and end in 33m20s\n"
      "under fifo:                    would start in 3h03m on n0, and end in 3h33m\n"
      "with 1 more node:              would start at once on one more like n0 (1), and end in "
      "30m00s\n"
      "under fifo, with 1 more node:  would start in 1h00m on one more like n0 (1), and end "
      "in 1h30m\n"
      "It would delay job 2 by 30m00s, job 3 by 30m00s.\n");
  const json object = json::parse(answer.value().json);
  ASSERT_EQ(object["variants"].size(), 4U);
  EXPECT_EQ(object["variants"][0]["start_in_s"], 200);
  EXPECT_EQ(object["variants"][0]["nodes"], json::array({"n0"}));
  EXPECT_EQ(object["variants"][2]["start_in_s"], 0);
  EXPECT_EQ(object["variants"][3]["policy"], "fifo");
  EXPECT_EQ(object["delayed"][0]["id"], 2);
  EXPECT_EQ(object["delayed"][0]["later_s"], 1800);
}

TEST(WhatIfLive, NamesTheWorkThatAJobWithoutACheckpointLoses) {
  TestSituation situation(1, "fifo");
  const JobNumber running = situation.submit(4, hours(10));
  situation.pass({});
  situation.pass(minutes(12));
  const auto answer =
      what_if_live(situation.text(), {.job = TestSituation::job(4, minutes(5)), .policy = "srtf"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  const std::string lost = "; job " + std::to_string(running) + " loses 12m00s of work\n";
  EXPECT_NE(answer.value().text.find("under srtf:"), std::string::npos);
  EXPECT_GT(answer.value().text.find(lost), answer.value().text.find("under srtf:"));
  EXPECT_LT(answer.value().text.find(lost), answer.value().text.find("It would delay"));
  const json object = json::parse(answer.value().json);
  EXPECT_FALSE(object["variants"][0].contains("lost"));
  EXPECT_EQ(object["variants"][1]["lost"][0]["id"], running);
  EXPECT_EQ(object["variants"][1]["lost"][0]["lost_s"], 720);
}

TEST(WhatIfLive, WithoutAJobItCountsTheJobsThatWait) {
  const auto answer = what_if_live(busy(), {.nodes_more = 2});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value().text,
            "as things are:      2 waiting jobs would start, in 33m20s on average; all "
            "done in 3h03m\n"
            "with 2 more nodes:  2 waiting jobs would start, in 0s on average; all done "
            "in 2h00m\n");
}

TEST(WhatIfLive, ARefusalIsPassedOn) {
  TestSituation situation(1, "elasticflow");
  JobRequest hopeless = TestSituation::job(4, hours(2));
  hopeless.deadline = hours(1);
  const auto answer = what_if_live(situation.text(), {.job = hopeless});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value().text.find("as things are:  would not be taken: "), 0U)
      << answer.value().text;
  EXPECT_TRUE(json::parse(answer.value().json)["variants"][0].contains("refused"));
  EXPECT_FALSE(what_if_live(situation.text(), {.nodes_more = -1}).ok());
}

TEST(WhatIfLive, AJobThatNeverStartsIsSaidToNeverStart) {
  TestSituation situation(1, "fifo");
  const auto answer = what_if_live(situation.text(), {.job = TestSituation::job(64, hours(1))});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value().text.find("as things are:  would never start, as things are\n"), 0U)
      << answer.value().text;
}

}  // namespace
}  // namespace orrery
