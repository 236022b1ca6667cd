#include "commands/programs/local_link.h"

#include <mutex>
#include <utility>

namespace orrery {
namespace {

// Outlives the agent in the scheduler's hands, and is silent then.
class ToAgent final : public AgentLink {
 public:
  explicit ToAgent(OnOrders on_orders) : on_orders_(std::move(on_orders)) {}

  void send(Orders orders) override {
    const std::lock_guard lock(mutex_);
    if (on_orders_) on_orders_(std::move(orders));
  }
  void close() override {
    const std::lock_guard lock(mutex_);
    on_orders_ = {};
  }

 private:
  std::mutex mutex_;
  OnOrders on_orders_;
};

class LocalLink final : public SchedulerLink {
 public:
  LocalLink(AgentHost& host, const std::string& node, OnOrders on_orders)
      : host_(host), to_agent_(std::make_shared<ToAgent>(std::move(on_orders))) {
    connection_ = host_.connected({.role = Caller::Role::Agent, .name = node}, to_agent_);
  }
  ~LocalLink() override {
    to_agent_->close();
    host_.gone(connection_);
  }

  void send(Report report) override { host_.reported(connection_, std::move(report)); }

 private:
  AgentHost& host_;
  std::shared_ptr<ToAgent> to_agent_;
  std::int64_t connection_ = 0;
};

}  // namespace

std::unique_ptr<SchedulerLink> link_locally(AgentHost& host, const std::string& node,
                                            OnOrders on_orders) {
  return std::make_unique<LocalLink>(host, node, std::move(on_orders));
}

}  // namespace orrery
