#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "training/trainer/head/head.h"
#include "training/trainer/head/job_link.h"
#include "training/trainer/head/run_progress.h"
#include "training/trainer/transport/addresses.h"

namespace orrery {

void Head::pump() {
  const std::int64_t session = session_;
  for (;;) {
    const std::vector<Order> orders = conductor_->take_orders();
    if (orders.empty()) break;
    tree_.starting.clear();
    for (const Order& order : orders) {
      const auto* const start = std::get_if<StartTask>(&order);
      if (start == nullptr || tree_.parents.empty()) continue;
      tree_.starting[static_cast<int>(start->task.worker)] = start->task.version;
    }
    for (const Order& order : orders) {
      std::visit([this](const auto& one) { follow(one); }, order);
      if (over_ || session_ != session) return;
    }
  }
  note_mode();
  talk_to_scheduler();
  maybe_done();
}

// The parent that hands on what a child's task begins with: it has the same parameters, or is about
// to get them. -1: the shards do.
int Head::giver(const Task& task) const {
  const auto found = tree_.parents.find(static_cast<int>(task.worker));
  if (found == tree_.parents.end()) return -1;
  const int parent = found->second;
  const auto present = workers_.find(parent);
  if (present == workers_.end() || !present->second.line) return -1;
  const auto starts = tree_.starting.find(parent);
  const bool same = starts != tree_.starting.end() && starts->second == task.version;
  const bool has = std::ranges::any_of(flights_, [&](const auto& flight) {
    return static_cast<int>(flight.second.task.worker) == parent &&
           flight.second.task.version == task.version;
  });
  return same || has ? parent : -1;
}

void Head::ask_shards(const Task& task, bool send) {
  tree_.sent_bytes.resize(shards_.size());
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    shards_[i].line->send(MessageType::SendParameters, task.number,
                          SendParametersMessage{.worker = task.worker, .send = send});
    if (send) {
      tree_.sent_bytes[i] += static_cast<double>(places_[i].count()) * sizeof(float);
    }
  }
}

void Head::follow(const StartTask& order) {
  const Task& task = order.task;
  const int id = static_cast<int>(task.worker);
  Flight& flight = flights_[task.number];
  flight = {.task = task, .started = now()};
  const PartState* const worker = find(PartRole::Worker, id);
  if (worker == nullptr || !worker->line) return;
  if (servers_ && worker->server >= 0) {
    if (auto use = servers_->use(worker->server); use.ok()) flight.before = use.value();
  }
  worker->line->send(MessageType::StartTask, task.number, TaskMessage{task});
  const int parent_of_it = giver(task);
  flight.parent = parent_of_it;
  ask_shards(task, parent_of_it < 0);
  if (parent_of_it >= 0) {
    workers_[parent_of_it].line->send(
        MessageType::SendParameters, task.number,
        SendParametersMessage{.worker = task.worker, .version = task.version});
  }
  for (const auto& [child, parent] : ring_.parents) {
    const PartState* const holder = find(PartRole::Worker, static_cast<int>(parent));
    if (child != task.worker || holder == nullptr || !holder->line) continue;
    flight.parent = holder->id;
    holder->line->send(MessageType::SendParameters, task.number,
                       SendParametersMessage{.worker = task.worker});
  }
}

void Head::follow(const ApplyUpdate& order) {
  const ParameterVersion version = order.update.version;
  ApplyMessage message{.update = order.update};
  for (const Task& task : order.tasks) {
    message.fresh.push_back(task.version == version - 1 ? 1 : 0);
    message.workers.push_back(task.worker);
  }
  std::int64_t samples = 0;
  for (const Term& term : order.update.terms) samples += samples_ready_[term.task];
  if (architecture(options_) == Architecture::ParameterServers) {
    for (const Term& term : order.update.terms) samples_ready_.erase(term.task);
    samples_used_ += samples;
    updates_[version].missing = static_cast<int>(shards_.size());
    for (const PartState& shard : shards_) {
      shard.line->send(MessageType::Apply, version, message);
    }
    return;
  }
  ring_.flying = version;
  ring_.samples = samples;
  ring_.any_done = ring_.any_failed = false;
  ring_.waiting.clear();
  for (const WorkerId member : ring_.ring) {
    const int id = static_cast<int>(member);
    const PartState* const worker = find(PartRole::Worker, id);
    if (worker == nullptr || !worker->line) continue;
    ring_.waiting.insert(id);
    worker->line->send(MessageType::Apply, version, message);
  }
}

