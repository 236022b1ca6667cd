#include "live/api/job_request.h"

#include <gtest/gtest.h>

#include <functional>

namespace orrery {
namespace {

JobRequest full() {
  return {.argv = {"train", "--text", "two words \"quoted\" \xe2\x82\xac\n"},
          .environment = {{"B", "2"}, {"A", ""}, {"B", "3"}},
          .directory = "/home/ann",
          .name = "night run",
          .user = "ann",
          .tenant = "lab",
          .gpus = 4,
          .gpus_min = 1,
          .gpus_max = 8,
          .cpu_milli = 1500,
          .memory_bytes = std::int64_t{1} << 40,
          .gpu_type = "A100",
          .model = "resnet50",
          .expected = std::chrono::hours(3),
          .start_cost = std::chrono::seconds(20),
          .deadline = std::chrono::hours(5),
          .deadline_is_soft = true,
          .priority = -3,
          .after = {1, std::int64_t{1} << 50},
          .retries = 2,
          .process_per_gpu = true,
          .grace = std::chrono::milliseconds(1),
          .output = "/tmp/out",
          .checkpoint_directory = "/tmp/check",
          .array = {1, -5, 100},
          .node_timeout = std::chrono::minutes(1),
          .errors = "/tmp/err",
          .time_limit = std::chrono::hours(4),
          .signal = 10,
          .signal_before = std::chrono::minutes(1),
          .private_tmp = true,
          .speeds =
              SpeedCurve{.points = {{1, 0.1}, {4, 1.0 / 3}}, .spreads = {{4, 2, 0.3}}, .widest = 8},
          .sensitivity = Sensitivity{.cpu_milli = {1000, 2000},
                                     .memory_bytes = {1 << 30},
                                     .speed = {0.7, 1},
                                     .ideal = {2000, 1 << 30}}};
}

TEST(JobRequestJson, EveryFieldComesBackAsItWas) {
  const auto [argv, environment, directory, name, user, tenant, gpus, gpus_min, gpus_max, cpu_milli,
              memory_bytes, gpu_type, model, expected, start_cost, deadline, deadline_is_soft,
              priority, after, retries, process_per_gpu, grace, output, checkpoint_directory, array,
              node_timeout, errors, time_limit, signal, signal_before, private_tmp, speeds,
              sensitivity] = full();
  // One field at a time, so that none hides behind another.
  const std::vector<std::function<void(JobRequest&)>> changes = {
      [&](JobRequest& r) { r.argv = argv; },
      [&](JobRequest& r) { r.environment = environment; },
      [&](JobRequest& r) { r.directory = directory; },
      [&](JobRequest& r) { r.name = name; },
      [&](JobRequest& r) { r.user = user; },
      [&](JobRequest& r) { r.tenant = tenant; },
      [&](JobRequest& r) { r.gpus = gpus; },
      [&](JobRequest& r) { r.gpus_min = gpus_min; },
      [&](JobRequest& r) { r.gpus_max = gpus_max; },
      [&](JobRequest& r) { r.cpu_milli = cpu_milli; },
      [&](JobRequest& r) { r.memory_bytes = memory_bytes; },
      [&](JobRequest& r) { r.gpu_type = gpu_type; },
      [&](JobRequest& r) { r.model = model; },
      [&](JobRequest& r) { r.expected = expected; },
      [&](JobRequest& r) { r.start_cost = start_cost; },
      [&](JobRequest& r) { r.deadline = deadline; },
      [&](JobRequest& r) { r.deadline_is_soft = deadline_is_soft; },
      [&](JobRequest& r) { r.priority = priority; },
      [&](JobRequest& r) { r.after = after; },
      [&](JobRequest& r) { r.retries = retries; },
      [&](JobRequest& r) { r.process_per_gpu = process_per_gpu; },
      [&](JobRequest& r) { r.grace = grace; },
      [&](JobRequest& r) { r.output = output; },
      [&](JobRequest& r) { r.checkpoint_directory = checkpoint_directory; },
      [&](JobRequest& r) { r.array = array; },
      [&](JobRequest& r) { r.node_timeout = node_timeout; },
      [&](JobRequest& r) { r.errors = errors; },
      [&](JobRequest& r) { r.time_limit = time_limit; },
      [&](JobRequest& r) { r.signal = signal; },
      [&](JobRequest& r) { r.signal_before = signal_before; },
      [&](JobRequest& r) { r.private_tmp = private_tmp; },
      [&](JobRequest& r) { r.speeds = speeds; },
      [&](JobRequest& r) { r.sensitivity = sensitivity; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    JobRequest request;
    changes[i](request);
    EXPECT_FALSE(request == JobRequest{}) << "field " << i;
    const auto back = read_job_request_json(job_request_json(request));
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(back.value(), request) << "field " << i << ": " << job_request_json(request);
  }
  EXPECT_EQ(read_job_request_json(job_request_json(full())).value(), full());
}

TEST(JobRequestJson, WhatIsAsUsualIsLeftOut) {
  EXPECT_EQ(job_request_json({}), "{}");
  EXPECT_EQ(read_job_request_json("{}").value(), JobRequest{});
  EXPECT_EQ(job_request_json({.argv = {"a"}, .gpus = 2}), R"({"argv":["a"],"gpus":2})");
}

TEST(JobRequestJson, NumbersOfAnArrayThatFollowEachOtherAreWrittenAsTwo) {
  const JobRequest request{.array = {7, 1, 2, 3, 4, 9, 10, -1, 0, 1, 2147483647}};
  const std::string text = job_request_json(request);
  EXPECT_EQ(text, R"({"array":[7,[1,4],9,10,[-1,1],2147483647]})");
  EXPECT_EQ(read_job_request_json(text).value(), request);
  EXPECT_EQ(read_job_request_json(R"({"array":[1,2,3]})").value().array,
            (std::vector<int>{1, 2, 3}))
      << "as older logs have it";
  JobRequest many;
  for (int i = 1; i <= static_cast<int>(kArrayMax); ++i) many.array.push_back(i);
  EXPECT_EQ(job_request_json(many), R"({"array":[[1,100000]]})");
  EXPECT_EQ(read_job_request_json(job_request_json(many)).value(), many);
}

TEST(JobRequestJson, AnArrayThatIsNoneIsRefusedBeforeItFillsTheMemory) {
  for (const char* text :
       {R"({"array":7})", R"({"array":"1-3"})", R"({"array":[1.5]})", R"({"array":[[3,1]]})",
        R"({"array":[[1]]})", R"({"array":[[0,2147483647]]})", R"({"array":[[1,100000],7]})",
        R"({"array":[99999999999]})"}) {
    const auto read = read_job_request_json(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, Code::InvalidArgument) << text;
  }
}

TEST(JobRequestJson, ADeadlineOfNothingIsNotNoDeadline) {
  const JobRequest request{.deadline = Duration(0)};
  EXPECT_EQ(read_job_request_json(job_request_json(request)).value().deadline, Duration(0));
}

TEST(JobRequestJson, WhatIsNoJobIsRefused) {
  for (const char* text :
       {"",
        "{",
        "[]",
        "7",
        R"({"gpus":1.5})",
        R"({"gpus":99999999999})",
        R"({"gpus":"4"})",
        R"({"memory_bytes":18446744073709551615})",
        R"({"argv":"train"})",
        R"({"name":7})",
        R"({"environment":[["A"]]})",
        R"({"deadline_is_soft":1})",
        R"({"speeds":[1]})",
        R"({"speeds":{"widest":1,"points":[[1]]}})",
        R"({"sensitivity":{"speed":[]}})",
        R"({"speeds":{"widest":1,"points":[]}})",
        R"({"speeds":{"widest":1,"points":[[2,1.0]]}})",
        R"({"speeds":{"widest":4,"points":[[2,1.0],[2,1.5]]}})",
        R"({"speeds":{"widest":4,"points":[[2,0]]}})",
        R"({"sensitivity":{"cpu_milli":[1],"memory_bytes":[1],"speed":[],"ideal":[1,1]}})",
        R"({"sensitivity":{"cpu_milli":[2,1],"memory_bytes":[1],"speed":[1,1],"ideal":[1,1]}})"}) {
    const auto read = read_job_request_json(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, Code::InvalidArgument) << text;
  }
  EXPECT_EQ(read_job_request_json(R"({"retries":1e3})").error().message,
            "retries: write a whole number that fits");
}

TEST(JobRequestCheck, AFullRequestIsFine) {
  const Status checked = check(full());
  EXPECT_TRUE(checked.ok()) << checked.error().message;
  EXPECT_TRUE(check({.argv = {"true"}}).ok());
}

struct Wrong {
  std::string begins{};  // of the message: the field
  std::function<void(JobRequest&)> change{};
  Code code = Code::InvalidArgument;
};

TEST(JobRequestCheck, WhatCannotBeIsRefusedUnderItsName) {
  const std::vector<Wrong> wrongs = {
      {"command", [](JobRequest& r) { r.argv.clear(); }},
      {"command", [](JobRequest& r) { r.argv = {""}; }},
      {"command", [](JobRequest& r) { r.argv.push_back(std::string("\0", 1)); }},
      {"command", [](JobRequest& r) { r.argv.push_back("\xc3"); }},
      {"command", [](JobRequest& r) { r.argv.push_back("\xed\xa0\x80"); }},
      {"command", [](JobRequest& r) { r.argv.push_back(std::string(kRequestBytesMax, 'x')); },
       Code::InvalidArgument},
      {"environment",
       [](JobRequest& r) {
         r.environment = {{"", "x"}};
       }},
      {"environment",
       [](JobRequest& r) {
         r.environment = {{"A=B", "x"}};
       }},
      {"environment",
       [](JobRequest& r) {
         r.environment = {{"A", "\xff"}};
       }},
      {"environment",
       [](JobRequest& r) {
         r.environment = {{"A", std::string("\0", 1)}};
       }},
      {"name", [](JobRequest& r) { r.name = "two\nlines"; }},
      {"name", [](JobRequest& r) { r.name = std::string(257, 'x'); }},
      {"name", [](JobRequest& r) { r.name = "x\u202egpj.sh"; }},
      {"user", [](JobRequest& r) { r.user = "\x7f"; }},
      {"tenant", [](JobRequest& r) { r.tenant = "\xf5"; }},
      {"gpu type", [](JobRequest& r) { r.gpu_type = "\t"; }},
      {"profile", [](JobRequest& r) { r.model = "\x01"; }},
      {"directory", [](JobRequest& r) { r.directory = "home"; }},
      {"directory", [](JobRequest& r) { r.directory.clear(); }},
      {"output", [](JobRequest& r) { r.output = "out.log"; }},
      {"checkpoint directory", [](JobRequest& r) { r.checkpoint_directory = "../x"; }},
      {"gpus", [](JobRequest& r) { r.gpus = 0; }},
      {"cpus", [](JobRequest& r) { r.cpu_milli = -1; }},
      {"memory", [](JobRequest& r) { r.memory_bytes = (std::int64_t{1} << 50) + 1; }},
      {"priority", [](JobRequest& r) { r.priority = kPriorityMax + 1; }},
      {"retries", [](JobRequest& r) { r.retries = -1; }},
      {"expected", [](JobRequest& r) { r.expected = Duration(-1); }},
      {"start cost", [](JobRequest& r) { r.start_cost = Duration::max(); }},
      {"grace", [](JobRequest& r) { r.grace = std::chrono::hours(25); }},
      {"deadline", [](JobRequest& r) { r.deadline = Duration(0); }},
      {"elastic", [](JobRequest& r) { r.gpus_min = 9; }},
      {"elastic", [](JobRequest& r) { r.gpus_max = 0; }},
      {"gpus (of an elastic job)", [](JobRequest& r) { r.gpus = 9; }},
      {"array",
       [](JobRequest& r) {
         r.array = {3, 1, 3};
       }},
      {"array", [](JobRequest& r) { r.array.resize(kArrayMax + 1); }, Code::InvalidArgument},
      {"after", [](JobRequest& r) { r.after = {0}; }},
      {"after", [](JobRequest& r) { r.after.assign(1001, 1); }},
  };
  for (std::size_t i = 0; i < wrongs.size(); ++i) {
    JobRequest request = full();
    wrongs[i].change(request);
    const Status checked = check(request);
    ASSERT_FALSE(checked.ok()) << wrongs[i].begins << ", case " << i;
    EXPECT_EQ(checked.error().code, wrongs[i].code) << checked.error().message;
    EXPECT_TRUE(checked.error().message.starts_with(wrongs[i].begins)) << checked.error().message;
  }
}

TEST(JobRequestCheck, DurationsAreRefusedInWords) {
  JobRequest request = full();
  request.grace = std::chrono::hours(240);
  EXPECT_EQ(check(request).error().message, "grace: 10d is not between 0s and 1d");
}

}  // namespace
}  // namespace orrery
