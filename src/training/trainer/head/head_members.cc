#include <fmt/format.h>

#include <algorithm>

#include "training/trainer/head/head.h"
#include "training/trainer/head/progress_line.h"

namespace orrery {

PartState* Head::find(PartRole role, int id) {
  if (role == PartRole::Evaluator) return &evaluator_;
  if (role == PartRole::Shard) {
    const bool there = id >= 0 && id < static_cast<int>(shards_.size());
    return there ? &shards_[static_cast<std::size_t>(id)] : nullptr;
  }
  const auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : &found->second;
}

void Head::part_ended(pid_t pid, const std::string& how) {
  if (over_) return;
  if (evaluator_.pid == pid) return lose(PartRole::Evaluator, 0, how);
  for (const PartState& shard : shards_) {
    if (shard.pid == pid) return lose(PartRole::Shard, shard.id, how);
  }
  for (const auto& [id, worker] : workers_) {
    if (worker.pid == pid) return lose(PartRole::Worker, id, how);
  }
}

void Head::line_closed(PartRole role, int id, const Connection* line, const Error& why) {
  const PartState* const part = find(role, id);
  if (over_ || part == nullptr || part->line.get() != line) return;
  lose(role, id, why.message);
}

void Head::lose(PartRole role, int id, const std::string& how) {
  if (role == PartRole::Worker) return lose_worker(id, how);
  if (role == PartRole::Shard) return restart(fmt::format("shard {} {}", id, how));
  if (!training_ && tensors_.empty()) {
    return end_with({Code::Unavailable, fmt::format("the evaluator {} before it began", how)});
  }
  // Nothing but the evaluations waits for it, so it is started again.
  progress_->say(fmt::format("the evaluator {}; it is started again", how));
  children_->kill(evaluator_.pid);
  pulses_.forget(PartRole::Evaluator, 0);
  const int server = evaluator_.server;
  if (evaluator_.line) evaluator_.line->close({Code::Cancelled, "replaced"});
  evaluator_ = {.role = PartRole::Evaluator, .id = 0, .server = server};
  validating_ = false;
  if (++tally_.deaths > 1000) return end_with({Code::Aborted, "the evaluator dies at once"});
  if (const Status started = start_part(evaluator_); !started.ok()) end_with(started.error());
}

void Head::lose_worker(int id, const std::string& how) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  const PartState gone = std::move(found->second);
  pulses_.forget(PartRole::Worker, id);
  ring_record_.forget(id);
  workers_.erase(found);
  children_->kill(gone.pid);
  if (gone.line) gone.line->close({Code::Cancelled, "lost"});
  log_->process(seconds(now()), "worker", id, gone.pid, how);
  if (finishing_) {
    ask_others(id);
    return maybe_done();
  }
  clocks_.leave(id, now());
  for (auto at = flights_.begin(); at != flights_.end();) {
    if (static_cast<int>(at->second.task.worker) != id) {
      ++at;
      continue;
    }
    for (const PartState& shard : shards_) {
      if (shard.line) shard.line->send(MessageType::Drop, at->first, Nothing{});
    }
    at = flights_.erase(at);
  }
  if (!gone.dismissed) {
    ++tally_.deaths;
    progress_->say(fmt::format("worker {} {}", id, how));
    if (!training_) {
      return end_with({Code::Unavailable, fmt::format("worker {} {} before it began", id, how)});
    }
    if (options_.replace && gone.slot >= 0 && !conductor_->ending()) {
      if (const Status started = start_worker(gone.slot); !started.ok()) {
        return end_with(started.error());
      }
    } else {
      --workers_wanted_;
    }
  }
  ring_.holds.erase(id);
  ring_.waiting.erase(id);
  if (architecture(options_) == Architecture::AllReduce) ask_others(id);
  if (gone.joined && training_) conductor_->leave(WorkerId{id}, now());
  if (workers_.empty()) {
    const Error none{Code::Unavailable, "no worker is left"};
    if (architecture(options_) == Architecture::AllReduce) return end_with(none);
    run_end_.fail(none);  // the shards still have the parameters
    conductor_->finish(none.message, now());
    return pump();
  }
  check_ring_update();
  pump();
  find_new_parents(id);
}

// Children that were promised parameters by somebody who is gone get them from whom they hang off
// now; who has them already takes no notice.
void Head::find_new_parents(int lost) {
  for (auto& [number, flight] : flights_) {
    if (flight.parent != lost) continue;
    flight.parent = -1;
    if (!shards_.empty()) ask_shards(flight.task, true);
    for (const auto& [child, parent] : ring_.parents) {
      const PartState* const holder = find(PartRole::Worker, static_cast<int>(parent));
      if (child != flight.task.worker || holder == nullptr || !holder->line) continue;
      flight.parent = holder->id;
      holder->line->send(MessageType::SendParameters, number,
                         SendParametersMessage{.worker = child});
    }
  }
}

void Head::dismiss(int id) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  found->second.dismissed = true;
  found->second.joined = false;
  if (found->second.line) found->second.line->send(MessageType::Stop, 0, Nothing{});
}

}  // namespace orrery
