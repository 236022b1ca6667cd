#include "live/rpc/scheduler_link.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>

#include "live/api/fake_api.h"
#include "live/rpc/server.h"
#include "live/rpc/test_authority.h"

namespace orrery {
namespace {

// Remembers what agents said; everything can be waited for.
class FakeHost final : public AgentHost {
 public:
  std::int64_t connected(const Caller& caller, std::shared_ptr<AgentLink> link) override {
    const std::lock_guard lock(mutex_);
    names_.push_back(caller.name);
    links_.push_back(std::move(link));
    changed_.notify_all();
    return static_cast<std::int64_t>(links_.size());
  }
  void reported(std::int64_t connection, Report report) override {
    const std::lock_guard lock(mutex_);
    last_[connection] = std::move(report);
    changed_.notify_all();
  }
  void gone(std::int64_t) override {
    const std::lock_guard lock(mutex_);
    ++gone_;
    changed_.notify_all();
  }

  std::shared_ptr<AgentLink> wait_for_link(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return links_.size() >= count; });
    return links_[count - 1];
  }
  Report wait_for_report(std::int64_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !last_.empty() && last_.rbegin()->second.number == number; });
    return last_.rbegin()->second;
  }
  void wait_for_gone(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return gone_ >= count; });
  }
  std::vector<std::string> names() {
    const std::lock_guard lock(mutex_);
    return names_;
  }
  int gone() {
    const std::lock_guard lock(mutex_);
    return gone_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> names_;
  std::vector<std::shared_ptr<AgentLink>> links_;
  std::map<std::int64_t, Report> last_;
  int gone_ = 0;
};

// What an agent received, and why its connections ended.
class Heard {
 public:
  void orders(const Orders& orders) {
    std::unique_lock lock(mutex_);
    numbers_.push_back(orders.number);
    changed_.notify_all();
    changed_.wait(lock, [this] { return !blocked_; });
  }
  void lost(const Error& error) {
    const std::lock_guard lock(mutex_);
    errors_.push_back(error);
    changed_.notify_all();
  }
  void block(bool blocked) {
    const std::lock_guard lock(mutex_);
    blocked_ = blocked;
    changed_.notify_all();
  }
  std::vector<std::int64_t> wait_for_orders(std::int64_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !numbers_.empty() && numbers_.back() == number; });
    return numbers_;
  }
  Error wait_for_loss() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !errors_.empty(); });
    return errors_.front();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int64_t> numbers_;
  std::vector<Error> errors_;
  bool blocked_ = false;
};

Result<Caller> agents_by_name(const std::string& pem) {
  const std::string name = TestAuthority::name_in(pem);
  return Caller{.role = name == "ann" ? Caller::Role::User : Caller::Role::Agent, .name = name};
}

class SchedulerLinkTest : public testing::Test {
 protected:
  ~SchedulerLinkTest() override { heard_.block(false); }

  void start(int port = 0,
             const std::function<Result<Caller>(const std::string&)>& identify = agents_by_name) {
    auto started = RpcServer::start({.address = "127.0.0.1:" + std::to_string(port),
                                     .tls = authority_.issue("server"),
                                     .access = {.identify = identify, .admit = {}}},
                                    api_, host_);
    ASSERT_TRUE(started.ok()) << started.error().message;
    server_ = std::move(started).value();
  }
  std::unique_ptr<RpcSchedulerLink> link(const std::string& name, LinkOptions options = {}) {
    options.client = {.address = "127.0.0.1:" + std::to_string(server_->port()),
                      .tls = authority_.issue(name)};
    options.retry_first = std::chrono::milliseconds(5);
    options.retry_longest = std::chrono::milliseconds(50);
    options.on_lost = [this](const Error& error) { heard_.lost(error); };
    return std::make_unique<RpcSchedulerLink>(
        options, [this](const Orders& orders) { heard_.orders(orders); });
  }

  TestAuthority authority_;
  FakeApi api_;
  FakeHost host_;
  Heard heard_;
  std::unique_ptr<RpcServer> server_;
};

TEST_F(SchedulerLinkTest, ReportsAndOrdersTravelUnderTheAgentsName) {
  start();
  auto agent = link("node-1");
  Report report{.offer = {.name = "node-1", .gpus = 8}, .instance = "i", .number = 1};
  report.logs.push_back({.request = 3, .bytes = std::string("\0\xff", 2)});
  agent->send(report);
  EXPECT_EQ(host_.wait_for_report(1), report);
  EXPECT_EQ(host_.names(), std::vector<std::string>{"node-1"});
  host_.wait_for_link(1)->send({.number = 5, .assignments = {{.argv = {"train"}}}});
  EXPECT_EQ(heard_.wait_for_orders(5).back(), 5);
  agent.reset();
  host_.wait_for_gone(1);
  host_.wait_for_link(1)->send({.number = 6});
  host_.wait_for_link(1)->close();
}

