#include "live/agent/agent_loop.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <condition_variable>
#include <thread>

#include "base/logins.h"
#include "live/agent/test_jobs.h"

namespace orrery {
namespace {

// Far more than anything here takes; a test that waits so long has failed.
constexpr auto kPatience = std::chrono::seconds(60);

// The scheduler, in the same process: answers every report with what it wants.
class Scheduler {
 public:
  MakeLink link() {
    return [this](OnOrders on_orders) -> Result<std::unique_ptr<SchedulerLink>> {
      const std::lock_guard lock(mutex_);
      on_orders_ = std::move(on_orders);
      return std::unique_ptr<SchedulerLink>(new Link(*this));
    };
  }

  void want(std::vector<Assignment> assignments, std::vector<LogRequest> logs = {}) {
    const std::lock_guard lock(mutex_);
    wanted_ = std::move(assignments);
    logs_ = std::move(logs);
    answer();
  }

  // Waits for a report that is as it should be; nothing if none comes.
  template <class Condition>
  std::optional<Report> wait_for(Condition condition) {
    std::unique_lock lock(mutex_);
    const auto reported = [&] { return last_.number > 0 && condition(last_); };
    if (!changed_.wait_for(lock, kPatience, reported)) return std::nullopt;
    return last_;
  }
  bool wait_for_state(const LaunchName& name, LaunchState state) {
    return wait_for([&](const Report& report) {
             return std::any_of(
                 report.launches.begin(), report.launches.end(),
                 [&](const LaunchReport& one) { return one.name == name && one.state == state; });
           })
        .has_value();
  }

 private:
  class Link final : public SchedulerLink {
   public:
    explicit Link(Scheduler& scheduler) : scheduler_(scheduler) {}
    ~Link() override {
      const std::lock_guard lock(scheduler_.mutex_);
      scheduler_.on_orders_ = {};
    }
    void send(Report report) override {
      const std::lock_guard lock(scheduler_.mutex_);
      scheduler_.last_ = std::move(report);
      scheduler_.answer();
      scheduler_.changed_.notify_all();
    }

   private:
    Scheduler& scheduler_;
  };

  void answer() {
    if (!on_orders_ || last_.number == 0) return;
    Orders orders{.instance = last_.instance,
                  .session = 1,
                  .term = 1,
                  .number = ++number_,
                  .report = last_.number,
                  .lease = std::chrono::seconds(60),
                  .assignments = wanted_,
                  .logs = std::exchange(logs_, {})};
    for (const LaunchReport& launch : last_.launches) {
      if (launch.state == LaunchState::Ended) orders.forget.push_back(launch.name);
    }
    on_orders_(std::move(orders));
  }

  std::mutex mutex_{};
  std::condition_variable changed_{};
  OnOrders on_orders_{};
  std::vector<Assignment> wanted_{};
  std::vector<LogRequest> logs_{};
  Report last_{};
  std::int64_t number_ = 0;
};

// An agent in a thread of its own, for as long as this lives.
class RunningAgent {
 public:
  RunningAgent(const AgentOptions& options, Scheduler& scheduler) {
    auto loop = AgentLoop::open(options, {});
    EXPECT_TRUE(loop.ok()) << (loop.ok() ? "" : loop.error().message);
    loop_ = std::move(loop).value();
    thread_ = std::thread([this, &scheduler] { EXPECT_TRUE(loop_->run(scheduler.link()).ok()); });
  }
  ~RunningAgent() { end(AgentLoop::Leave::JobsRun); }

  void end(AgentLoop::Leave leave) {
    loop_->end(leave);
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::unique_ptr<AgentLoop> loop_{};
  std::thread thread_{};
};

class AgentLoopTest : public testing::Test {
 protected:
  Assignment job(JobNumber number, std::vector<std::string> what) const {
    return {.name = {.job = number},
            .argv = act(std::move(what)),
            .user = login_name(::geteuid()),
            .gpus = 1,
            .cpu_milli = 1000,
            .grace = std::chrono::seconds(5)};
  }

  TestFolder folder_{};
  AgentOptions options_{.state = folder_ / "state", .name = "n", .gpus = 2};
  Scheduler scheduler_{};
};

TEST_F(AgentLoopTest, StartsReadsAndStopsARealJob) {
  RunningAgent agent(options_, scheduler_);
  const auto hello = scheduler_.wait_for([](const Report&) { return true; });
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->offer.gpus, 2);
  EXPECT_EQ(hello->offer.name, "n");
  const Assignment wanted = job(1, {"polite"});
  scheduler_.want({wanted});
  ASSERT_TRUE(scheduler_.wait_for_state(wanted.name, LaunchState::Running));

  scheduler_.want({wanted}, {{.request = 5, .launch = wanted.name, .wait = kPatience}});
  const auto log = scheduler_.wait_for([](const Report& report) { return !report.logs.empty(); });
  ASSERT_TRUE(log);
  EXPECT_EQ(log->logs[0].request, 5);
  EXPECT_EQ(log->logs[0].bytes, "ready\n") << log->logs[0].error;

