#include "training/trainer/head/membership/run_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "training/trainer/head/emulated/server_emulation.h"
#include "training/trainer/transport/addresses.h"

namespace orrery {

std::string_view role_name(PartRole role) {
  switch (role) {
    case PartRole::Shard:
      return "shard";
    case PartRole::Worker:
      return "worker";
    case PartRole::Evaluator:
      return "evaluator";
    case PartRole::Command:
      return "command";
    case PartRole::Run:
      return "run";
    case PartRole::Pulse:
      return "heartbeat";
    case PartRole::Gang:
      return "rank";
  }
  return "part";
}

RunMembers::RunMembers(RunContext& run, ServerEmulation& emulation,
                       std::shared_ptr<Transport> transport, Children::OnEnd on_end)
    : run_(run),
      emulation_(emulation),
      transport_(std::move(transport)),
      children_(run.io, std::move(on_end)) {}

Status RunMembers::start_part(PartState& part) {
  if (run_.options.members) return {};  // it comes by itself
  const bool placed = emulation_.active() && part.server >= 0;
  const bool behind_tbf = placed && emulation_.servers().link_means() == "tbf";
  ChildStart start{.command = {own_program(), "part"}};
  if (placed) start.command = emulation_.servers().inside(part.server, start.command);
  start.input = part_start_text(
      {.role = part.role,
       .id = part.id,
       .host = beside_head(host_->address()),
       .port = host_->port(),
       .token = transport_->token,
       .listen = behind_tbf ? emulation_.servers().address(part.server) : host_->address()});
  if (placed) {
    start.before = [this, &part](pid_t pid) { return emulation_.servers().add(part.server, pid); };
  }
  TRY_ASSIGN(part.pid, children_.start(start));
  run_.log->process(seconds(run_.now()), std::string(role_name(part.role)), part.id, part.pid,
                    "started");
  return {};
}

Status RunMembers::start_evaluator() {
  evaluator_ = {.role = PartRole::Evaluator, .id = 0, .server = emulation_.evaluator_server()};
  return start_part(evaluator_);
}

Status RunMembers::start_shards(int count) {
  for (int id = 0; id < count; ++id) {
    shards_.push_back({.role = PartRole::Shard, .id = id, .server = emulation_.shard_server(id)});
  }
  for (PartState& shard : shards_) TRY(start_part(shard));
  return {};
}

Status RunMembers::start_worker(int slot) {
  const int id = next_worker_++;
  workers_[id] = {
      .role = PartRole::Worker, .id = id, .slot = slot, .server = emulation_.active() ? slot : -1};
  return start_part(workers_[id]);
}

PartState& RunMembers::add_joiner() {
  const int id = next_worker_++;
  workers_[id] = {.role = PartRole::Worker, .id = id};
  ++wanted_;
  return workers_[id];
}

PartState* RunMembers::find(PartRole role, int id) {
  if (role == PartRole::Evaluator) return &evaluator_;
  if (role == PartRole::Shard) {
    const bool there = id >= 0 && id < static_cast<int>(shards_.size());
    return there ? &shards_[static_cast<std::size_t>(id)] : nullptr;
  }
  const auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : &found->second;
}

std::optional<std::pair<PartRole, int>> RunMembers::find_process(pid_t pid) const {
  if (evaluator_.pid == pid) return std::pair(PartRole::Evaluator, 0);
  for (const PartState& shard : shards_) {
    if (shard.pid == pid) return std::pair(PartRole::Shard, shard.id);
  }
  for (const auto& [id, worker] : workers_) {
    if (worker.pid == pid) return std::pair(PartRole::Worker, id);
  }
  return std::nullopt;
}

PartState* RunMembers::connected(WorkerId worker) {
  PartState* const found = find(PartRole::Worker, static_cast<int>(worker));
  return found != nullptr && found->line ? found : nullptr;
}

bool RunMembers::shards_ready() const {
  return std::ranges::all_of(shards_, [](const PartState& shard) { return shard.ready; });
}

int RunMembers::present() const {
  return static_cast<int>(
      std::ranges::count_if(workers_, [](const auto& each) { return !each.second.dismissed; }));
}

int RunMembers::joined() const {
  return static_cast<int>(
      std::ranges::count_if(workers_, [](const auto& each) { return each.second.joined; }));
}

std::string RunMembers::address_of(const PartState& part, const PartState& peer) {
  return reachable(part.address, peer.line->own_address());
}

int RunMembers::free_place() const {
  int place = 0;
  while (std::ranges::any_of(workers_, [place](const auto& worker) {
    return worker.second.line && worker.second.place == place;
  })) {
    ++place;
  }
  return place;
}

// The least slot that no other worker has; -1: all are taken.
int RunMembers::free_slot() const {
  const int most =
      emulation_.active() ? emulation_.worker_slots() : std::numeric_limits<int>::max();
  for (int slot = 0; slot < most; ++slot) {
    const bool taken = std::ranges::any_of(workers_, [slot](const auto& worker) {
      return worker.second.slot == slot && !worker.second.dismissed;
    });
    if (!taken) return slot;
  }
  return -1;
}

WorkerCapacity RunMembers::capacity(bool anyway) const {
  std::vector<pid_t> processes;
  for (const auto& [id, worker] : workers_) {
    if (worker.pid > 0 && worker.ready) processes.push_back(worker.pid);
  }
  return {.present = wanted_,
          .batch = run_.options.batch,
          .emulated = emulation_.active() ? emulation_.worker_slots() : 0,
          .asked_most = run_.options.workers_most,
          .anyway = anyway || anyway_ || run_.options.anyway,
          // Quotas of emulated servers already bound what workers use.
          .cores = emulates_servers(run_.options) ? 0 : machine_cores(),
          .memory_free = memory_free_bytes(),
          .worker_bytes = memory_used_bytes(processes)};
}

WorkerLimit RunMembers::limit(bool anyway) const { return worker_limit(capacity(anyway)); }

// What memory allows is known when the first worker is ready.
Status RunMembers::check(int workers) const {
  const WorkerLimit most = limit(false);
  if (workers <= most.most) return {};
  return invalid(fmt::format("--workers {}: at most {} ({}); write --workers {}, or add --anyway",
                             workers, most.most, most.why, most.most));
}

void RunMembers::resize(int workers, bool anyway, const std::function<void(WorkerId)>& retire) {
  anyway_ = anyway_ || anyway;
  wanted_ = workers;
  // Those that have not joined yet leave first, then the newest.
  int excess = present() - wanted_;
  for (const bool joined : {false, true}) {
    for (auto at = workers_.rbegin(); at != workers_.rend() && excess > 0; ++at) {
      PartState& worker = at->second;
      if (worker.dismissed || worker.joined != joined) continue;
      worker.dismissed = true;
      --excess;
      if (joined) {
        retire(WorkerId{worker.id});
      } else if (worker.pid > 0) {
        children_.kill(worker.pid);
      }
    }
  }
  grow();
}

void RunMembers::grow() {
  if (run_.finishing || run_.over) return;
  WorkerStart start{.wanted = wanted_, .cores = machine_cores()};
  for (const auto& [id, worker] : workers_) {
    if (worker.dismissed) continue;
    if (worker.pid == 0) {
      --start.wanted;  // it joined by itself: it delays no other, however long it takes
    } else {
      ++(worker.ready ? start.ready : start.starting);
    }
  }
  for (int missing = workers_to_start(start); missing > 0; --missing) {
    const int slot = free_slot();
    if (slot < 0) return;
    WorkerCapacity now = capacity(false);
    now.present = present();
    now.cores = 0;  // they were looked at when this number was asked for
    if (const WorkerLimit most = worker_limit(now); most.most <= now.present) {
      return cannot_grow(fmt::format("at most {} workers: {}", most.most, most.why));
    }
    if (const Status started = start_worker(slot); !started.ok()) {
      return cannot_grow(started.error().message);
    }
  }
}

void RunMembers::cannot_grow(const std::string& why) {
  if (!run_.training()) {
    return run_.fail({Code::ResourceExhausted,
                      fmt::format("{} of {} workers are started: {}", present(), wanted_, why)});
  }
  wanted_ = present();
  run_.tally.warnings.push_back(why);
  run_.progress.say(fmt::format("no further worker is started: {}", why));
}

std::optional<PartState> RunMembers::remove_worker(int id) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return std::nullopt;
  PartState gone = std::move(found->second);
  workers_.erase(found);
  children_.kill(gone.pid);
  if (gone.line) gone.line->close({Code::Cancelled, "lost"});
  return gone;
}

