// The same with everything that is said between clients, scheduler and agents sent over gRPC on
// this machine.
#include <gtest/gtest.h>

#include <any>
#include <condition_variable>
#include <mutex>

#include "base/invariant.h"
#include "live/api/fake_api.h"
#include "live/rpc/client.h"
#include "live/rpc/scheduler_link.h"
#include "live/rpc/server.h"
#include "parity/compare.h"
#include "scheduling/policy/registry.h"

namespace orrery {
namespace {

// The last thing that came over each connection; a test waits for it.
template <class Message>
class Arrivals {
 public:
  void put(std::int64_t from, Message message) {
    const std::lock_guard lock(mutex_);
    last_[from] = std::move(message);
    changed_.notify_all();
  }
  Message wait_for(std::int64_t from, std::int64_t number) {
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_for(lock, std::chrono::seconds(60), [&] {
      const auto found = last_.find(from);
      return found != last_.end() && found->second.number == number;
    });
    INVARIANT(came, "what is sent on this machine arrives");
    return last_[from];
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::int64_t, Message> last_;
};

class Host final : public AgentHost {
 public:
  std::int64_t connected(const Caller&, std::shared_ptr<AgentLink> link) override {
    const std::lock_guard lock(mutex_);
    links_.push_back(std::move(link));
    changed_.notify_all();
    return static_cast<std::int64_t>(links_.size());
  }
  void reported(std::int64_t connection, Report report) override {
    reports.put(connection, std::move(report));
  }
  void gone(std::int64_t) override {}

  std::shared_ptr<AgentLink> link(std::int64_t connection) {
    std::unique_lock lock(mutex_);
    const auto count = static_cast<std::size_t>(connection);
    const bool came =
        changed_.wait_for(lock, std::chrono::seconds(60), [&] { return links_.size() >= count; });
    INVARIANT(came, "agents on this machine connect");
    return links_[count - 1];
  }

  Arrivals<Report> reports;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<AgentLink>> links_;
};

class Loopback final : public Wire {
 public:
  Loopback() {
    const auto any_caller = [](const std::string&) {
      return Result<Caller>(Caller{.role = Caller::Role::Agent, .name = "agent"});
    };
    auto started = RpcServer::start({.access = {.identify = any_caller}}, api_, host_);
    INVARIANT(started.ok(), "a server starts on a free port");
    server_ = std::move(started).value();
    client_ = std::make_unique<RpcClient>(ClientOptions{.address = address()});
  }

  std::int64_t connect(std::size_t agent) override {
    const auto connection = static_cast<std::int64_t>(links_.size()) + 1;
    INVARIANT(agent == links_.size(), "agents connect one after the other");
    links_.push_back(std::make_unique<RpcSchedulerLink>(
        LinkOptions{.client = {.address = address()}},
        [this, connection](Orders orders) { orders_.put(connection, std::move(orders)); }));
    host_.link(connection);
    return connection;
  }

  SubmitRequest carry(SubmitRequest request) override {
    INVARIANT(client_->submit(request).ok(), "the scheduler takes it");
    return std::any_cast<SubmitRequest>(api_.asked().back().request);
  }
  Report carry(std::size_t agent, Report report) override {
    const std::int64_t number = report.number;
    links_[agent]->send(std::move(report));
    return host_.reports.wait_for(static_cast<std::int64_t>(agent) + 1, number);
  }
  Orders carry(std::size_t agent, Orders orders) override {
    const std::int64_t number = orders.number;
    const auto connection = static_cast<std::int64_t>(agent) + 1;
    host_.link(connection)->send(std::move(orders));
    return orders_.wait_for(connection, number);
  }

 private:
  std::string address() const { return "127.0.0.1:" + std::to_string(server_->port()); }

  FakeApi api_;
  Host host_;
  Arrivals<Orders> orders_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<RpcClient> client_;
  std::vector<std::unique_ptr<RpcSchedulerLink>> links_;
};

class ParityOverTheWire : public testing::TestWithParam<std::string> {};

TEST_P(ParityOverTheWire, TheLiveSchedulerDecidesAsTheSimulatorDoes) {
  Counts counts;
  for (const Scenario& scenario : {plain_scenario(2), profiled_scenario(3)}) {
    Loopback wire;
    ASSERT_EQ(difference(scenario, GetParam(), wire, counts), "");
  }
  EXPECT_GT(counts.decisions, 50U);
  EXPECT_GT(counts.starts, 20);
}

std::vector<std::string> every_policy() {
  std::vector<std::string> names;
  for (const PolicyInfo& info : policies()) names.emplace_back(info.name);
  names.emplace_back("las+tune");
  return names;
}

INSTANTIATE_TEST_SUITE_P(Of, ParityOverTheWire, testing::ValuesIn(every_policy()));

}  // namespace
}  // namespace orrery
