// Parameter servers. With a tree, a worker may hand in at a parent in place of the shards, and be
// the parent of others.
#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <utility>
#include <vector>

#include "training/trainer/shard/flat_math.h"
#include "training/trainer/worker/gradient_path.h"
#include "training/trainer/worker/shard_links.h"
#include "training/trainer/worker/tree_links.h"

namespace orrery {
namespace {

// How long a parent's own gradient waits for its children's in a mode that does not wait for all,
// as a share of the time its task took.
constexpr double kPatience = 0.25;

class TreePath final : public GradientPath {
 public:
  explicit TreePath(WorkerContext& worker);

  void act(MessageFrame& frame) override;
  Status meet(const PeersMessage& peers) override { return shards_.connect(peers); }
  void welcome_child(const std::shared_ptr<Connection>& connection, const Hello& hello) override {
    if (children_.welcome(connection, hello)) serve_children();
  }
  bool has_children() const override { return children_.count() > 0; }

  void task_begins() override;
  bool has_parameters(const Task& task) const override {
    return parent_.has_sent(task.number) || shards_.have_sent(task.number);
  }
  std::span<const float> parameters() override { return worker_.incoming.values(); }
  void hand_in(Gradient gradient, double took_s) override;
  bool handing_in() const override { return own_.has_value(); }

 private:
  // A child's gradient, until it is handed in.
  struct ChildGradient {
    Gradient gradient{};
    std::vector<float> values{};
  };

  void note_parameters();
  void serve_children();
  void ask_for_parameters();
  void from_child(Connection& from, MessageFrame& frame);
  void hand_in_if_complete();
  void hand_in_merged();
  void forward(ChildGradient child);