TEST_F(SchedulerLinkTest, NewerOrdersReplaceThoseThatWait) {
  start();
  heard_.block(true);
  auto agent = link("node-1");
  const auto to_agent = host_.wait_for_link(1);
  // More than the connection holds while the agent does not read.
  constexpr int kMany = 300;
  Orders orders{.refused = std::string(100'000, 'x')};
  for (orders.number = 1; orders.number <= kMany; ++orders.number) to_agent->send(orders);
  heard_.block(false);
  const auto numbers = heard_.wait_for_orders(kMany);
  EXPECT_LT(numbers.size(), static_cast<std::size_t>(kMany));
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
}

TEST_F(SchedulerLinkTest, TheLinkComesBackWhenTheSchedulerDoes) {
  start();
  auto agent = link("node-1");
  agent->send({.number = 1});
  host_.wait_for_report(1);
  const int port = server_->port();
  server_.reset();
  EXPECT_EQ(host_.gone(), 1);
  EXPECT_EQ(heard_.wait_for_loss().code, Code::Unavailable);
  for (int number = 2; number <= 4; ++number) agent->send({.number = number});
  start(port);
  EXPECT_EQ(host_.wait_for_report(4).number, 4);
}

TEST_F(SchedulerLinkTest, OnlyAgentsAttend) {
  start();
  const auto user = link("ann");
  EXPECT_EQ(heard_.wait_for_loss().code, Code::PermissionDenied);
  EXPECT_TRUE(host_.names().empty());
}

TEST_F(SchedulerLinkTest, AReportThatMakesNoSenseEndsTheConnection) {
  start();
  const auto agent = link("node-1");
  agent->send({.offer = {.gpus = 1000}});
  const Error error = heard_.wait_for_loss();
  EXPECT_EQ(error.code, Code::InvalidArgument);
  EXPECT_EQ(error.message, "offer.gpus: 1000 is above 64");
  host_.wait_for_gone(1);
}

TEST_F(SchedulerLinkTest, ARevokedAgentLosesTheConnectionItHas) {
  std::atomic<bool> revoked = false;
  start(0, [&](const std::string& pem) -> Result<Caller> {
    if (revoked) return Error{Code::Unauthenticated, "it was revoked"};
    return agents_by_name(pem);
  });
  const auto agent = link("node-1");
  host_.wait_for_link(1);
  server_->check_agents_again();
  EXPECT_EQ(host_.gone(), 0);
  revoked = true;
  server_->check_agents_again();
  host_.wait_for_gone(1);
  const Error lost = heard_.wait_for_loss();
  EXPECT_EQ(lost.code, Code::Unauthenticated);
  EXPECT_EQ(lost.message, "it was revoked");
  EXPECT_EQ(host_.names().size(), 1u) << "it does not come back";
}

TEST_F(SchedulerLinkTest, ALinkGoesOverToItsNewestCertificate) {
  start();
  std::atomic<bool> renewed = false;
  const TlsMaterial later = authority_.issue("node-1-renewed");
  LinkOptions options;
  options.newest_certificate = [&] { return renewed ? std::optional(later) : std::nullopt; };
  const auto agent = link("node-1", options);
  host_.wait_for_link(1);
  renewed = true;
  agent->reconnect();
  host_.wait_for_link(2);
  EXPECT_EQ(host_.names(), (std::vector<std::string>{"node-1", "node-1-renewed"}));
  server_->let_agents_reconnect();
  host_.wait_for_link(3);
  EXPECT_EQ(host_.names().back(), "node-1-renewed");
}

TEST_F(SchedulerLinkTest, ALinkThatIsConnectingGoesOverToItsNewestCertificateToo) {
  start();
  std::promise<void> reading;
  std::promise<void> renewed;
  LinkOptions options;
  options.newest_certificate = [&, first = true]() mutable -> std::optional<TlsMaterial> {
    if (!std::exchange(first, false)) return authority_.issue("node-1-renewed");
    reading.set_value();
    renewed.get_future().wait();
    return std::nullopt;
  };
  const auto agent = link("node-1", options);
  reading.get_future().wait();
  agent->reconnect();
  renewed.set_value();
  std::size_t links = 0;
  do host_.wait_for_link(++links);
  while (host_.names()[links - 1] != "node-1-renewed");
  EXPECT_LE(links, 2u);
}

TEST_F(SchedulerLinkTest, TheSchedulerCanCloseAConnection) {
  start();
  const auto agent = link("node-1");
  host_.wait_for_link(1)->close();
  EXPECT_EQ(heard_.wait_for_loss().code, Code::Unavailable);
  host_.wait_for_link(2);  // and it comes again
}

}  // namespace
}  // namespace orrery
