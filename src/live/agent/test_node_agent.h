#pragma once

#include <gtest/gtest.h>

#include "live/agent/fake_processes.h"
#include "live/agent/node_agent.h"
#include "live/agent/test_node.h"

namespace orrery {

// One agent on a made-up machine, and orders as a scheduler would give them.
class NodeAgentTest : public testing::Test {
 protected:
  using State = LaunchState;
  NodeAgentTest() { begin(); }

  // A new agent over the same machine, as after a crash.
  void begin() {
    processes_.advance(now_);
    agent_.emplace(node_options(), processes_, now_);
    ASSERT_TRUE(agent_->adopt().ok());
    report();
  }

  void pass(Duration time) {
    now_ += time;
    processes_.advance(now_);
    agent_->tick(now_);
  }

  void report() {
    while (auto report = agent_->next_report(now_)) last_ = std::move(*report);
  }

  // Orders of a scheduler that has seen the last report.
  Orders orders(std::vector<Assignment> assignments) {
    report();
    return {.instance = "here",
            .session = 1,
            .term = 1,
            .number = ++number_,
            .report = last_.number,
            .lease = kLease,
            .assignments = std::move(assignments)};
  }
  void order(std::vector<Assignment> assignments) {
    agent_->on_orders(orders(std::move(assignments)), now_);
    processes_.advance(now_);
    agent_->on_process_change(now_);
    report();
  }

  std::optional<LaunchReport> of(const LaunchName& name) const {
    for (const LaunchReport& launch : last_.launches) {
      if (launch.name == name) return launch;
    }
    return std::nullopt;
  }
  State state(const LaunchName& name) const {
    const auto launch = of(name);
    EXPECT_TRUE(launch) << text(name) << " is not in the report";
    return launch ? launch->state : State::Waiting;
  }

  static constexpr Duration kLease = std::chrono::seconds(15);
  std::map<LaunchName, FakeProcesses::Script> scripts_{};
  FakeProcesses processes_{[this](const LaunchName& name) { return scripts_[name]; }};
  std::optional<NodeAgent> agent_{};
  Duration now_ = std::chrono::seconds(1000);
  std::int64_t number_ = 0;
  Report last_{};
};

}  // namespace orrery
