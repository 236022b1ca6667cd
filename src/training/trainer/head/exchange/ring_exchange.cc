#include "training/trainer/head/exchange/ring_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "training/trainer/transport/addresses.h"

namespace orrery {
namespace {

constexpr std::int64_t kProbeLeast = 1 << 15, kProbeMost = 1 << 20;  // floats
constexpr int kProbesSoon = 3;

}  // namespace

void RingExchange::begin(ParameterVersion version) {
  epoch_ = 0;
  ring_.clear();
  parents_.clear();
  version_ = version;
  holds_.clear();
  update_ = {};
  record_ = {};
}

ShardPlace RingExchange::place_of(const PartState& /*part*/) const {
  return {.ranges = {{.first = 0, .count = session_.parameter_count}}};
}

bool RingExchange::is_member(int worker) const {
  return std::ranges::find(ring_, WorkerId{worker}) != ring_.end();
}

bool RingExchange::holds_newest(WorkerId worker) const {
  const auto held = holds_.find(static_cast<int>(worker));
  return held != holds_.end() && held->second == version_;
}

void RingExchange::send_parameters(RunningTask& open) {
  for (const auto& [child, parent] : parents_) {
    const PartState* const holder = members_.connected(parent);
    if (child != open.task.worker || holder == nullptr) continue;
    open.parent = holder->id;
    holder->line->send(MessageType::SendParameters, open.task.number,
                       SendParametersMessage{.worker = open.task.worker});
  }
}

void RingExchange::apply(const ApplyUpdate& order) {
  update_ = {.version = order.update.version, .terms = order.update.terms};
  const ApplyMessage message = apply_message(order);
  for (const WorkerId member : ring_) {
    const PartState* const worker = members_.connected(member);
    if (worker == nullptr) continue;
    update_.waiting.insert(worker->id);
    worker->line->send(MessageType::Apply, order.update.version, message);
  }
}

void RingExchange::drop(std::int64_t task) { send_to_ring(MessageType::Drop, task); }

void RingExchange::send_to_ring(MessageType type, std::int64_t number) {
  for (const WorkerId member : ring_) {
    const PartState* const worker = members_.connected(member);
    if (worker != nullptr) worker->line->send(type, number, Nothing{});
  }
}

bool RingExchange::each_has_a_gpu(const std::vector<WorkerId>& ring) {
  std::set<std::string> seen;
  return std::ranges::all_of(ring, [&](WorkerId member) {
    const PartState* const worker = members_.find(PartRole::Worker, static_cast<int>(member));
    return worker != nullptr && !worker->gpu.empty() && seen.insert(worker->gpu).second;
  });
}

// All members of a ring use one address of each other. For those beside the head it is the one by
// which a member elsewhere reaches the head.
std::string RingExchange::address_in_ring(const std::vector<WorkerId>& ring) {
  for (const WorkerId member : ring) {
    const PartState* const worker = members_.connected(member);
    if (worker != nullptr && !is_wildcard(worker->address)) return worker->line->own_address();
  }
  return beside_head(calls_.head_address());
}

void RingExchange::send_ring(const std::vector<WorkerId>& ring, RingPlace place) {
  place.size = static_cast<std::int32_t>(ring.size());
  place.on_gpus = ring.size() > 1 && each_has_a_gpu(ring);
  run_.tally.rings_on_gpus += place.on_gpus ? 1 : 0;
  if (ring.size() > 1 && !place.on_gpus && !calls_.sums_on_cpus()) {
    return run_.fail({Code::FailedPrecondition,
                      "built without Gloo's headers, so that only workers with a GPU each can sum: "
                      "start fewer, train with --arch ps, or install them and build again"});
  }
  const std::string beside = address_in_ring(ring);
  place.rank = 0;
  for (const WorkerId member : ring) {
    if (const PartState* const worker = members_.connected(member)) {
      place.own_address = is_wildcard(worker->address) ? beside : "";
      worker->line->send(MessageType::FormRing, epoch_, place);
    }
    ++place.rank;
  }
}

void RingExchange::form(const FormRing& order) {
  epoch_ = order.epoch;
  ring_ = order.ring;
  parents_ = order.parents;
  const auto has_it = [this](WorkerId worker) { return holds_newest(worker); };
  RingPlace place{.version = version_, .name = fmt::format("{}-{}", session_.number, order.epoch)};
  const auto source = std::ranges::find_if(order.ring, has_it);
  if (source == order.ring.end()) {
    // No member of the old ring is in the new one: one of them joins to pass the parameters on.
    const auto holder = std::ranges::find_if(members_.workers(), [&](const auto& each) {
      return each.second.joined && each.second.line && has_it(WorkerId{each.first});
    });
    if (holder == members_.workers().end()) {
      return calls_.restart("no worker that is left has the parameters");
    }
    std::vector<WorkerId> both{WorkerId{holder->first}};
    both.insert(both.end(), order.ring.begin(), order.ring.end());
    RingPlace passing_on = place;
    passing_on.name += "-over";
    passing_on.source = 0;
    send_ring(both, passing_on);
    place.source = 0;
  } else if (!std::ranges::all_of(order.ring, has_it)) {
    place.source = static_cast<std::int32_t>(source - order.ring.begin());
  }
  send_ring(order.ring, place);
  record_.began(order.epoch, order.ring, RingRecord::Clock::now());
  place.size = static_cast<std::int32_t>(order.ring.size());
  place.rank = -1;
  for (const auto& [child, parent] : order.parents) {
    const PartState* const worker = members_.connected(child);
    const PartState* const above = members_.find(PartRole::Worker, static_cast<int>(parent));
    if (worker == nullptr || above == nullptr) continue;
    place.parent_address = RunMembers::address_of(*above, *worker);
    place.parent_port = above->port;
    worker->line->send(MessageType::FormRing, order.epoch, place);
  }
}

void RingExchange::piece_came(PartRole /*role*/, int from, MessageFrame& frame) {
  // A child may have handed in to the parent it had before the ring changed.
  tasks_.piece_came(frame, is_member(from) ? "" : "its parent is no longer in the ring");
}

// A new worker is not left to the tick: until its link is known, a sum may wait for it.
void RingExchange::task_completed(WorkerId worker) {
  PartState* const by = members_.connected(worker);
  if (by != nullptr && by->probes < kProbesSoon) probe_link(*by);
}

void RingExchange::applied(int from, ParameterVersion version, const AppliedMessage& message) {
  if (message.ok) holds_[from] = version;
  if (StepLog* const steps = run_.log->steps(); message.ok && steps != nullptr) {
    steps->summed(version, from, seconds(run_.now()));
  }
  if (version != update_.version || update_.waiting.erase(from) == 0) return;
  update_.any_done = update_.any_done || message.ok;
  if (message.ok) update_.fresh_mean_norm2 = message.fresh_mean_norm2;
  check_update();
}

// Once every member that is left has reported: the update is made if any member has made it, since
// the next ring takes the parameters from there.
void RingExchange::check_update() {
  if (update_.version == 0 || !update_.waiting.empty()) return;
  const RingUpdate update = std::exchange(update_, {});
  if (update.any_done) {
    version_ = update.version;
    session_.samples_used += tasks_.samples_of(update.terms);
    tasks_.forget_samples(update.terms);
    session_.conductor->applied(
        {.version = update.version, .at = run_.now(), .fresh_mean_norm2 = update.fresh_mean_norm2},
        run_.now());
  } else {
    session_.conductor->failed(update.version, {}, run_.now());
  }
  run_.pump();
}

void RingExchange::ring_formed(int worker, MessageFrame& frame) {
  auto read = read_fields<RingFormedMessage>(frame.body);
  if (!read.ok() || frame.header.number != epoch_ || !is_member(worker)) return;
  if (!read.value().ok) return ring_failed(frame.header.number, read.value().error);
  record_.formed(worker);
  auto& held = holds_[worker];
  held = std::max(held, version_);
}

// The Conductor hears of it with the next sum. Members that the others cannot reach would let every
// further ring fail.
void RingExchange::ring_failed(std::int64_t epoch, const std::string& why) {
  if (run_.finishing) return;
  for (const int id : record_.failed(epoch)) {
    const PartState* const worker = members_.find(PartRole::Worker, id);
    if (worker == nullptr) continue;
    calls_.lose_worker(id, fmt::format("at {} was not reached by the others of its ring, or did "
                                       "not reach them ({})",
                                       worker->address, why));
    if (run_.over) return;
  }
}

void RingExchange::watch() {
  constexpr auto kUsual = std::chrono::seconds(5);
  for (const int id : record_.overdue(RingRecord::Clock::now(), kUsual)) {
    const PartState* const worker = members_.find(PartRole::Worker, id);
    if (worker == nullptr || record_.proven(id)) continue;
    run_.warn(
        fmt::format("worker {} at {} has not formed its ring for 5 s: can the others reach it?", id,
                    worker->address));
  }
}

// In all-reduce every link of a ring seems as slow as the slowest, so each is measured by itself,
// with a part of what it carries in a sum.
void RingExchange::measure_links() {
  constexpr std::int64_t kRarely = 5;
  if (++ticks_ % (session_.parameter_count > kProbeMost ? kRarely : 1) != 0) return;
  for (auto& [id, worker] : members_.workers()) {
    if (worker.joined && worker.line) probe_link(worker);
  }
}

void RingExchange::probe_link(PartState& worker) {
  const CountMessage probe{
      static_cast<std::int32_t>(std::clamp(session_.parameter_count / 8, kProbeLeast, kProbeMost))};
  worker.line->send(MessageType::ProbeLink, ++worker.probes, probe);
}

void RingExchange::link_measured(PartState& worker, const MessageFrame& frame) {
  const double took = std::chrono::duration<double>(frame.arriving).count();
  const auto count = static_cast<double>(session_.parameter_count);
  double way_s = took * count / static_cast<double>(frame.header.floats);
  // Its first bytes come in one go; a link is no faster than its rate.
  if (run_.options.link > 0) way_s = std::max(way_s, count * sizeof(float) / run_.options.link);
  worker.way_before_s = worker.way_s;
  worker.way_s = way_s;
}

std::set<int> RingExchange::ask_for_parameters(std::int64_t number, bool for_checkpoint) {
  std::set<int> asked;
  SnapshotMessage message{.optimizer = for_checkpoint};
  for (const WorkerId member : ring_) {
    const PartState* const worker = members_.connected(member);
    // A member whose part of the newest sum failed does not have the newest parameters.
    if (worker == nullptr || !holds_newest(member)) continue;
    // One copy is enough. For a checkpoint all copies are compared by their hash.
    message.floats = asked.empty();
    if (!for_checkpoint && !message.floats) break;
    asked.insert(worker->id);
    worker->line->send(MessageType::TakeSnapshot, number, message);
  }
  return asked;
}

void RingExchange::forget(int worker) {
  record_.forget(worker);
  holds_.erase(worker);
  update_.waiting.erase(worker);
}

// Children whose parent is gone get their parameters from their new one. A child that has them
// already ignores these.
void RingExchange::after_loss(int worker) {
  check_update();
  run_.pump();
  for (auto& [number, open] : tasks_.all()) {
    if (open.parent != worker) continue;
    open.parent = -1;
    send_parameters(open);
  }
}

}  // namespace orrery