  scheduler_.want({});
  const auto ended = scheduler_.wait_for([](const Report& report) {
    return !report.launches.empty() && report.launches[0].state == LaunchState::Ended;
  });
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->launches[0].end.kind, JobEnd::Kind::Stopped);
  EXPECT_EQ(ended->launches[0].end.exit_code, 7);
  scheduler_.want({}, {{.request = 6, .launch = wanted.name}});
  const auto rest = scheduler_.wait_for(
      [](const Report& report) { return !report.logs.empty() && report.logs[0].request == 6; });
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->logs[0].bytes, "ready\n");
  EXPECT_TRUE(rest->logs[0].ended);
}

TEST_F(AgentLoopTest, TheNextAgentTakesOverTheJobsOfOneThatIsGone) {
  const Assignment wanted = job(1, {"hang"});
  const auto ready = [](const Report& report) {
    return !report.logs.empty() && report.logs[0].bytes == "ready\n";
  };
  scheduler_.want({wanted});
  std::string instance;
  {
    RunningAgent agent(options_, scheduler_);
    ASSERT_TRUE(scheduler_.wait_for_state(wanted.name, LaunchState::Running));
    scheduler_.want({wanted}, {{.request = 1, .launch = wanted.name, .wait = kPatience}});
    const auto report = scheduler_.wait_for(ready);
    ASSERT_TRUE(report);
    instance = report->instance;
  }
  RunningAgent agent(options_, scheduler_);
  ASSERT_TRUE(scheduler_.wait_for([](const Report& report) { return report.logs.empty(); }));
  scheduler_.want({wanted}, {{.request = 2, .launch = wanted.name}});
  const auto report = scheduler_.wait_for(ready);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->instance, instance);
  ASSERT_EQ(report->launches.size(), 1u);
  EXPECT_EQ(report->launches[0].state, LaunchState::Running);
  scheduler_.want({});
  ASSERT_TRUE(scheduler_.wait_for_state(wanted.name, LaunchState::Ended));
}

TEST_F(AgentLoopTest, TheSmallProgramSupervisesAsTheWholeOneDoes) {
  options_.program = ORRERY_JOB;
  RunningAgent agent(options_, scheduler_);
  Assignment good = job(1, {"exit", "3"});
  Assignment bad = job(2, {});
  bad.argv = {"/no/such/program"};
  bad.gpus = 2;
  scheduler_.want({good, bad});
  const auto ends = scheduler_.wait_for([](const Report& report) {
    return report.launches.size() == 2 && report.launches[0].state == LaunchState::Ended &&
           report.launches[1].state == LaunchState::Ended;
  });
  ASSERT_TRUE(ends);
  EXPECT_EQ(untimed(ends->launches[0].end), (JobEnd{.kind = JobEnd::Kind::Exited, .exit_code = 3}));
  EXPECT_EQ(ends->launches[1].end.kind, JobEnd::Kind::NotStarted);
  EXPECT_EQ(ends->launches[1].end.message, "program '/no/such/program': No such file or directory");
}

TEST_F(AgentLoopTest, AnAgentThatLeavesTakesItsJobsWithItAndSaysSo) {
  RunningAgent agent(options_, scheduler_);
  const Assignment wanted = job(1, {"polite"});
  scheduler_.want({wanted});
  ASSERT_TRUE(scheduler_.wait_for_state(wanted.name, LaunchState::Running));
  agent.end(AgentLoop::Leave::JobsStopped);
  const auto last = scheduler_.wait_for([](const Report& report) { return report.leaving; });
  ASSERT_TRUE(last);
  ASSERT_EQ(last->launches.size(), 1u);
  EXPECT_EQ(last->launches[0].state, LaunchState::Ended);
}

TEST_F(AgentLoopTest, ASignalEndsTheAgentAndLeavesItsJobs) {
  const Assignment wanted = job(1, {"polite"});
  scheduler_.want({wanted});
  std::thread terminator([&, test = pthread_self()] {
    EXPECT_TRUE(scheduler_.wait_for_state(wanted.name, LaunchState::Running));
    pthread_kill(test, SIGTERM);
  });
  bool is_ready = false;
  const auto ready = [&] { is_ready = true; };
  EXPECT_TRUE(run_agent(
                  options_, scheduler_.link(), [](std::string_view) {}, ready)
                  .ok());
  EXPECT_TRUE(is_ready);
  terminator.join();
  RunningAgent next(options_, scheduler_);
  ASSERT_TRUE(scheduler_.wait_for_state(wanted.name, LaunchState::Running));
  scheduler_.want({});
  ASSERT_TRUE(scheduler_.wait_for_state(wanted.name, LaunchState::Ended));
}

}  // namespace
}  // namespace orrery
