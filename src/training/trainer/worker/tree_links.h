#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "training/trainer/worker/worker_context.h"

namespace orrery {

// The parent that a worker hands its gradients in at and gets parameters from, if it has one.
class ParentLink {
 public:
  struct Calls {
    std::function<void()> parameters_came{};
    std::function<void()> lost{};
    // What was handed in at a parent that is gone may be lost with it.
    std::function<void(const Gradient&)> gradient_lost{};
  };
  ParentLink(WorkerContext& worker, Calls calls) : worker_(worker), calls_(std::move(calls)) {}

  // An empty address: none. A parent that is not reached is asked for again by the same call.
  void follow(const std::string& address, std::uint16_t port);
  void follow_again() { follow(std::string(address_), port_); }
  bool wanted() const { return !address_.empty(); }
  bool connected() const { return parent_ != nullptr; }
  bool has_sent(std::int64_t task) const { return arrived_ == task; }
  void hand_in(const Gradient& gradient);
  void task_begins() { handed_in_.reset(); }
  void release_former();  // one that only holds what was handed in before

 private:
  void parameters_came(MessageFrame& frame);
  void closed(Connection& gone);

  WorkerContext& worker_;
  const Calls calls_;
  std::shared_ptr<Connection> parent_{};
  std::string address_{};
  std::uint16_t port_ = 0;
  std::int64_t arrived_ = 0;                 // the task whose parameters came last
  std::optional<Gradient> handed_in_{};      // since the last task,
  std::shared_ptr<Connection> handed_to_{};  // at a parent that may be the one before
};

// The workers that hand in at this one.
class ChildLinks {
 public:
  struct Calls {
    std::function<void(Connection&, MessageFrame&)> frame{};
    std::function<void()> lost{};
  };
  ChildLinks(WorkerContext& worker, Calls calls) : worker_(worker), calls_(std::move(calls)) {}

  // False: it is no worker, and is refused.
  bool welcome(const std::shared_ptr<Connection>& connection, const Hello& hello);
  Connection* find(WorkerId child) const;
  std::size_t count() const { return children_.size(); }

 private:
  WorkerContext& worker_;
  const Calls calls_;
  std::map<WorkerId, std::shared_ptr<Connection>> children_{};
};

}  // namespace orrery
