#include <algorithm>
#include <chrono>

#include "training/trainer/shard/flat_math.h"
#include "training/trainer/worker/worker.h"

namespace orrery {
namespace {

// How long a parent's own gradient waits for its children's where not everybody waits for all, as a
// share of the time its task took.
constexpr double kPatience = 0.25;

}  // namespace

void Worker::welcome_child(const std::shared_ptr<Connection>& connection, const Hello& hello) {
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
  if (!ring_) return serve_children();
  const auto owed = std::move(owed_);
  owed_.clear();
  for (const OwedParameters& one : owed) send_parameters_to_child(one.task, one.child);
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
  HandedGradient handed{.gradient = message.gradient, .values = std::move(frame.floats)};
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

// With a task, so that what is under way ends as it began: where the Conductor expects it.
void Worker::enter_tree() {
  if (next_tree_) waits_for_children_ = next_tree_->waits;
  // The same again if it was not reached.
  const ParentMessage above = std::exchange(next_tree_, std::nullopt)
                                  .value_or(ParentMessage{parent_address_, parent_port_});
  follow_parent(above.address, above.port);
  if (!parent_address_.empty() && !parent_) ask_for_parameters();
  note_parameters();
}

// Of which version flat_ is now that something has come.
void Worker::note_parameters() {
  if (ring_ || !task_ || flat_version_ >= 0) return;
  const bool whole =
      arrived_from_parent_ == task_->number ||
      std::ranges::all_of(arrived_, [this](std::int64_t task) { return task == task_->number; });
  if (!whole) return;
  flat_version_ = task_->version;
  serve_children();
}

// What a parent has got it hands on, as soon as it is there; what it will not get any more, it
// leaves to the shards.
void Worker::serve_children() {
  std::erase_if(owed_, [this](const OwedParameters& owed) {
    const ParameterVersion newest =
        std::max<ParameterVersion>(flat_version_, task_ ? task_->version : -1);
    if (newest > owed.version) {
      part_->head->send(MessageType::SendParameters, owed.task,
                        SendParametersMessage{.worker = owed.child});
      return true;
    }
    const auto found = children_.find(owed.child);
    if (flat_version_ != owed.version || found == children_.end()) return false;
    if (!handed_on_) handed_on_ = std::make_shared<const std::vector<float>>(flat_);
    found->second->send(MessageType::Parameters, owed.task, Nothing{},
                        {.floats = {*handed_on_}, .keep = handed_on_, .sent = {}});
    return true;
  });
}

void Worker::ask_for_parameters() {
  part_->head->send(MessageType::SendParameters, task_->number,
                    SendParametersMessage{.worker = task_->worker});
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
  if (parent_) {
    // It was a parent itself until now.
    for (HandedGradient& handed : std::exchange(from_children_, {})) forward(std::move(handed));
    return hand_up(gradient);
  }
  handing_in_ = std::move(gradient);
  if (from_children_.size() >= children_.size()) return hand_in_merged();
  if (waits_for_children_) return;
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
  for (const HandedGradient& handed : from_children_) samples += handed.gradient.samples;
  const auto mean = std::make_shared<std::vector<float>>(count_);
  add_weighted(*mean, own.samples / samples, learner_->gradient());
  double loss = own.loss * own.samples;
  for (const HandedGradient& handed : from_children_) {
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

void Worker::forward(HandedGradient handed) {
  const auto keep = std::make_shared<std::vector<float>>(std::move(handed.values));
  hand_in(handed.gradient, *keep, keep);
}

}  // namespace orrery