  WorkerContext& worker_;
  ShardLinks shards_;
  ParentLink parent_;
  ChildLinks children_;
  std::optional<ParentMessage> next_{};  // the place in the tree from the next task on
  bool waits_for_children_ = false;
  std::vector<PendingParameters> pending_{};  // for children
  std::deque<ChildGradient> from_children_{};
  std::optional<Gradient> own_{};  // it waits for the children's
  boost::asio::steady_timer patience_;
};

TreePath::TreePath(WorkerContext& worker)
    : worker_(worker),
      shards_(worker, [this] { note_parameters(); }),
      parent_(worker,
              {.parameters_came = [this] { note_parameters(); },
               .lost =
                   [this] {
                     if (worker_.task && !parent_.has_sent(worker_.task->number)) {
                       ask_for_parameters();
                     }
                   },
               // At the shards it can be handed in again, and is ignored if it came through.
               .gradient_lost =
                   [this](const Gradient& gradient) {
                     shards_.hand_in(gradient, worker_.learner->gradient(), nullptr);
                   }}),
      children_(worker, {.frame = [this](Connection& from,
                                         MessageFrame& frame) { from_child(from, frame); },
                         .lost = [this] { hand_in_if_complete(); }}),
      patience_(worker.part->io) {}

void TreePath::act(MessageFrame& frame) {
  if (frame.header.type == MessageType::FormTree) {
    ParentMessage message;
    if (!take(*worker_.part->head, frame, message)) return;
    next_ = message;
    // No update waits for all any more, so a child that hangs does not hold up its parent either.
    if (own_ && !message.waits) hand_in_merged();
  } else if (frame.header.type == MessageType::SendParameters) {
    SendParametersMessage message;
    if (!take(*worker_.part->head, frame, message)) return;
    pending_.push_back({frame.header.number, message.worker, message.version});
    serve_children();
  } else {
    worker_.part->fail(invalid("the head asked a worker for what it does not do"));
  }
}

// The place in the tree changes with a task, so that what is under way ends as it began: where the
// Conductor expects it.
void TreePath::task_begins() {
  parent_.task_begins();
  if (const auto next = std::exchange(next_, std::nullopt)) {
    waits_for_children_ = next->waits;
    parent_.follow(next->address, next->port);
  } else {
    parent_.follow_again();
  }
  if (parent_.wanted() && !parent_.connected()) ask_for_parameters();
  note_parameters();
  parent_.release_former();
}

// Notes which version the parameters are of, now that some have come.
void TreePath::note_parameters() {
  const std::optional<Task>& task = worker_.task;
  if (!task || worker_.incoming.is_complete() || !has_parameters(*task)) return;
  worker_.incoming.complete(task->version);
  serve_children();
}

// A parent passes parameters on as soon as it has them. Those that it will not get any more, it
// leaves to the shards.
void TreePath::serve_children() {
  std::erase_if(pending_, [this](const PendingParameters& pending) {
    const ParameterVersion held = worker_.incoming.version();
    const ParameterVersion newest =
        std::max<ParameterVersion>(held, worker_.task ? worker_.task->version : -1);
    if (newest > pending.version) {
      worker_.part->head->send(MessageType::SendParameters, pending.task,
                               SendParametersMessage{.worker = pending.child});
      return true;
    }
    Connection* const child = children_.find(pending.child);
    if (held != pending.version || child == nullptr) return false;
    const auto values = worker_.incoming.copy();
    child->send(MessageType::Parameters, pending.task, Nothing{},
                {.floats = {*values}, .keep = values, .sent = {}});
    return true;
  });
}

void TreePath::ask_for_parameters() {
  worker_.part->head->send(MessageType::SendParameters, worker_.task->number,
                           SendParametersMessage{.worker = worker_.task->worker});
}

void TreePath::from_child(Connection& from, MessageFrame& frame) {
  GradientMessage message;
  if (frame.header.type != MessageType::Gradient) {
    return from.close(invalid("a child sends gradients"));
  }
  if (!take(from, frame, message)) return;
  if (frame.floats.size() != worker_.count()) {
    return from.close(invalid("a gradient of the wrong shape"));
  }
  ChildGradient child{.gradient = message.gradient, .values = std::move(frame.floats)};
  child.gradient.task = frame.header.number;
  // With a task under way it is merged into what comes of that, else it goes by itself.
  if (!worker_.task && !worker_.computing && !own_) return forward(std::move(child));
  from_children_.push_back(std::move(child));
  hand_in_if_complete();
}

void TreePath::hand_in(Gradient gradient, double took_s) {
  if (parent_.connected()) {
    // It was a parent itself until now.
    for (ChildGradient& child : std::exchange(from_children_, {})) forward(std::move(child));
    return parent_.hand_in(gradient);
  }
  own_ = std::move(gradient);
  hand_in_if_complete();
  if (!own_ || waits_for_children_) return;
  patience_.expires_after(std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(took_s * kPatience)));
  patience_.async_wait([this, task = own_->task](const boost::system::error_code& error) {
    if (!error && own_ && own_->task == task) hand_in_merged();
  });
}

void TreePath::hand_in_if_complete() {
  if (own_ && from_children_.size() >= children_.count()) hand_in_merged();
}

// One gradient of all that are there: the mean over all their samples.
void TreePath::hand_in_merged() {
  patience_.cancel();
  Gradient own = *std::exchange(own_, std::nullopt);
  if (from_children_.empty()) return shards_.hand_in(own, worker_.learner->gradient(), nullptr);
  double samples = own.samples;
  for (const ChildGradient& child : from_children_) samples += child.gradient.samples;
  const auto mean = std::make_shared<std::vector<float>>(worker_.count());
  add_weighted(*mean, own.samples / samples, worker_.learner->gradient());
  double loss = own.loss * own.samples;
  for (const ChildGradient& child : from_children_) {
    const Gradient& merged = child.gradient;
    add_weighted(*mean, merged.samples / samples, child.values);
    loss += merged.loss * merged.samples;
    own.samples += merged.samples;
    own.merged.push_back(merged.task);
  }
  own.loss = loss / samples;
  from_children_.clear();
  shards_.hand_in(own, *mean, mean);
}

void TreePath::forward(ChildGradient child) {
  const auto keep = std::make_shared<std::vector<float>>(std::move(child.values));
  shards_.hand_in(child.gradient, *keep, keep);
}

}  // namespace

std::unique_ptr<GradientPath> make_tree_path(WorkerContext& worker) {
  return std::make_unique<TreePath>(worker);
}

}  // namespace orrery
