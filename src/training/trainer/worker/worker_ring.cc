#include <algorithm>

#include "training/trainer/worker/worker.h"

namespace orrery {

void Worker::act_in_ring(Frame& frame) {
  switch (frame.header.type) {
    case MessageType::FormRing:
      return form_ring(frame);
    case MessageType::Apply:
      return apply_in_ring(frame);
    case MessageType::SendParameters: {
      SendParametersMessage message;
      if (!take(*part_->head, frame, message)) return;
      return send_parameters_to_child(frame.header.number, message.worker);
    }
    case MessageType::ProbeLink:
      return show_link(frame);
    case MessageType::Drop:
      return ring_->store().drop(frame.header.number);
    case MessageType::TakeSnapshot:
      return send_snapshot(frame);
    case MessageType::LoadState: {
      SnapshotMessage state;
      if (!take(*part_->head, frame, state)) return;
      auto loaded = ring_->store().load(frame.floats, state.batches, state.version);
      if (!loaded.ok()) part_->fail(loaded.error());
      return;
    }
    default:
      return part_->fail(invalid("the head asked a ring member for what it does not do"));
  }
}

void Worker::form_ring(Frame& frame) {
  RingPlace place;
  if (!take(*part_->head, frame, place)) return;
  const Status formed = ring_->form(place);
  follow_parent(place.parent_address, place.parent_port);
  part_->head->send(
      MessageType::RingFormed, frame.header.number,
      RingFormedMessage{.ok = formed.ok(), .error = formed.ok() ? "" : formed.error().message});
}

void Worker::apply_in_ring(Frame& frame) {
  ApplyMessage message;
  if (!take(*part_->head, frame, message)) return;
  auto done = ring_->apply(message);
  AppliedMessage answer;
  if (done.ok()) {
    answer.fresh_mean_norm2 = done.value();
  } else {
    answer = {.ok = false, .error = done.error().message};
  }
  part_->head->send(MessageType::Applied, frame.header.number, answer);
}

void Worker::send_parameters_to_child(std::int64_t task, WorkerId child) {
  const auto found = children_.find(child);
  if (found == children_.end()) {
    owed_.push_back({.task = task, .child = child});
    return;
  }
  const auto parameters = ring_->store().parameters();
  found->second->send(MessageType::Parameters, task, Nothing{},
                      {.floats = {*parameters}, .keep = parameters, .sent = {}});
}

// Nothing is computed while it is on its way, or a busy thread would look like a slow link.
void Worker::show_link(Frame& frame) {
  CountMessage message;
  if (!take(*part_->head, frame, message)) return;
  constexpr std::int32_t kMost = 1 << 20;
  const auto sent = std::make_shared<const std::vector<float>>(
      static_cast<std::size_t>(std::clamp(message.count, 1, kMost)));
  ++sends_under_way_;
  part_->head->send(MessageType::LinkProbe, frame.header.number, Nothing{},
                    {.floats = {*sent}, .keep = sent, .sent = [this] { --sends_under_way_; }});
}

void Worker::send_snapshot(Frame& frame) {
  SnapshotMessage message;
  if (!take(*part_->head, frame, message)) return;
  ShardStore& store = ring_->store();
  message.version = store.version();
  message.batches = store.optimizer().batches();
  message.hash = store.hash();
  if (!message.floats) {
    return part_->head->send(MessageType::Snapshot, frame.header.number, message);
  }
  const auto parameters = store.parameters();
  const auto state = store.optimizer().state();
  auto all = std::make_shared<std::vector<float>>(*parameters);
  if (message.optimizer) all->insert(all->end(), state.begin(), state.end());
  part_->head->send(MessageType::Snapshot, frame.header.number, message,
                    {.floats = {*all}, .keep = all, .sent = {}});
}

void Worker::hand_in_to_ring(const Gradient& gradient) {
  if (!ring_->in_ring()) {
    if (parent_) {
      hand_up(gradient);
    } else {
      part_->head->send(MessageType::Piece, gradient.task, PieceMessage{.fault = "no parent"});
    }
    return part_->head->send(MessageType::GradientDone, gradient.task, GradientMessage{gradient});
  }
  auto values = part_->transport->pool.take(count_);
  std::ranges::copy(learner_->gradient(), values.begin());
  const PieceMessage facts = ring_->store().keep(gradient.task, values);
  part_->head->send(MessageType::Piece, gradient.task, facts);
  part_->head->send(MessageType::GradientDone, gradient.task, GradientMessage{gradient});
}

}  // namespace orrery
