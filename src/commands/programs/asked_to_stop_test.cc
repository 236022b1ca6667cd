// A job that speaks the job protocol, from the scheduler's decision to its last count: the
// scheduler, an agent and real processes, with no network between them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <thread>

#include "base/logins.h"
#include "commands/programs/local_link.h"
#include "live/agent/agent_loop.h"
#include "live/agent/test_jobs.h"
#include "live/daemon/server/server.h"

namespace orrery {
namespace {

// Far more than anything here takes; a test that waits so long has failed.
constexpr auto kPatience = std::chrono::seconds(60);
constexpr int kCounts = 60;

class Counting : public testing::Test {
 protected:
  void SetUp() override {
    auto server = SchedulerServer::start({.state = folder_.path()});
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(server).value();
    auto agent = AgentLoop::open(
        {.state = folder_ / "agent", .name = "n", .gpus = 2, .program = ORRERY_JOB}, {});
    ASSERT_TRUE(agent.ok()) << agent.error().message;
    agent_ = std::move(agent).value();
    thread_ = std::thread([this] {
      const Status ran = agent_->run([this](OnOrders on_orders) {
        return Result<std::unique_ptr<SchedulerLink>>(
            link_locally(*server_, "n", std::move(on_orders)));
      });
      EXPECT_TRUE(ran.ok());
    });
    ASSERT_TRUE(wait_for([this] { return !ask(&Api::nodes, Nothing{}).nodes.empty(); }));
  }
  void TearDown() override {
    if (agent_ != nullptr) agent_->end(AgentLoop::Leave::JobsStopped);
    if (thread_.joinable()) thread_.join();
    if (server_ == nullptr) return;
    EXPECT_TRUE(server_->stop().ok());
  }

  template <class Request, class Answer>
  Answer ask(void (Api::*call)(const Caller&, Request, Reply<Answer>), Request request) {
    std::promise<Answer> promise;
    (server_.get()->*call)(root_, std::move(request), [&](Result<Answer> answer) {
      EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
      promise.set_value(answer.ok() ? std::move(answer).value() : Answer{});
    });
    return promise.get_future().get();
  }
  // Looks again whenever something has happened.
  template <class Condition>
  bool wait_for(Condition condition) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    std::int64_t next = 0;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > until) return false;
      next = ask(&Api::events, EventsRequest{.from = next, .wait = std::chrono::seconds(1)}).next;
    }
    return true;
  }

  JobStatus job() { return ask(&Api::status, StatusRequest{}).jobs.at(0); }
  std::string log(int rank) { return ask(&Api::logs, LogsRequest{.id = 1, .rank = rank}).bytes; }
  void submit_counter() {
    JobRequest job{.argv = {ORRERY_PYTHON, ORRERY_SOURCE "/examples/counter.py",
                            std::to_string(kCounts), "--step", "0.05"},
                   .gpus = 2};
    job.process_per_gpu = true;
    // Where the interpreter is found by a script that looks for it.
    if (const char* path = std::getenv("PATH")) job.environment.emplace_back("PATH", path);
    job.environment.emplace_back("PYTHONDONTWRITEBYTECODE", "1");
    ask(&Api::submit, SubmitRequest{.job = std::move(job)});
  }

  const Caller root_{.role = Caller::Role::Admin, .name = login_name(::geteuid())};
  TestFolder folder_{};
  std::unique_ptr<SchedulerServer> server_{};
  std::unique_ptr<AgentLoop> agent_{};
  std::thread thread_{};
};

TEST_F(Counting, IsPausedOnAllRanksAtOneCountAndLosesAndRepeatsNone) {
  submit_counter();
  ASSERT_TRUE(wait_for([this] { return job().progress.value_or(0) > 0; }));
  ask(&Api::drain, DrainRequest{.node = "n", .now = true});
  ASSERT_TRUE(wait_for([this] { return ask(&Api::status, StatusRequest{}).settling == 0; }));
  const JobStatus paused = job();
  EXPECT_EQ(paused.state, JobState::Paused) << "it exited well and is not done";

  const std::string first = "counting from 0 to " + std::to_string(kCounts) + "\ndrain at ";
  const std::string stopped = log(0);
  ASSERT_TRUE(stopped.starts_with(first)) << stopped;
  const int count = std::stoi(stopped.substr(first.size()));
  EXPECT_GT(count, 0);
  EXPECT_LT(count, kCounts);
  EXPECT_EQ(log(1), stopped) << "both stop at the same count";
  EXPECT_DOUBLE_EQ(paused.progress.value_or(0), static_cast<double>(count) / kCounts);

  ask(&Api::drain, DrainRequest{.node = "n", .resume = true});
  ASSERT_TRUE(wait_for([this] { return is_final(job().state); }));
  const JobStatus done = job();
  EXPECT_EQ(done.state, JobState::Done) << done.reason;
  EXPECT_EQ(done.epoch, 2);
  EXPECT_DOUBLE_EQ(done.progress.value_or(0), 1);
  const std::string whole = stopped + "counting from " + std::to_string(count) + " to " +
                            std::to_string(kCounts) + "\ndone at " + std::to_string(kCounts) + "\n";
  EXPECT_EQ(log(0), whole);
  EXPECT_EQ(log(1), whole);
}

}  // namespace
}  // namespace orrery
