#include "commands/live_commands.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/test_folder.h"

namespace orrery {
namespace {

// Commands that count how often a running scheduler is asked.
class LiveCommandsTest : public testing::Test {
 protected:
  LiveCommandsTest() { ::unsetenv("ORRERY_STATE"); }

  template <class Arguments>
  std::string problem(Status (*command)(const Arguments&, const LiveCommands&),
                      const Arguments& arguments) const {
    const Status status = command(arguments, live_);
    return status.ok() ? "" : status.error().message;
  }

  int asked_ = 0;
  LiveCommands live_{.whatif = [this](const WhatifArguments&) { return count(); },
                     .record = [this](const RecordArguments&) { return count(); },
                     .replay = [this](const ReplayArguments&) { return count(); }};

 private:
  Status count() {
    ++asked_;
    return {};
  }
};

TEST_F(LiveCommandsTest, ASchedulerIsAskedIfItIsNamedAndNoTraceIs) {
  WhatifArguments whatif;
  whatif.live.state = "/var/lib/orrery";
  EXPECT_EQ(problem(whatif_or_live, whatif), "");
  RecordArguments record;
  record.live.server = "host:1";
  EXPECT_EQ(problem(record_or_live, record), "");
  EXPECT_EQ(asked_, 2);
}

TEST_F(LiveCommandsTest, WithoutATraceTheSchedulerOfTheEnvironmentOrAContextIsLookedFor) {
  EXPECT_EQ(problem(whatif_or_live, WhatifArguments()), "");
  EXPECT_EQ(asked_, 1);
  live_.whatif = [](const WhatifArguments&) { return Status(invalid("which scheduler?")); };
  EXPECT_EQ(problem(whatif_or_live, WhatifArguments()),
            "which scheduler?; or --trace F for a trace");
  WhatifArguments named;
  named.live.context = "lab";
  EXPECT_EQ(problem(whatif_or_live, named), "which scheduler?") << "it was meant";
}

TEST_F(LiveCommandsTest, ATraceAndASchedulerExcludeEachOther) {
  WhatifArguments whatif{.trace = "t.csv"};
  whatif.live.state = "/var/lib/orrery";
  EXPECT_NE(problem(whatif_or_live, whatif).find("which of them?"), std::string::npos);
  EXPECT_EQ(asked_, 0);
}

TEST_F(LiveCommandsTest, ASchedulerHasItsOwnClusterAndPolicy) {
  WhatifArguments whatif{.cluster = "2x4"};
  whatif.live.state = "/var/lib/orrery";
  EXPECT_NE(problem(whatif_or_live, whatif).find("has its own"), std::string::npos);
  RecordArguments record;
  record.live.state = "/var/lib/orrery";
  record.run.policies = {"fifo"};
  EXPECT_NE(problem(record_or_live, record).find("has its own"), std::string::npos);
  EXPECT_EQ(asked_, 0);
}

TEST_F(LiveCommandsTest, ATraceNeedsAClusterAndAPolicy) {
  EXPECT_EQ(problem(whatif_or_live, WhatifArguments{.trace = "t.csv"}),
            "--cluster is required with --trace");
  EXPECT_EQ(problem(whatif_or_live, WhatifArguments{.trace = "t.csv", .cluster = "2x4"}),
            "--policy is required with --trace");
  RecordArguments record;
  record.run.traces = {"t.csv"};
  record.run.clusters = {"2x4"};
  EXPECT_EQ(problem(record_or_live, record), "--policy is required with --trace");
}

TEST_F(LiveCommandsTest, AProgramThatCannotAskSaysSo) {
  WhatifArguments whatif;
  whatif.live.state = "/var/lib/orrery";
  const Status status = whatif_or_live(whatif, {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::Unimplemented);
}

TEST_F(LiveCommandsTest, AReplayIsOfASchedulerIfItsLogIs) {
  const TestFolder folder;
  const std::string live = folder.file("live.jsonl");
  const std::string other = folder.file("other.jsonl");
  ASSERT_TRUE(write_file_atomically(live, "{\"orrery_live_log\":1}\n").ok());
  ASSERT_TRUE(write_file_atomically(other, "{\"other\":1}\n").ok());
  EXPECT_EQ(problem(replay_or_live, ReplayArguments{.input = live}), "");
  EXPECT_EQ(asked_, 1);
  EXPECT_NE(problem(replay_or_live, ReplayArguments{.input = other}), "");
  EXPECT_EQ(asked_, 1);
}

TEST(RecordFormat, FollowsTheNameOfTheFileUnlessItIsGiven) {
  const auto format = [](const std::string& output, const std::string& given) {
    RecordArguments arguments;
    arguments.output = output;
    arguments.format = given;
    return record_format(arguments);
  };
  EXPECT_EQ(format("run.jsonl.zst", "").value(), RecordFormat::Events);
  EXPECT_EQ(format("run.csv", "").value(), RecordFormat::Orrery);
  EXPECT_EQ(format("run.csv", "events").value(), RecordFormat::Events);
  EXPECT_EQ(format("run", "orrery").value(), RecordFormat::Orrery);
  EXPECT_EQ(format("run", "synergy").value(), RecordFormat::Synergy);
  EXPECT_EQ(format("run", "csv").error().message, "--format csv: write events, orrery or synergy");
}

}  // namespace
}  // namespace orrery
