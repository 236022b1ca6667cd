#include "commands/programs/job_limits.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(JobLimits, ByDefaultAnAgentLooksForCgroupsAndKeepsLogsShort) {
  AgentOptions options;
  ASSERT_TRUE(set_job_limits({}, options).ok());
  EXPECT_EQ(options.cgroup, kAutoCgroup);
  EXPECT_EQ(options.processes_most, 32'768);
  EXPECT_EQ(options.core_bytes, 0);
  EXPECT_EQ(options.logs.bytes, std::int64_t{1} << 30);
  EXPECT_EQ(options.logs.age, Duration(std::chrono::hours(24 * 30)));
}

TEST(JobLimits, AllOfThemCanBeTurnedOff) {
  AgentOptions options;
  ASSERT_TRUE(set_job_limits({.cgroup = "off",
                              .processes = 0,
                              .core = "unlimited",
                              .log_size = "unlimited",
                              .log_age = "0"},
                             options)
                  .ok());
  EXPECT_EQ(options.cgroup, "");
  EXPECT_EQ(options.processes_most, 0);
  EXPECT_EQ(options.core_bytes, -1);
  EXPECT_EQ(options.logs.bytes, 0);
  EXPECT_EQ(options.logs.age, Duration::zero());
}

TEST(JobLimits, WhatIsNoLimitIsRefusedByTheNameOfItsOption) {
  AgentOptions options;
  for (const auto& [wrong, option] : std::vector<std::pair<JobLimitArguments, const char*>>{
           {{.processes = -1}, "--job-processes"},
           {{.core = "5"}, "--core-size"},
           {{.log_size = "0"}, "--log-size"},
           {{.log_size = "much"}, "--log-size"},
           {{.log_age = "long"}, "--log-age"}}) {
    const Status status = set_job_limits(wrong, options);
    ASSERT_FALSE(status.ok()) << option;
    EXPECT_NE(status.error().message.find(option), std::string::npos) << status.error().message;
  }
}

}  // namespace
}  // namespace orrery
