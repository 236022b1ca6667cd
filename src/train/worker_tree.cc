#include <algorithm>
#include <chrono>

#include "train/flat_math.h"
#include "train/worker.h"

namespace orrery {
namespace {

// How long a parent's own gradient waits for its children's, as a share of the time it took itself.
constexpr double kPatience = 0.25;

}  // namespace

void Worker::welcome_child(std::shared_ptr<Connection> connection, const Hello& hello) {
  if (hello.role != PartRole::Worker) {
    return connection->close({Code::PermissionDenied, "a worker talks to workers"});
  }
  const WorkerId child{hello.id};
  children_[child] = connection;
  connection->handle({.frame = [this](Connection& from, Frame& frame) { from_child(from, frame); },
                      .closed =
                          [this, child](Connection& gone, const Error&) {
                            const auto found = children_.find(child);
                            if (found != children_.end() && found->second.get() == &gone) {
                              children_.erase(found);
                            }
                            if (handing_in_ && from_children_.size() >= children_.size()) {
                              hand_in_merged();
                            }
                          },
                      .place = {}},
                     {.body = 4096, .floats = count_});
  const auto owed = std::move(owed_);
  owed_.clear();
  for (const auto& [task, worker] : owed) send_parameters_to_child(task, worker);
}

void Worker::from_child(Connection& from, Frame& frame) {
  GradientMessage message;
  if (frame.header.type != MessageType::Gradient) {
    return from.close(invalid("a child sends gradients"));
  }
  if (!take(from, frame, message)) return;
  if (ring_) {
    const PieceMessage facts = ring_->store().keep(frame.header.number, frame.floats);
    return part_->head->send(MessageType::Piece, frame.header.number, facts);
  }
  if (frame.floats.size() != count_) return from.close(invalid("a gradient of the wrong shape"));
  Handed handed{.gradient = message.gradient, .values = std::move(frame.floats)};
  handed.gradient.task = frame.header.number;
  // With a task under way it is merged into what comes of that, else it goes by itself.
  if (!task_ && !computing_ && !handing_in_) return forward(std::move(handed));
  from_children_.push_back(std::move(handed));
  if (handing_in_ && from_children_.size() >= children_.size()) hand_in_merged();
}

void Worker::follow_parent(const std::string& address, std::uint16_t port) {
  if (address == parent_address_ && port == parent_port_ && (parent_ || address.empty())) return;
  // The old one stays open while something lies there, so that its death is noticed.
  if (parent_ && parent_ != handed_to_) parent_->close_when_sent();
  parent_.reset();
  parent_address_ = address;
  parent_port_ = port;
  if (address.empty()) return;
  auto parent = reach(address, port, nullptr);
  // Without a parent it hands in at the shards; in a ring the head hears that it died.
  if (parent.ok()) parent_ = std::move(parent).value();
}

void Worker::hand_up(const Gradient& gradient) {
  handed_up_ = gradient;
  handed_to_ = parent_;
  send_gradient(*parent_, gradient, {learner_->gradient()}, nullptr);
}

// What was handed to it may be lost with it. At the shards it can be handed in again, and is passed
// over if it came through; in a ring it cannot, and another task will come.
void Worker::lost_parent() {
  handed_to_.reset();
  if (!handed_up_ || part_->over) return;
  const Gradient gradient = *std::exchange(handed_up_, std::nullopt);
  if (!ring_) return hand_in(gradient, learner_->gradient(), nullptr);
  part_->head->send(MessageType::Piece, gradient.task,
                    PieceMessage{.fault = "it went with its parent"});
}

void Worker::hand_in_when_complete(Gradient gradient, double took_s) {
  if (parent_) return hand_up(gradient);
  handing_in_ = std::move(gradient);
  if (from_children_.size() >= children_.size()) return hand_in_merged();
  patience_->expires_after(std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(took_s * kPatience)));
  patience_->async_wait([this, task = handing_in_->task](const boost::system::error_code& error) {
    if (!error && handing_in_ && handing_in_->task == task) hand_in_merged();
  });
}

// One gradient of all that are there: the mean over all their samples.
void Worker::hand_in_merged() {
  patience_->cancel();
  Gradient own = *std::move(handing_in_);
  handing_in_.reset();
  if (from_children_.empty()) return hand_in(own, learner_->gradient(), nullptr);
  double samples = own.samples;
  for (const Handed& handed : from_children_) samples += handed.gradient.samples;
  const auto mean = std::make_shared<std::vector<float>>(count_);
  add_weighted(*mean, own.samples / samples, learner_->gradient());
  double loss = own.loss * own.samples;
  for (const Handed& handed : from_children_) {
    const Gradient& child = handed.gradient;
    add_weighted(*mean, child.samples / samples, handed.values);
    loss += child.loss * child.samples;
    own.samples += child.samples;
    own.merged.push_back(child.task);
  }
  own.loss = loss / samples;
  from_children_.clear();
  hand_in(own, *mean, mean);
}

void Worker::forward(Handed handed) {
  const auto keep = std::make_shared<std::vector<float>>(std::move(handed.values));
  hand_in(handed.gradient, *keep, keep);
}

}  // namespace orrery
