#include "agent_fleet.h"

#include <chrono>
#include <string>
#include <utility>

#include "base/random.h"
#include "live/agent/fake_processes.h"
#include "live/agent/node_agent.h"

namespace orrery {
namespace {

constexpr int kGpus = 8;
constexpr Duration kStep = std::chrono::milliseconds(10);

}  // namespace

struct AgentFleet::Member {
  Member(const std::string& name, FakeProcesses::ScriptOf script)
      : processes(std::move(script)),
        agent({.instance = "instance of " + name,
               .name = name,
               .address = name,
               .machine = {.gpus = declared_gpus(kGpus)}},
              processes, boot_time()) {}

  FakeProcesses processes;
  NodeAgent agent;
  std::int64_t connection = 0;
  Duration due{};
};

class AgentFleet::Link final : public AgentLink {
 public:
  Link(AgentFleet& fleet, std::size_t member) : fleet_(fleet), member_(member) {}

  void send(Orders orders) override {
    const std::lock_guard lock(fleet_.mutex_);
    fleet_.inbox_.emplace_back(member_, std::move(orders));
  }
  void close() override {}

 private:
  AgentFleet& fleet_;
  std::size_t member_;
};

AgentFleet::AgentFleet(AgentHost& host, int agents, Duration job_least, Duration job_most)
    : host_(host) {
  const auto script = [=](const LaunchName& name) {
    Random random(static_cast<std::uint64_t>(name.job));
    return FakeProcesses::Script{.runs =
                                     Duration(random.between(job_least.count(), job_most.count()))};
  };
  for (int i = 0; i < agents; ++i) {
    const std::string name = "node" + std::to_string(i);
    members_.push_back(std::make_unique<Member>(name, script));
    members_.back()->connection =
        host_.connected({.role = Caller::Role::Agent, .name = name},
                        std::make_shared<Link>(*this, static_cast<std::size_t>(i)));
  }
  thread_ = std::thread([this] { run(); });
}

AgentFleet::~AgentFleet() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void AgentFleet::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const auto orders = std::exchange(inbox_, {});
    lock.unlock();
    const Duration now = boot_time();
    for (const auto& [member, newest] : orders) {
      members_[member]->agent.on_orders(newest, now);
      members_[member]->due = now;
    }
    for (const auto& member : members_) {
      member->processes.advance(now);
      if (!member->processes.running().empty() || member->due <= now) {
        member->agent.tick(now);
        if (auto report = member->agent.next_report(now)) {
          host_.reported(member->connection, std::move(*report));
        }
        member->due = member->agent.next_due(now);
      }
    }
    lock.lock();
    wake_.wait_for(lock, kStep, [&] { return ending_; });
  }
}

}  // namespace orrery
