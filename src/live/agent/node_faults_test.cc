#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "base/random.h"
#include "live/agent/fake_processes.h"
#include "live/agent/node_agent.h"
#include "live/agent/test_node.h"

namespace orrery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kLease = seconds(6);
constexpr Duration kGraceMost = seconds(4);

// One agent on a made-up machine, a scheduler that wants something else every moment, and a network
// that loses, doubles, delays and reorders. Everything follows from the seed.
class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed) { begin_agent(); }

  void step() {
    pass();
    const auto what = random_.between(0, 99);
    if (what < 25) change_mind();
    if (what < 60) send_orders();
    if (what >= 97) crash();
    if (what == 50) processes_.fail_writes(random_.between(0, 1) == 0);
    if (what == 51) begin_term();
    if (what == 52) cut_until_ = now_ + Duration(random_.between(0, 20'000'000'000));
    deliver(random_.between(0, 9) < 8);
    check();
  }

  // From here on the network is sound and the scheduler knows what it wants.
  void settle() {
    processes_.fail_writes(false);
    cut_until_ = {};
    reports_.clear();
    orders_.clear();
    begin_agent();
    wanted_ = {fresh(0b0001), fresh(0b0110), fresh(0b1000)};
    for (int i = 0; i < 200; ++i) {
      pass();
      send_orders();
      deliver(true);
      check();
    }
    std::set<LaunchName> named;
    for (const Assignment& wanted : wanted_) named.insert(wanted.name);
    std::set<LaunchName> found;
    for (const LaunchReport& launch : seen_.launches) {
      EXPECT_TRUE(named.contains(launch.name)) << text(launch.name) << " is not wanted";
      EXPECT_TRUE(launch.state == LaunchState::Running || launch.state == LaunchState::Ended)
          << text(launch.name) << " is " << to_string(launch.state);
      found.insert(launch.name);
    }
    EXPECT_EQ(found, named);
    for (const Launch& launch : processes_.running()) {
      EXPECT_TRUE(named.contains(name_of(launch))) << text(name_of(launch)) << " still runs";
    }
  }

  std::size_t starts() const { return processes_.starts().size(); }
  int lease_losses() const { return lease_losses_; }

 private:
  void begin_agent() {
    agent_.emplace(node_options(), processes_, now_);
    EXPECT_TRUE(agent_->adopt().ok());
  }
  void crash() {
    agent_.reset();
    if (random_.between(0, 1) == 0) {
      now_ += random_.between(0, 1) == 0 ? seconds(1) : seconds(12);
      processes_.advance(now_);
      check();
    }
    begin_agent();
  }
  void begin_term() {
    ++term_;
    number_ = 0;
    session_ = 1;
    seen_ = {};
  }
  void pass() {
    now_ += Duration(random_.between(1'000'000, 600'000'000));
    processes_.advance(now_);
    agent_->tick(now_);
    while (auto report = agent_->next_report(now_)) reports_.push_back(std::move(*report));
  }

  Assignment fresh(std::uint64_t gpus) {
    Assignment wanted = assignment({.job = random_.between(1, 5), .epoch = ++epoch_}, gpus);
    wanted.cpu_milli = random_.between(0, 3000);
    wanted.shares = random_.between(0, 3) == 0;
    wanted.grace = Duration(random_.between(0, kGraceMost.count()));
    shares_[wanted.name] = wanted.shares;
    grace_[wanted.name] = wanted.grace;
    if (random_.between(0, 1) == 0) wanted.node_timeout = seconds(random_.between(1, 40));
    const bool has_own = wanted.node_timeout > Duration::zero();
    timeout_[wanted.name] = has_own ? wanted.node_timeout : kLease;
    return wanted;
  }
  void change_mind() {
    if (!wanted_.empty() && random_.between(0, 1) == 0) wanted_.erase(wanted_.begin());
    if (wanted_.size() < 6) wanted_.push_back(fresh(1ull << random_.between(0, 4)));
  }

  void send_orders() {
    Orders orders{.instance = "here",
                  .session = session_,
                  .term = term_,
                  .number = ++number_,
                  .report = seen_.number,
                  .lease = kLease,
                  .assignments = wanted_};
    for (const LaunchReport& launch : seen_.launches) {
      if (launch.state != LaunchState::Ended) continue;
      lease_losses_ += launch.end.kind == JobEnd::Kind::LeaseLost ? 1 : 0;
      orders.forget.push_back(launch.name);
    }
    if (seen_.number > 0) answered_ = std::max(answered_, seen_at_);
    orders_.push_back(std::move(orders));
  }

  template <class Message, class Take>
  void deliver_from(std::deque<Message>& queue, bool sound, Take take) {
    while (!queue.empty()) {
      const auto last = static_cast<std::int64_t>(queue.size()) - 1;
      const auto at = sound ? queue.begin() : queue.begin() + random_.between(0, last);
      const auto fate = sound ? 9 : random_.between(0, 9);
      if (fate == 0) return;  // it stays on its way
      const Message message = *at;
      if (fate != 1) queue.erase(at);
      if (fate != 2) take(message);
    }
  }
  void deliver(bool sound) {
    // Reports still go through now and then: cuts are seldom the same both ways.
    const bool cut = now_ < cut_until_;
    sound = sound && random_.between(0, 99) < 99;
    if (!cut || random_.between(0, 3) == 0) {
      deliver_reports(sound);
    }
    if (!cut) {
      deliver_from(orders_, sound, [&](const Orders& orders) { agent_->on_orders(orders, now_); });
    }
    processes_.advance(now_);
    agent_->on_process_change(now_);
  }
  void deliver_reports(bool sound) {
    deliver_from(reports_, sound, [&](const Report& report) {
      if (report.number <= seen_.number) return;
      seen_ = report;
      seen_at_ = now_;
    });
  }

  void check() {
    std::uint64_t alone = 0;
    std::uint64_t shared = 0;
    for (const Launch& launch : processes_.running()) {
      const LaunchName name = name_of(launch);
      const std::uint64_t gpus = gpus_of(launch, node_options().machine);
      EXPECT_EQ(gpus & alone, 0u) << text(name) << " has a GPU of another launch";
      if (!shares_[name]) {
        EXPECT_EQ(gpus & shared, 0u) << text(name);
      }
      (shares_[name] ? shared : alone) |= gpus;
      EXPECT_LT(now_, answered_ + timeout_[name] + grace_[name]) << text(name) << " runs too long";
    }
    for (const auto& [name, times] : processes_.starts()) EXPECT_EQ(times, 1) << text(name);
  }

  Random random_;
  Duration now_ = seconds(100);
  std::map<LaunchName, bool> shares_{};
  std::map<LaunchName, Duration> grace_{};
  std::map<LaunchName, Duration> timeout_{};
  FakeProcesses processes_{[this](const LaunchName&) { return script(); }};
  FakeProcesses::Script script() {
    return {.runs = random_.between(0, 1) == 0 ? Duration(random_.between(0, 9'000'000'000))
                                               : Duration::max(),
            .exit_code = static_cast<int>(random_.between(0, 1)),
            .leaves = Duration(random_.between(0, 6'000'000'000)),
            .deaf = random_.between(0, 4) == 0,
            .refused = random_.between(0, 9) == 0 ? "no" : ""};
  }
  std::optional<NodeAgent> agent_{};

  std::deque<Report> reports_{};
  std::deque<Orders> orders_{};
  std::vector<Assignment> wanted_{};
  std::int64_t epoch_ = 0;
  std::int64_t term_ = 1;
  std::int64_t session_ = 1;
  std::int64_t number_ = 0;
  Report seen_{};
  Duration seen_at_{};
  Duration cut_until_{};
  Duration answered_{};
  int lease_losses_ = 0;
};

TEST(NodeFaults, WhateverTheNetworkDoesNothingIsDoubledAndNothingOutlivesItsLease) {
  std::size_t starts = 0;
  int lease_losses = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    for (int i = 0; i < 300 && !testing::Test::HasFailure(); ++i) world.step();
    world.settle();
    starts += world.starts();
    lease_losses += world.lease_losses();
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  std::printf("%zu starts, %d ends by a lost lease\n", starts, lease_losses);
  EXPECT_GT(starts, 1000u);
  EXPECT_GT(lease_losses, 100);
}

}  // namespace
}  // namespace orrery
