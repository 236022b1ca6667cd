#include "training/trainer/head/exchange/shard_exchange.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "training/mode_selection/tree/tree_director.h"
#include "training/trainer/checkpoint/checkpoint_text.h"

namespace orrery {

void ShardExchange::begin(ParameterVersion /*version*/) {
  places_.clear();
  updates_.clear();
  parents_.clear();
  starting_.clear();
  links_ = {};
}

Status ShardExchange::start() {
  places_ = lay_out_shards(session_.tensors, run_.options.shards);
  return members_.start_shards(static_cast<int>(places_.size()));
}

bool ShardExchange::ready() const { return !members_.shards().empty() && members_.shards_ready(); }

ShardPlace ShardExchange::place_of(const PartState& part) const {
  return places_[static_cast<std::size_t>(part.id)];
}

double ShardExchange::bytes_of(std::size_t shard) const {
  return static_cast<double>(places_[shard].count()) * sizeof(float);
}

void ShardExchange::look_ahead(const std::vector<Order>& orders) {
  starting_.clear();
  if (parents_.empty()) return;
  for (const Order& order : orders) {
    const auto* const start = std::get_if<StartTask>(&order);
    if (start == nullptr) continue;
    starting_[static_cast<int>(start->task.worker)] = start->task.version;
  }
}

// The parent that passes on what a child's task begins with: it has the same parameters, or is
// about to get them. -1: the shards send them.
int ShardExchange::parent_with_parameters(const Task& task) {
  const auto found = parents_.find(static_cast<int>(task.worker));
  if (found == parents_.end()) return -1;
  const int parent = found->second;
  if (members_.connected(WorkerId{parent}) == nullptr) return -1;
  const auto starts = starting_.find(parent);
  const bool same = starts != starting_.end() && starts->second == task.version;
  const bool has = std::ranges::any_of(tasks_.all(), [&](const auto& open) {
    const Task& other = open.second.task;
    return static_cast<int>(other.worker) == parent && other.version == task.version;
  });
  return same || has ? parent : -1;
}

void ShardExchange::ask_shards(const Task& task, bool send) {
  std::vector<PartState>& shards = members_.shards();
  links_.sent_bytes.resize(shards.size());
  for (std::size_t i = 0; i < shards.size(); ++i) {
    shards[i].line->send(MessageType::SendParameters, task.number,
                         SendParametersMessage{.worker = task.worker, .send = send});
    if (send) links_.sent_bytes[i] += bytes_of(i);
  }
}

void ShardExchange::send_parameters(RunningTask& open) {
  const Task& task = open.task;
  open.parent = parent_with_parameters(task);
  ask_shards(task, open.parent < 0);
  if (open.parent < 0) return;
  members_.workers()[open.parent].line->send(
      MessageType::SendParameters, task.number,
      SendParametersMessage{.worker = task.worker, .version = task.version});
}

void ShardExchange::apply(const ApplyUpdate& order) {
  const ParameterVersion version = order.update.version;
  session_.samples_used += tasks_.samples_of(order.update.terms);
  tasks_.forget_samples(order.update.terms);
  updates_[version].missing = static_cast<int>(members_.shards().size());
  ApplyMessage message = apply_message(order);
  if (run_.options.members) {
    message.state = checkpoint_text({.conductor = order.state, .elapsed_s = seconds(run_.now())});
  }
  for (const PartState& shard : members_.shards()) {
    shard.line->send(MessageType::Apply, version, message);
  }
}

void ShardExchange::drop(std::int64_t task) {
  for (const PartState& shard : members_.shards()) {
    if (shard.line) shard.line->send(MessageType::Drop, task, Nothing{});
  }
}

void ShardExchange::form(const FormTree& order) {
  parents_.clear();
  for (const auto& [child, parent] : order.parents) {
    if (members_.find(PartRole::Worker, static_cast<int>(parent)) == nullptr) continue;
    parents_[static_cast<int>(child)] = static_cast<int>(parent);
  }
  const bool waits = waits_for_all(session_.conductor->mode(), members_.joined());
  for (const auto& [id, worker] : members_.workers()) {
    if (!worker.line || !worker.joined) continue;
    ParentMessage message{.waits = waits};
    if (const auto found = parents_.find(id); found != parents_.end()) {
      const PartState& parent = members_.workers()[found->second];
      message.address = RunMembers::address_of(parent, worker);
      message.port = parent.port;
    }
    worker.line->send(MessageType::FormTree, 0, message);
  }
}

int ShardExchange::pieces_needed() const { return static_cast<int>(members_.shards().size()); }

void ShardExchange::piece_came(PartRole role, int from, MessageFrame& frame) {
  if (role == PartRole::Shard) {
    links_.got_bytes.resize(members_.shards().size());
    const auto shard = static_cast<std::size_t>(from);
    links_.got_bytes[shard] += bytes_of(shard);
  }
  tasks_.piece_came(frame, "");
}

void ShardExchange::applied(int /*from*/, ParameterVersion version, const AppliedMessage& message) {
  const auto found = updates_.find(version);
  if (found == updates_.end()) return;
  found->second.fresh_mean_norm2 += message.fresh_mean_norm2;
  if (--found->second.missing > 0) return;
  const double norm = found->second.fresh_mean_norm2;
  updates_.erase(found);
  session_.conductor->applied({.version = version, .at = run_.now(), .fresh_mean_norm2 = norm},
                              run_.now());
  run_.pump();
}

void ShardExchange::parent_has_none(std::int64_t task) {
  RunningTask* const open = tasks_.find(task);
  if (open == nullptr || open->parent < 0) return;
  open->parent = -1;
  ask_shards(open->task, true);
}

std::set<int> ShardExchange::ask_for_parameters(std::int64_t number, bool for_checkpoint) {
  std::set<int> asked;
  for (const PartState& shard : members_.shards()) {
    asked.insert(shard.id);
    shard.line->send(MessageType::TakeSnapshot, number,
                     SnapshotMessage{.optimizer = for_checkpoint});
  }
  return asked;
}

void ShardExchange::send_validation(std::int64_t number, const std::vector<float>& gradient) {
  for (const PartState& shard : members_.shards()) {
    auto piece = std::make_shared<std::vector<float>>(gather(gradient, place_of(shard)));
    shard.line->send(MessageType::Validation, number, Nothing{},
                     {.floats = {*piece}, .keep = piece, .sent = {}});
  }
}

// What the busiest shard's server carried since the last look: by what tasks moved, where the
// server's link counts no bytes.
void ShardExchange::measure_links() {
  constexpr double kLeast_s = 0.5;
  std::vector<PartState>& shards = members_.shards();
  if (session_.trees == nullptr || shards.empty()) return;
  const double passed = seconds(run_.now() - links_.at);
  if (links_.looked && passed < kLeast_s) return;
  links_.sent_bytes.resize(shards.size());
  links_.got_bytes.resize(shards.size());
  const Servers& servers = emulation_.servers();
  std::vector<ServerUse> used(static_cast<std::size_t>(servers.count()));
  std::vector<double> floats(used.size());
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const auto server = static_cast<std::size_t>(shards[i].server);
    used[server].in_bytes += links_.got_bytes[i];
    used[server].out_bytes += links_.sent_bytes[i];
    floats[server] += static_cast<double>(places_[i].count());
  }
  const auto count = static_cast<double>(session_.parameter_count);
  LinkLook look{.at = run_.now(),
                .gradient_bytes = count * sizeof(float),
                .parameter_bytes = count * sizeof(float)};
  double most = -1;
  for (std::size_t server = 0; server < used.size(); ++server) {
    if (floats[server] == 0) continue;
    const int number = static_cast<int>(server);
    if (auto counted = servers.use(number); counted.ok() && counted.value().in_bytes > 0) {
      used[server] = counted.value();
    }
    const double may = servers.size(number).bytes_per_s;
    if (!links_.looked || !(may > 0)) continue;
    const double in = (used[server].in_bytes - links_.used[server].in_bytes) / passed;
    const double out = (used[server].out_bytes - links_.used[server].out_bytes) / passed;
    if ((in + out) / may <= most) continue;
    most = (in + out) / may;
    look.in = in;
    look.out = out;
    look.may_in = look.may_out = may;
    look.part = floats[server] / count;
  }
  for (const auto& [id, worker] : members_.workers()) {
    if (!worker.joined) continue;
    const double link = worker.server >= 0 ? servers.size(worker.server).bytes_per_s : 0;
    look.workers.push_back({.worker = WorkerId{id}, .in = link, .out = link});
  }
  links_.used = std::move(used);
  links_.at = run_.now();
  if (std::exchange(links_.looked, true)) session_.trees->on_links(look);
}

// Children whose parent is gone get their parameters from the shards. A child that has them already
// ignores these.
void ShardExchange::after_loss(int worker) {
  run_.pump();
  if (members_.shards().empty()) return;
  for (auto& [number, open] : tasks_.all()) {
    if (open.parent != worker) continue;
    open.parent = -1;
    ask_shards(open.task, true);
  }
}

}  // namespace orrery
