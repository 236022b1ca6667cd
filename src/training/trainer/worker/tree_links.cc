#include "training/trainer/worker/tree_links.h"

#include <utility>

namespace orrery {

void ParentLink::follow(const std::string& address, std::uint16_t port) {
  if (address == address_ && port == port_ && (parent_ || address.empty())) return;
  // The former one stays open while it holds a gradient, so that its death is noticed.
  if (parent_ && parent_ != handed_to_) parent_->close_when_sent();
  parent_.reset();
  address_ = address;
  port_ = port;
  if (address_.empty()) return;
  const std::uint64_t floats = worker_.count();
  auto parent = worker_.connect(
      address_, port_,
      {.frame = [this](Connection&, MessageFrame& got) { parameters_came(got); },
       .closed = [this](Connection& gone, const Error&) { closed(gone); },
       .place = [this, floats](const FrameHeader& header) -> std::vector<std::span<float>> {
         if (header.floats != floats) return {};
         return worker_.incoming.overwrite(nullptr);
       }},
      floats);
  // A worker without a parent hands in at the shards; in a ring the head hears that it died.
  if (parent.ok()) parent_ = std::move(parent).value();
}

void ParentLink::parameters_came(MessageFrame& frame) {
  if (frame.header.type != MessageType::Parameters || !frame.floats.empty()) {
    return worker_.part->fail(invalid("parameters of the wrong shape"));
  }
  arrived_ = frame.header.number;
  calls_.parameters_came();
}

void ParentLink::hand_in(const Gradient& gradient) {
  handed_in_ = gradient;
  handed_to_ = parent_;
  worker_.send_gradient(*parent_, gradient, {worker_.learner->gradient()}, nullptr);
}

void ParentLink::release_former() {
  if (handed_to_ && handed_to_ != parent_) handed_to_->close_when_sent();
  handed_to_.reset();
}

void ParentLink::closed(Connection& gone) {
  const bool held_gradient = handed_to_.get() == &gone;
  if (parent_.get() == &gone) {
    parent_.reset();
    calls_.lost();
  }
  if (!held_gradient) return;
  handed_to_.reset();
  if (!handed_in_ || worker_.part->over) return;
  calls_.gradient_lost(*std::exchange(handed_in_, std::nullopt));
}

bool ChildLinks::welcome(const std::shared_ptr<Connection>& connection, const Hello& hello) {
  if (hello.role != PartRole::Worker) {
    connection->close({Code::PermissionDenied, "a worker talks to workers"});
    return false;
  }
  const WorkerId child{hello.id};
  children_[child] = connection;
  connection->handle({.frame = calls_.frame,
                      .closed =
                          [this, child](Connection& gone, const Error&) {
                            const auto found = children_.find(child);
                            if (found != children_.end() && found->second.get() == &gone) {
                              children_.erase(found);
                            }
                            calls_.lost();
                          },
                      .place = {}},
                     {.body = 4096, .floats = worker_.count()});
  return true;
}

Connection* ChildLinks::find(WorkerId child) const {
  const auto found = children_.find(child);
  return found == children_.end() ? nullptr : found->second.get();
}

}  // namespace orrery
