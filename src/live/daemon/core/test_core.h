#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "live/daemon/core/core.h"

namespace orrery {

inline const Caller kRoot{.role = Caller::Role::Admin, .name = "root"};

// A core with agents that obey, message by message, under a driven clock.
class TestCore {
 public:
  explicit TestCore(CoreOptions options = {}) : options_(options), core(std::move(options)) {
    EXPECT_TRUE(core.begin(1, now).ok());
  }

  // Everything so far is in `log`.
  void write_down() {
    for (Record& record : core.take_records()) {
      record.sequence = static_cast<std::int64_t>(log.size()) + 1;
      log.push_back(std::move(record));
    }
  }
  void pass(Duration time = {}) {
    now += time;
    core.tick(now);
    write_down();
    for (Core::Outgoing& outgoing : core.take_orders()) {
      orders[outgoing.connection] = std::move(outgoing.orders);
    }
  }
  void join(const std::string& node, int gpus, std::int64_t connection) {
    report(node, gpus, connection, {});
    pass();
  }
  void report(const std::string& node, int gpus, std::int64_t connection,
              std::vector<LaunchReport> launches, const std::string& fault = "") {
    core.reported(connection,
                  {.offer = {.name = node, .address = node, .gpus = gpus, .fault = fault},
                   .instance = "i-" + node,
                   .number = ++reports_,
                   .term = orders[connection].term,
                   .orders = orders[connection].number,
                   .launches = std::move(launches)},
                  now);
  }
  // The node runs what it was ordered to run, and nothing else.
  void obey(const std::string& node, int gpus, std::int64_t connection) {
    std::vector<LaunchReport> launches;
    for (const Assignment& assignment : orders[connection].assignments) {
      launches.push_back({.name = assignment.name, .state = LaunchState::Running});
    }
    report(node, gpus, connection, std::move(launches));
    pass();
  }
  JobNumber submit(JobRequest job) {
    if (job.argv.empty()) job.argv = {"train"};
    const auto answer = core.submit(kRoot, {.job = std::move(job)}, now);
    EXPECT_TRUE(answer.ok()) << answer.error().message;
    pass();
    return answer.ok() ? answer.value().first : 0;
  }
  JobState state(JobNumber number) const {
    return core.state().job(*core.book().find(number)).state;
  }
  const LiveJob& job(JobNumber number) const { return core.book().job(*core.book().find(number)); }

 private:
  std::int64_t reports_ = 0;
  CoreOptions options_;

 public:
  Time now{};
  Core core;
  std::vector<Record> log;
  std::map<std::int64_t, Orders> orders;
};

inline LaunchReport ended(LaunchName name, JobEnd::Kind kind = JobEnd::Kind::Exited,
                          int exit_code = 0) {
  return {.name = name, .state = LaunchState::Ended, .end = {.kind = kind, .exit_code = exit_code}};
}

}  // namespace orrery