void RunMembers::dismiss(int id) {
  PartState* const worker = find(PartRole::Worker, id);
  if (worker == nullptr) return;
  worker->dismissed = true;
  worker->joined = false;
  if (worker->line) worker->line->send(MessageType::Stop, 0, Nothing{});
}

void RunMembers::replace_evaluator() {
  children_.kill(evaluator_.pid);
  if (evaluator_.line) evaluator_.line->close({Code::Cancelled, "replaced"});
  if (const Status started = start_evaluator(); !started.ok()) run_.fail(started.error());
}

void RunMembers::stop_all() {
  const auto stop = [](PartState& part) {
    if (part.line) part.line->send(MessageType::Stop, 0, Nothing{});
  };
  for (auto& [id, worker] : workers_) stop(worker);
  for (PartState& shard : shards_) stop(shard);
  stop(evaluator_);
}

void RunMembers::wait_until(std::chrono::steady_clock::time_point deadline) {
  while (!children_.running().empty() && std::chrono::steady_clock::now() < deadline) {
    if (run_.io.run_one_until(deadline) == 0) break;
  }
}

void RunMembers::clear() {
  children_.clear();
  for (auto& [id, worker] : workers_) {
    if (worker.line) worker.line->close({Code::Cancelled, "the run starts again"});
  }
  workers_.clear();
  shards_.clear();
  evaluator_ = {};
}

}  // namespace orrery