void Head::follow(const CutTask& order) {
  const PartState* const worker = find(PartRole::Worker, static_cast<int>(order.worker));
  if (worker != nullptr && worker->line) {
    worker->line->send(MessageType::CutTask, order.task, Nothing{});
  }
}

void Head::follow(const DropGradient& order) {
  flights_.erase(order.task);
  samples_ready_.erase(order.task);
  for (const PartState& shard : shards_) {
    shard.line->send(MessageType::Drop, order.task, Nothing{});
  }
  for (const WorkerId member : ring_.ring) {
    const PartState* const worker = find(PartRole::Worker, static_cast<int>(member));
    if (worker != nullptr && worker->line) {
      worker->line->send(MessageType::Drop, order.task, Nothing{});
    }
  }
}

bool Head::holds_newest(WorkerId worker) const {
  const auto held = ring_.holds.find(static_cast<int>(worker));
  return held != ring_.holds.end() && held->second == ring_.version;
}

bool Head::each_has_a_gpu(const std::vector<WorkerId>& ring) {
  std::set<std::string> seen;
  return std::ranges::all_of(ring, [&](WorkerId member) {
    const PartState* const worker = find(PartRole::Worker, static_cast<int>(member));
    return worker != nullptr && !worker->gpu.empty() && seen.insert(worker->gpu).second;
  });
}

// By which `peer` reaches a part that may listen on all addresses of the head's machine.
std::string Head::address_of(const PartState& part, const PartState& peer) const {
  return reachable(part.address, peer.line->own_address());
}

// All members of a ring use one address of each other. For those beside the head it is the one by
// which a member elsewhere reaches the head.
std::string Head::address_in_ring(const std::vector<WorkerId>& ring) {
  for (const WorkerId member : ring) {
    const PartState* const worker = find(PartRole::Worker, static_cast<int>(member));
    if (worker != nullptr && worker->line && !is_wildcard(worker->address)) {
      return worker->line->own_address();
    }
  }
  return beside_head(host_->address());
}

void Head::tell_ring(const std::vector<WorkerId>& ring, RingPlace place) {
  place.size = static_cast<std::int32_t>(ring.size());
  place.on_gpus = ring.size() > 1 && each_has_a_gpu(ring);
  tally_.rings_on_gpus += place.on_gpus ? 1 : 0;
  if (ring.size() > 1 && !place.on_gpus && !meeting_->sums_on_cpus()) {
    return end_with({Code::FailedPrecondition,
                     "built without Gloo's headers, so that only workers with a GPU each can sum: "
                     "start fewer, train with --arch ps, or install them and build again"});
  }
  const std::string beside_us = address_in_ring(ring);
  place.rank = 0;
  for (const WorkerId member : ring) {
    const PartState* const worker = find(PartRole::Worker, static_cast<int>(member));
    if (worker != nullptr && worker->line) {
      place.own_address = is_wildcard(worker->address) ? beside_us : "";
      worker->line->send(MessageType::FormRing, ring_.epoch, place);
    }
    ++place.rank;
  }
}

