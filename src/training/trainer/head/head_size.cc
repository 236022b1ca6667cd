#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "training/trainer/head/head.h"
#include "training/trainer/head/progress_line.h"
#include "training/trainer/head/worker_limit.h"

namespace orrery {

// The least place for a worker that no other one has; -1: all are taken.
int Head::free_slot() const {
  const int most = servers_ ? worker_slots() : std::numeric_limits<int>::max();
  for (int slot = 0; slot < most; ++slot) {
    const bool taken = std::ranges::any_of(workers_, [slot](const auto& worker) {
      return worker.second.slot == slot && !worker.second.dismissed;
    });
    if (!taken) return slot;
  }
  return -1;
}

void Head::command_came(Connection& from, Frame& frame) {
  ResizeMessage message;
  if (frame.header.type != MessageType::Resize) return from.close(invalid("no such command"));
  if (take(from, frame, message)) resize(from, message);
}

void Head::resize(Connection& from, const ResizeMessage& wish) {
  const auto answer = [&from](bool ok, const std::string& text) {
    from.send(MessageType::Answer, 0, Text{text, ok});
    from.close_when_sent();
  };
  if (!training_ || finishing_ || conductor_->ending()) {
    return answer(false, "the run is not training");
  }
  const WorkerLimit limit = worker_limit(worker_capacity(wish.anyway));
  if (wish.count < 1) return answer(false, "a run has 1 worker at least");
  if (wish.count > limit.most) {
    return answer(false, fmt::format("at most {} workers: {}", limit.most, limit.why));
  }
  anyway_ = anyway_ || wish.anyway;
  const int before = std::exchange(workers_wanted_, wish.count);
  shrink();
  grow();
  answer(true, fmt::format("from {} to {} workers", before, workers_wanted_));
  pump();
}

int Head::workers_present() const {
  return static_cast<int>(
      std::ranges::count_if(workers_, [](const auto& each) { return !each.second.dismissed; }));
}

// Those that have not joined yet leave first, then the newest.
void Head::shrink() {
  int excess = workers_present() - workers_wanted_;
  for (const bool joined : {false, true}) {
    for (auto at = workers_.rbegin(); at != workers_.rend() && excess > 0; ++at) {
      PartState& worker = at->second;
      if (worker.dismissed || worker.joined != joined) continue;
      worker.dismissed = true;
      --excess;
      if (joined) {
        conductor_->retire(WorkerId{worker.id}, now());
      } else if (worker.pid > 0) {
        children_->kill(worker.pid);
      }
    }
  }
}

WorkerCapacity Head::worker_capacity(bool anyway) const {
  std::vector<pid_t> processes;
  for (const auto& [id, worker] : workers_) {
    if (worker.pid > 0 && worker.ready) processes.push_back(worker.pid);
  }
  return {.present = workers_wanted_,
          .batch = options_.batch,
          .emulated = servers_ ? worker_slots() : 0,
          .asked_most = options_.workers_most,
          .anyway = anyway || anyway_ || options_.anyway,
          // Quotas of emulated servers already bound what workers use.
          .cores = emulates_servers() ? 0 : machine_cores(),
          .memory_free = memory_free_bytes(),
          .worker_bytes = memory_used_bytes(processes)};
}

// Before anything starts. What memory allows is known when the first worker is ready.
Status Head::check_workers() const {
  const int own =
      gang_place_ ? GangPlace::workers_of(0, gang_place_->ranks, workers_first_) : workers_first_;
  const WorkerLimit limit = worker_limit(worker_capacity(false));
  if (own <= limit.most) return {};
  return invalid(fmt::format("--workers {}: at most {} ({}); write --workers {}, or add --anyway",
                             own, limit.most, limit.why, limit.most));
}

void Head::grow() {
  if (finishing_ || over_ || (training_ && conductor_->ending())) return;
  WorkerStart start{.wanted = workers_wanted_, .cores = machine_cores()};
  for (const auto& [id, worker] : workers_) {
    if (worker.dismissed) continue;
    ++(worker.ready ? start.ready : start.starting);
  }
  for (int missing = workers_to_start(start); missing > 0; --missing) {
    const int slot = free_slot();
    if (slot < 0) return;
    WorkerCapacity capacity = worker_capacity(false);
    capacity.present = workers_present();
    capacity.cores = 0;  // they were looked at when this number was asked for
    if (const WorkerLimit limit = worker_limit(capacity); limit.most <= capacity.present) {
      return cannot_grow(fmt::format("at most {} workers: {}", limit.most, limit.why));
    }
    if (const Status started = start_worker(slot); !started.ok()) {
      return cannot_grow(started.error().message);
    }
  }
}

void Head::cannot_grow(const std::string& why) {
  if (!training_) {
    return end_with(
        {Code::ResourceExhausted,
         fmt::format("{} of {} workers are started: {}", workers_present(), workers_wanted_, why)});
  }
  workers_wanted_ = workers_present();
  tally_.warnings.push_back(why);
  progress_->say(fmt::format("no further worker is started: {}", why));
}

}  // namespace orrery
