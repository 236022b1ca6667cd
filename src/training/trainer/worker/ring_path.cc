// All-reduce: a member of the ring holds the parameters and sums gradients with the others. Other
// workers hang off a member as its children.
#include <algorithm>
#include <utility>
#include <vector>

#include "training/trainer/worker/gradient_path.h"
#include "training/trainer/worker/ring_member.h"
#include "training/trainer/worker/tree_links.h"

namespace orrery {
namespace {

class RingPath final : public GradientPath {
 public:
  RingPath(WorkerContext& worker, const PartSetup& setup);

  void act(MessageFrame& frame) override;
  Status meet(const PeersMessage& /*peers*/) override { return {}; }
  void welcome_child(const std::shared_ptr<Connection>& connection, const Hello& hello) override;
  bool has_children() const override { return children_.count() > 0; }

  void task_begins() override {
    parent_.task_begins();
    parent_.release_former();
  }
  bool has_parameters(const Task& task) const override {
    return member_.in_ring() || parent_.has_sent(task.number);
  }
  std::span<const float> parameters() override {
    return member_.in_ring() ? std::span<const float>(*member_.store().parameters())
                             : worker_.incoming.values();
  }
  void hand_in(Gradient gradient, double took_s) override;
  bool handing_in() const override { return false; }

 private:
  void form(MessageFrame& frame);
  void apply(MessageFrame& frame);
  void send_parameters(std::int64_t task, WorkerId child);
  void show_link(MessageFrame& frame);
  void send_snapshot(MessageFrame& frame);
  void load_state(MessageFrame& frame);
  void from_child(Connection& from, MessageFrame& frame);
  void report_piece(std::int64_t task, const PieceMessage& piece) {
    worker_.part->head->send(MessageType::Piece, task, piece);
  }

