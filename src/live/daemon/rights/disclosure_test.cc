#include "live/daemon/rights/disclosure.h"

#include <gtest/gtest.h>

#include "live/daemon/core/test_core.h"
#include "live/daemon/log/entry.h"
#include "live/daemon/log/event_tail.h"
#include "live/daemon/log/replay.h"

namespace orrery {
namespace {

const Viewer kAnn{.caller = {.name = "ann"}, .tenants = {"ann", "vision"}};
const Viewer kOtto{.caller = {.role = Caller::Role::Operator, .name = "otto"}};

JobRequest request_of(const std::string& user, const std::string& tenant) {
  return {.argv = {"/home/x/train.sh", "--key=argument"},
          .environment = {{"KEY", "value"}},
          .directory = "/home/x",
          .user = user,
          .tenant = tenant,
          .gpus = 4,
          .output = "/home/x/out"};
}

std::string body(const Entry& entry, const Viewer& viewer) {
  return disclosed(to_record(entry, Time()), viewer);
}

TEST(Disclosure, TheDetailFollowsOwnerTenantAndRole) {
  EXPECT_EQ(kAnn.detail("ann", "nlp"), Detail::Whole);
  EXPECT_EQ(kAnn.detail("bob", "vision"), Detail::Shared);
  EXPECT_EQ(kAnn.detail("bob", ""), Detail::Outline);
  EXPECT_EQ(kAnn.detail("bob", "ann"), Detail::Shared);
  EXPECT_EQ(kOtto.detail("bob", "nlp"), Detail::Whole);
}

TEST(Disclosure, AnOutlineHoldsSizesAndNoContents) {
  const JobRequest outline = disclosed(request_of("bob", "nlp"), Detail::Outline);
  EXPECT_EQ(outline.gpus, 4);
  EXPECT_EQ(outline.tenant, "nlp");
  EXPECT_EQ(job_request_json(outline).find("/home/x"), std::string::npos);
  EXPECT_EQ(job_request_json(outline).find("train"), std::string::npos);
  EXPECT_EQ(disclosed(request_of("bob", "nlp"), Detail::Shared).name, "train.sh");
}

TEST(Disclosure, NoLevelHoldsTheEnvironment) {
  for (const Detail detail : {Detail::Outline, Detail::Shared, Detail::Whole}) {
    EXPECT_TRUE(disclosed(request_of("bob", "nlp"), detail).environment.empty());
  }
}

TEST(Disclosure, ASubmissionIsCutToWhatItsReaderMaySee) {
  const auto submitted = [](const std::string& user, const std::string& tenant) {
    return Submitted{.first = 1, .request = request_of(user, tenant), .key = user + "/key"};
  };
  const std::string own = body(submitted("ann", "nlp"), kAnn);
  EXPECT_NE(own.find("argument"), std::string::npos) << own;
  EXPECT_EQ(own.find("value"), std::string::npos) << own;
  const std::string shared = body(submitted("bob", "vision"), kAnn);
  EXPECT_NE(shared.find("train.sh"), std::string::npos) << shared;
  EXPECT_EQ(shared.find("argument"), std::string::npos) << shared;
  EXPECT_EQ(shared.find("/home/x"), std::string::npos) << shared;
  EXPECT_EQ(shared.find("bob/key"), std::string::npos) << shared;
  const std::string other = body(submitted("bob", "nlp"), kAnn);
  EXPECT_EQ(other.find("train.sh"), std::string::npos) << other;
  EXPECT_NE(body(submitted("bob", "nlp"), kOtto).find("argument"), std::string::npos);
}

TEST(Disclosure, ATokensDigestLeavesInNoRecord) {
  const TokenKept token{.id = "abc", .line = "token abcdef agent - 1 1"};
  EXPECT_EQ(body(token, kAnn), "{}");
  EXPECT_EQ(body(token, kOtto), R"({"id":"abc"})");
}

TEST(Disclosure, AMessageOfAnEndIsForOperators) {
  const LaunchEnded end{.launch = {.job = 1, .epoch = 1},
                        .end = {.kind = JobEnd::Kind::NotStarted, .message = "/home/x: none"}};
  EXPECT_EQ(body(end, kAnn).find("/home/x"), std::string::npos);
  EXPECT_NE(body(end, kOtto).find("/home/x"), std::string::npos);
}

TEST(Disclosure, ARecordOfAnUnknownKindSaysNothingToUsers) {
  EXPECT_EQ(disclosed(Record{.kind = "new-kind", .body = R"({"a":1})"}, kAnn), "{}");
  EXPECT_EQ(disclosed(Record{.kind = "submitted", .body = "no JSON"}, kAnn), "{}");
}

TEST(Disclosure, WhatAnOperatorGetsStillReplaysToTheSameDecisions) {
  TestCore test;
  test.join("n1", 4, 1);
  test.submit(request_of("ann", "vision"));
  test.core.keep_token({.id = "abc", .line = "token abcdef agent - 1 1"}, test.now);
  test.submit(request_of("bob", "nlp"));
  test.obey("n1", 4, 1);
  test.pass(std::chrono::seconds(5));
  Replay replay{CoreOptions{}};
  for (const Record& record : test.log) {
    const std::string line = event_line(record, 1, kOtto);
    EXPECT_EQ(line.find("\"value\""), std::string::npos) << line;
    const auto read = read_event_line(line);
    ASSERT_TRUE(read.ok());
    ASSERT_TRUE(replay.next(read.value()).ok());
  }
  replay.finish();
  EXPECT_FALSE(replay.difference()) << *replay.difference();
  EXPECT_GT(replay.agreed(), 0);
}

}  // namespace
}  // namespace orrery
