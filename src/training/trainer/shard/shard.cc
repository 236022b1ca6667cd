#include <fmt/format.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "training/trainer/lease/head_place.h"
#include "training/trainer/shard/shard_store.h"
#include "training/trainer/transport/addresses.h"
#include "training/trainer/transport/crc32c.h"
#include "training/trainer/transport/host.h"
#include "training/trainer/transport/part.h"
#include "training/trainer/transport/setup.h"

namespace orrery {
namespace {

// Holds parameters, and does what the head says with the gradients that workers send.
class Shard {
 public:
  // Under one head. The parameters, and gradients that wait for an update, stay for the next one.
  Status run(const PartStart& start) {
    auto part = Part::connect(start, [this](MessageFrame& frame) { from_head(frame); });
    if (!part.ok()) return std::move(part).error();
    part_ = std::move(part).value();
    part_->run();
    const Status end = std::move(part_->end);
    leave();
    return end;
  }

 private:
  void leave() {
    workers_.clear();
    forget_tasks();
    host_.reset();
    part_.reset();
  }

  void forget_tasks() {
    expected_.clear();
    early_.clear();
    pending_.clear();
  }

  void from_head(MessageFrame& frame) {
    if (part_->common(frame)) return;
    if (frame.header.type == MessageType::Setup) return set_up(frame);
    if (!store_) return part_->fail(invalid("a shard is set up first"));
    switch (frame.header.type) {
      case MessageType::LoadState:
        return load(frame);
      case MessageType::Apply:
        return apply(frame);
      case MessageType::SendParameters:
        return send_parameters(frame);
      case MessageType::Drop:
        expected_.erase(frame.header.number);
        std::erase_if(pending_, [&frame](const auto& pending) {
          return pending.second.task == frame.header.number;
        });
        return store_->drop(frame.header.number);
      case MessageType::TakeSnapshot:
        return send_snapshot(frame);
      case MessageType::Validation:
        if (auto kept = store_->set_validation(std::move(frame.floats)); !kept.ok()) {
          part_->fail(kept.error());
        }
        return;
      default:
        return part_->fail(invalid("the head asked a shard for what it does not do"));
    }
  }

  void set_up(MessageFrame& frame) {
    Text text;
    if (!take(*part_->head, frame, text)) return;
    auto setup = parse_setup(text.text);
    if (!setup.ok()) return part_->fail(setup.error());
    const auto count = static_cast<std::size_t>(setup.value().parameters);
    if (!loaded_ || count != count_) {
      store_.emplace(count, setup.value().optimizer);
      loaded_ = false;
    }
    count_ = count;
    const std::size_t state = count * FlatOptimizer::state_per_parameter(setup.value().optimizer);
    part_->limit({.floats = count + state});
    const std::string listen =
        part_->start.listen.empty()
            ? joiner_listens(part_->head->own_address(), setup.value().head_listens)
            : part_->start.listen;
    auto host = Host::open(
        part_->io, listen, part_->transport,
        [this](auto connection, const Hello& hello) { welcome(std::move(connection), hello); });
    if (!host.ok()) return part_->fail(host.error());
    host_ = std::move(host).value();
    part_->head->send(MessageType::Ready, 0,
                      ReadyMessage{.address = host_->address(),
                                   .port = host_->port(),
                                   .held = {.version = loaded_ ? store_->version() : -1,
                                            .updates = {updates_.begin(), updates_.end()}}});
  }

  void load(MessageFrame& frame) {
    SnapshotMessage state;
    if (!take(*part_->head, frame, state)) return;
    if (!state.floats) return go_on(state.version, frame.header.number);
    updates_.clear();
    update_bytes_ = 0;
    loaded_ = true;
    if (auto done = store_->load(frame.floats, state.batches, state.version); !done.ok()) {
      part_->fail(done.error());
    }
  }

  // Another head goes on from what is here. Tasks up to `last_task` are those of earlier heads.
  void go_on(ParameterVersion version, std::int64_t last_task) {
    if (version != store_->version()) {
      return part_->fail(invalid("the head goes on from another version"));
    }
    forget_tasks();
    store_->drop_all();
    heard_of_ = std::max(heard_of_, last_task);
  }

  void apply(MessageFrame& frame) {
    ApplyMessage message;
    if (!take(*part_->head, frame, message)) return;
    auto done = store_->apply(message);
    if (!done.ok()) return part_->fail(done.error());
    if (!message.state.empty()) keep_update(frame.body);
    part_->head->send(MessageType::Applied, frame.header.number,
                      AppliedMessage{.fresh_mean_norm2 = done.value()});
  }