void Head::follow(const FormRing& order) {
  ring_.epoch = order.epoch;
  ring_.ring = order.ring;
  ring_.parents = order.parents;
  const auto has_it = [this](WorkerId worker) { return holds_newest(worker); };
  RingPlace place{.version = ring_.version, .name = fmt::format("{}-{}", session_, order.epoch)};
  const auto source = std::ranges::find_if(order.ring, has_it);
  if (source == order.ring.end()) {
    // Nobody of the old ring is in the new one: one of it joins for as long as the handing over.
    const auto holder = std::ranges::find_if(workers_, [&](const auto& each) {
      return each.second.joined && each.second.line && has_it(WorkerId{each.first});
    });
    if (holder == workers_.end()) return restart("nobody who is left has the parameters");
    std::vector<WorkerId> both{WorkerId{holder->first}};
    both.insert(both.end(), order.ring.begin(), order.ring.end());
    RingPlace handing_over = place;
    handing_over.name += "-over";
    handing_over.source = 0;
    tell_ring(both, handing_over);
    place.source = 0;
  } else if (!std::ranges::all_of(order.ring, has_it)) {
    place.source = static_cast<std::int32_t>(source - order.ring.begin());
  }
  tell_ring(order.ring, place);
  ring_record_.began(order.epoch, order.ring, RingRecord::Clock::now());
  place.size = static_cast<std::int32_t>(order.ring.size());
  place.rank = -1;
  for (const auto& [child, parent] : order.parents) {
    const PartState* const worker = find(PartRole::Worker, static_cast<int>(child));
    const PartState* const above = find(PartRole::Worker, static_cast<int>(parent));
    if (worker == nullptr || !worker->line || above == nullptr) continue;
    place.parent_address = address_of(*above, *worker);
    place.parent_port = above->port;
    worker->line->send(MessageType::FormRing, order.epoch, place);
  }
}

void Head::follow(const FormTree& order) {
  tree_.parents.clear();
  for (const auto& [child, parent] : order.parents) {
    if (find(PartRole::Worker, static_cast<int>(parent)) == nullptr) continue;
    tree_.parents[static_cast<int>(child)] = static_cast<int>(parent);
  }
  const auto present = static_cast<int>(
      std::ranges::count_if(workers_, [](const auto& w) { return w.second.joined; }));
  const bool waits = waits_for_all(conductor_->mode(), present);
  for (const auto& [id, worker] : workers_) {
    if (!worker.line || !worker.joined) continue;
    ParentMessage message{.waits = waits};
    if (const auto found = tree_.parents.find(id); found != tree_.parents.end()) {
      const PartState& parent = workers_[found->second];
      message.address = address_of(parent, worker);
      message.port = parent.port;
    }
    worker.line->send(MessageType::FormTree, 0, message);
  }
}

void Head::follow(const RefreshValidation&) {
  // One at a time: who refuses everything asks faster than the evaluator answers.
  if (std::exchange(validating_, true)) return;
  ask_for_snapshot({.use = SnapshotUse::Validate, .at = now()});
}

void Head::follow(const EvaluateVersion& order) {
  constexpr std::size_t kWaitingMost = 8;
  if (!conductor_->finished() && evaluations_.size() >= kWaitingMost) {
    ++tally_.evaluations_skipped;
    return;
  }
  ask_for_snapshot(
      {.use = SnapshotUse::Evaluate, .version = order.version, .at = now(), .state = order.state});
}

void Head::follow(const SaveCheckpoint& order) {
  ask_for_snapshot({.use = SnapshotUse::Save,
                    .version = order.version,
                    .at = now(),
                    .state = conductor_->state()});
}

void Head::follow(const DismissWorker& order) { dismiss(static_cast<int>(order.worker)); }

void Head::follow(const FinishRun& order) {
  tally_.reason = order.reason;
  if (order.failed) run_end_.fail(Error{Code::Aborted, order.reason});
  ended_at_ = now();
  clocks_.sample(ended_at_);
  finishing_ = true;
}

void Head::note_mode() {
  const auto present =
      std::ranges::count_if(workers_, [](const auto& w) { return w.second.joined; });
  if (present == 0 || !training_) return;
  std::string name = mode_name(conductor_->mode(), static_cast<int>(present));
  if (name == mode_name_) return;
  if (shared_) {
    report_to_servers();
    count_for_servers();
  }
  mode_name_ = std::move(name);
  tally_.modes.push_back(
      {.at_s = seconds(now()), .mode = mode_name_, .reason = director_->reason()});
  log_->mode(tally_.modes.back());
}

// An iteration is a global batch's worth of samples, whatever number of updates it took.
void Head::talk_to_scheduler() {
  const std::int64_t batches = samples_used_ / options_.batch;
  if (batches == batches_told_ || !job_->is_job()) return;
  batches_told_ = batches;
  job_->progress(batches, samples_limit(options_) / options_.batch,
                 pace_->loss().value_or(std::numeric_limits<double>::quiet_NaN()), samples_used_);
  if (!finishing_ && job_->should_stop(batches)) {
    conductor_->finish("it was asked to stop", now());
    pump();
  }
}

}  // namespace orrery
