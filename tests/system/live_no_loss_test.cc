#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "system/live.h"

namespace orrery {
namespace {

constexpr int kClients = 4;
constexpr int kEach = 10;

// The answers that clients got. A submission that got no answer may have been taken or not.
class Burst {
 public:
  // Every client hands in its jobs one after the other, until one fails.
  Burst(const ClientOptions& scheduler, int number, std::function<JobRequest(std::string)> make)
      : make_(std::move(make)) {
    for (int client = 0; client < kClients; ++client) {
      threads_.emplace_back([this, scheduler, number, client] {
        RpcClient rpc(scheduler);
        for (int i = 0; i < kEach; ++i) {
          const std::string key = "t" + std::to_string(number) + "-c" + std::to_string(client) +
                                  "-" + std::to_string(i);
          if (!submit(rpc, key)) return;
        }
      });
    }
  }
  ~Burst() { wait(); }

  void wait_for(std::size_t acknowledged) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60),
                      [&] { return taken_.size() >= acknowledged; });
  }
  void wait() {
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  // With wait(): by key.
  const std::map<std::string, JobNumber>& taken() const { return taken_; }
  const std::vector<std::string>& unanswered() const { return unanswered_; }

 private:
  bool submit(RpcClient& rpc, const std::string& key) {
    const auto answer = rpc.submit({.job = make_(key), .key = key});
    const std::lock_guard lock(mutex_);
    if (answer.ok()) {
      taken_[key] = answer.value().first;
    } else {
      unanswered_.push_back(key);
    }
    changed_.notify_all();
    return answer.ok();
  }

  const std::function<JobRequest(std::string)> make_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, JobNumber> taken_;
  std::vector<std::string> unanswered_;
  std::vector<std::thread> threads_;
};

class LiveNoLoss : public LiveTest {
 protected:
  std::unique_ptr<Background> start() { return serve({"--local", "--gpus", "8"}); }

  std::unique_ptr<Burst> burst(int number) {
    return std::make_unique<Burst>(admin(), number,
                                   [this](const std::string& key) { return careful_job(key, ""); });
  }

  // A client without an answer asks again with its key, and then has exactly one job, as the others
  // have.
  void settle(Burst& burst) {
    RpcClient rpc(admin());
    const StatusAnswer before = status();
    std::map<std::string, std::vector<JobNumber>> there;
    for (const JobStatus& job : before.jobs) there[job.name].push_back(job.id);
    for (const auto& [key, id] : burst.taken()) {
      EXPECT_EQ(there[key], std::vector{id}) << key;
      acknowledged_[key] = id;
    }
    for (const std::string& key : burst.unanswered()) {
      const auto again = rpc.submit({.job = careful_job(key, ""), .key = key});
      ASSERT_TRUE(again.ok()) << again.error().message;
      if (!there[key].empty()) {
        ++taken_unanswered_;
        EXPECT_EQ(there[key], std::vector{again.value().first}) << key;
      }
      acknowledged_[key] = again.value().first;
    }
  }

  // Of all rounds.
  void expect_each_key_once() {
    std::map<std::string, JobNumber> there;
    for (const JobStatus& job : status().jobs) {
      EXPECT_TRUE(there.emplace(job.name, job.id).second) << job.name << " is there twice";
    }
    EXPECT_EQ(there, acknowledged_);
  }

  std::map<std::string, JobNumber> acknowledged_;
  int taken_unanswered_ = 0;
};

TEST_F(LiveNoLoss, KilledAtRandomInstantsOfABurstASchedulerLosesNothingAndDoublesNothing) {
  std::mt19937 random(20260801);
  const int all = repetitions(20, 200);
  std::size_t acknowledged = 0;
  auto scheduler = start();
  for (int round = 0; round < all && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    const auto going = burst(round);
    going->wait_for(std::uniform_int_distribution<std::size_t>(0, kClients * kEach - 1)(random));
    scheduler->kill();
    going->wait();
    acknowledged += going->taken().size();
    scheduler = start();
    settle(*going);
    if (round % 5 == 4) expect_all_done_once();
  }
  expect_all_done_once();
  expect_each_key_once();
  EXPECT_GT(acknowledged, 0u);
  RecordProperty("rounds", all);
  RecordProperty("acknowledged", static_cast<int>(acknowledged));
  RecordProperty("taken_without_an_answer", taken_unanswered_);
  std::cout << all << " rounds, " << acknowledged << " acknowledged before the kill, "
            << taken_unanswered_ << " taken without an answer, " << acknowledged_.size()
            << " jobs in all\n";
}

TEST_F(LiveNoLoss, StoppedCleanlyASchedulerDoesTheSame) {
  std::size_t acknowledged = 0;
  auto scheduler = start();
  for (int round = 0; round < 3 && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    const auto going = burst(round);
    going->wait_for(kClients * kEach / 2);
    EXPECT_EQ(scheduler->stop(), 0) << scheduler->errors();
    going->wait();
    acknowledged += going->taken().size();
    scheduler = start();
    settle(*going);
  }
  expect_all_done_once();
  expect_each_key_once();
  EXPECT_GT(acknowledged, 0u);
  for (const JobStatus& job : status().jobs) EXPECT_EQ(job.epoch, 1) << job.id;
}

}  // namespace
}  // namespace orrery