  // As many as another shard may be behind when a head is lost.
  void keep_update(const std::vector<std::byte>& body) {
    constexpr std::size_t kUpdatesMost = 64, kBytesMost = std::size_t{1} << 19;
    updates_.emplace_back(reinterpret_cast<const char*>(body.data()), body.size());
    update_bytes_ += body.size();
    while (updates_.size() > 1 && (updates_.size() > kUpdatesMost || update_bytes_ > kBytesMost)) {
      update_bytes_ -= updates_.front().size();
      updates_.pop_front();
    }
  }

  void send_parameters(MessageFrame& frame) {
    SendParametersMessage message;
    if (!take(*part_->head, frame, message)) return;
    expected_.insert(frame.header.number);
    heard_of_ = std::max(heard_of_, frame.header.number);
    if (const auto early = early_.find(frame.header.number); early != early_.end()) {
      std::vector<float> values = std::move(early->second);
      early_.erase(early);
      gradient_came(frame.header.number, values);
    }
    if (!message.send) return;
    const Pending pending{.task = frame.header.number, .parameters = store_->parameters()};
    const auto found = workers_.find(message.worker);
    // The head may be quicker than a worker's hello; or it died, and the task will be dropped.
    if (found == workers_.end()) {
      pending_[message.worker] = pending;
    } else {
      send_parameters(*found->second, pending);
    }
  }

  struct Pending {
    std::int64_t task = 0;
    ShardStore::Shared parameters{};
  };
  static void send_parameters(Connection& worker, const Pending& pending) {
    worker.send(MessageType::Parameters, pending.task, Nothing{},
                {.floats = {*pending.parameters}, .keep = pending.parameters, .sent = {}});
  }

  void send_snapshot(MessageFrame& frame) {
    SnapshotMessage message;
    if (!take(*part_->head, frame, message)) return;
    const auto parameters = store_->parameters();
    message.version = store_->version();
    message.batches = store_->optimizer().batches();
    if (!message.optimizer) {
      return part_->head->send(MessageType::Snapshot, frame.header.number, message,
                               {.floats = {*parameters}, .keep = parameters, .sent = {}});
    }
    const auto state = store_->optimizer().state();
    auto all = std::make_shared<std::vector<float>>(*parameters);
    all->insert(all->end(), state.begin(), state.end());
    part_->head->send(MessageType::Snapshot, frame.header.number, message,
                      {.floats = {*all}, .keep = all, .sent = {}});
  }

  void welcome(const std::shared_ptr<Connection>& connection, const Hello& hello) {
    if (hello.role != PartRole::Worker) {
      return connection->close({Code::PermissionDenied, "a shard talks to workers"});
    }
    const WorkerId worker{hello.id};
    workers_[worker] = connection;
    connection->handle(
        {.frame = [this](Connection& from, MessageFrame& frame) { from_worker(from, frame); },
         .closed =
             [this, worker](Connection& gone, const Error&) {
               const auto found = workers_.find(worker);
               if (found != workers_.end() && found->second.get() == &gone) workers_.erase(found);
             },
         .place = {}},
        {.body = 4096, .floats = count_});
    if (const auto pending = pending_.find(worker); pending != pending_.end()) {
      send_parameters(*connection, pending->second);
      pending_.erase(pending);
    }
  }

  void from_worker(Connection& from, MessageFrame& frame) {
    if (frame.header.type != MessageType::Gradient) {
      return from.close(invalid("a worker sends gradients to a shard"));
    }
    // A worker with parameters from its parent can be quicker than the head.
    if (frame.header.number > heard_of_) {
      if (early_.size() >= workers_.size()) return from.close(invalid("gradients of no task"));
      early_[frame.header.number] = std::move(frame.floats);
      return;
    }
    gradient_came(frame.header.number, frame.floats);
  }

  void gradient_came(std::int64_t task, std::vector<float>& values) {
    // No update waits for it: it was dropped while it was under way.
    if (expected_.erase(task) == 0) return;
    const PieceMessage facts = store_->keep(task, values);
    part_->head->send(MessageType::Piece, task, facts);
  }

  std::unique_ptr<Part> part_{};
  std::optional<ShardStore> store_{};
  std::size_t count_ = 0;
  bool loaded_ = false;
  std::deque<std::string> updates_{};  // the newest, for another head
  std::size_t update_bytes_ = 0;
  std::unique_ptr<Host> host_{};
  std::map<WorkerId, std::shared_ptr<Connection>> workers_{};
  std::set<std::int64_t> expected_{};
  std::int64_t heard_of_ = 0;  // the newest task
  std::map<std::int64_t, std::vector<float>> early_{};
  std::map<WorkerId, Pending> pending_{};
};

}  // namespace

Status run_shard(const PartStart& start) {
  Shard shard;
  return under_each_head(start, [&](const PartStart& once) { return shard.run(once); });
}

}  // namespace orrery