  WorkerContext& worker_;
  RingMember member_;
  ParentLink parent_;
  ChildLinks children_;
  std::vector<PendingParameters> pending_{};  // for children that have not connected yet
};

RingPath::RingPath(WorkerContext& worker, const PartSetup& setup)
    : worker_(worker),
      member_(
          setup, worker.ports,
          RingMember::Home{.address = worker.host->address(), .device = worker.learner->device()},
          worker.incoming.values()),
      parent_(worker, {.parameters_came = [] {},
                       .lost = [] {},
                       // It cannot be handed in again; another task will come.
                       .gradient_lost =
                           [this](const Gradient& gradient) {
                             report_piece(gradient.task, {.fault = "it went with its parent"});
                           }}),
      children_(worker, {.frame = [this](Connection& from,
                                         MessageFrame& frame) { from_child(from, frame); },
                         .lost = [] {}}) {}

void RingPath::act(MessageFrame& frame) {
  switch (frame.header.type) {
    case MessageType::FormRing:
      return form(frame);
    case MessageType::Apply:
      return apply(frame);
    case MessageType::SendParameters: {
      SendParametersMessage message;
      if (!take(*worker_.part->head, frame, message)) return;
      return send_parameters(frame.header.number, message.worker);
    }
    case MessageType::ProbeLink:
      return show_link(frame);
    case MessageType::Drop:
      return member_.store().drop(frame.header.number);
    case MessageType::TakeSnapshot:
      return send_snapshot(frame);
    case MessageType::LoadState:
      return load_state(frame);
    default:
      return worker_.part->fail(invalid("the head asked a ring member for what it does not do"));
  }
}

void RingPath::form(MessageFrame& frame) {
  RingPlace place;
  if (!take(*worker_.part->head, frame, place)) return;
  const Status formed = member_.form(place);
  parent_.follow(place.parent_address, place.parent_port);
  worker_.part->head->send(
      MessageType::RingFormed, frame.header.number,
      RingFormedMessage{.ok = formed.ok(), .error = formed.ok() ? "" : formed.error().message});
}

void RingPath::apply(MessageFrame& frame) {
  ApplyMessage message;
  if (!take(*worker_.part->head, frame, message)) return;
  auto done = member_.apply(message);
  AppliedMessage answer;
  if (done.ok()) {
    answer.fresh_mean_norm2 = done.value();
  } else {
    answer = {.ok = false, .error = done.error().message};
  }
  worker_.part->head->send(MessageType::Applied, frame.header.number, answer);
}

void RingPath::welcome_child(const std::shared_ptr<Connection>& connection, const Hello& hello) {
  if (!children_.welcome(connection, hello)) return;
  for (const PendingParameters& one : std::exchange(pending_, {})) {
    send_parameters(one.task, one.child);
  }
}

void RingPath::send_parameters(std::int64_t task, WorkerId child) {
  Connection* const found = children_.find(child);
  if (found == nullptr) {
    pending_.push_back({.task = task, .child = child});
    return;
  }
  const auto parameters = member_.store().parameters();
  found->send(MessageType::Parameters, task, Nothing{},
              {.floats = {*parameters}, .keep = parameters, .sent = {}});
}

void RingPath::from_child(Connection& from, MessageFrame& frame) {
  GradientMessage message;
  if (frame.header.type != MessageType::Gradient) {
    return from.close(invalid("a child sends gradients"));
  }
  if (!take(from, frame, message)) return;
  report_piece(frame.header.number, member_.store().keep(frame.header.number, frame.floats));
}

// Nothing is computed while it is on its way, or a busy thread would look like a slow link.
void RingPath::show_link(MessageFrame& frame) {
  CountMessage message;
  if (!take(*worker_.part->head, frame, message)) return;
  constexpr std::int32_t kMost = 1 << 20;
  const auto sent = std::make_shared<const std::vector<float>>(
      static_cast<std::size_t>(std::clamp(message.count, 1, kMost)));
  ++worker_.sends_under_way;
  worker_.part->head->send(
      MessageType::LinkProbe, frame.header.number, Nothing{},
      {.floats = {*sent}, .keep = sent, .sent = [this] { --worker_.sends_under_way; }});
}

void RingPath::send_snapshot(MessageFrame& frame) {
  SnapshotMessage message;
  if (!take(*worker_.part->head, frame, message)) return;
  ShardStore& store = member_.store();
  message.version = store.version();
  message.batches = store.optimizer().batches();
  message.hash = store.hash();
  if (!message.floats) {
    return worker_.part->head->send(MessageType::Snapshot, frame.header.number, message);
  }
  const auto parameters = store.parameters();
  const auto state = store.optimizer().state();
  auto all = std::make_shared<std::vector<float>>(*parameters);
  if (message.optimizer) all->insert(all->end(), state.begin(), state.end());
  worker_.part->head->send(MessageType::Snapshot, frame.header.number, message,
                           {.floats = {*all}, .keep = all, .sent = {}});
}

void RingPath::load_state(MessageFrame& frame) {
  SnapshotMessage state;
  if (!take(*worker_.part->head, frame, state)) return;
  const auto loaded = member_.store().load(frame.floats, state.batches, state.version);
  if (!loaded.ok()) worker_.part->fail(loaded.error());
}

void RingPath::hand_in(Gradient gradient, double /*took_s*/) {
  if (member_.in_ring()) {
    auto values = worker_.part->transport->pool.take(worker_.count());
    std::ranges::copy(worker_.learner->gradient(), values.begin());
    report_piece(gradient.task, member_.store().keep(gradient.task, values));
  } else if (parent_.connected()) {
    parent_.hand_in(gradient);
  } else {
    report_piece(gradient.task, {.fault = "no parent"});
  }
  worker_.part->head->send(MessageType::GradientDone, gradient.task, GradientMessage{gradient});
}

}  // namespace

std::unique_ptr<GradientPath> make_ring_path(WorkerContext& worker, const PartSetup& setup) {
  return std::make_unique<RingPath>(worker, setup);
}

}  // namespace orrery
