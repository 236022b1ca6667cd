// Processes that are gone, and what that means for the training.
#include <fmt/format.h>

#include <algorithm>

#include "training/trainer/head/head.h"

namespace orrery {

void Head::line_closed(PartRole role, int id, const Connection* line, const Error& why) {
  const PartState* const part = members_.find(role, id);
  if (run_.over || part == nullptr || part->line.get() != line) return;
  lose(role, id, why.message);
}

void Head::lose(PartRole role, int id, const std::string& how) {
  if (role == PartRole::Worker) return lose_worker(id, how);
  if (role == PartRole::Shard) return restart(fmt::format("shard {} {}", id, how));
  lose_evaluator(how);
}

// Only evaluations wait for it, so it is started again.
void Head::lose_evaluator(const std::string& how) {
  if (!run_.training() && session_.tensors.empty() && !run_.options.members) {
    return run_.fail({Code::Unavailable, fmt::format("the evaluator {} before it began", how)});
  }
  run_.progress.say(fmt::format("the evaluator {}; it is started again", how));
  silence_.forget(PartRole::Evaluator, 0);
  snapshots_->evaluator_lost();
  if (++run_.tally.deaths > 1000 && !run_.options.members) {
    return run_.fail({Code::Aborted, "the evaluator dies at once"});
  }
  members_.replace_evaluator();
}

void Head::lose_worker(int id, const std::string& how) {
  const std::optional<PartState> gone = members_.remove_worker(id);
  if (!gone) return;
  silence_.forget(PartRole::Worker, id);
  exchange_->forget(id);
  run_.log->process(seconds(run_.now()), "worker", id, gone->pid, how);
  if (run_.finishing) {
    if (run_.all_reduce()) snapshots_->ask_others(id);
    return maybe_done();
  }
  run_.worker_clocks.leave(id, run_.now());
  drop_tasks_of(id);
  if (!gone->dismissed && !replace_worker(*gone, how)) return;
  if (run_.all_reduce()) snapshots_->ask_others(id);
  if (gone->joined && run_.training()) session_.conductor->leave(WorkerId{id}, run_.now());
  if (members_.workers().empty() && !run_.options.members) {
    const Error none{Code::Unavailable, "no worker is left"};
    if (run_.all_reduce()) return run_.fail(none);
    run_.end.fail(none);  // the shards still have the parameters
    session_.conductor->finish(none.message, run_.now());
    return pump();
  }
  exchange_->after_loss(id);
}

void Head::drop_tasks_of(int worker) {
  std::erase_if(tasks_.all(), [&](const auto& open) {
    if (static_cast<int>(open.second.task.worker) != worker) return false;
    for (const PartState& shard : members_.shards()) {
      if (shard.line) shard.line->send(MessageType::Drop, open.first, Nothing{});
    }
    return true;
  });
}

// False if the run ends with it.
bool Head::replace_worker(const PartState& gone, const std::string& how) {
  ++run_.tally.deaths;
  run_.progress.say(fmt::format("worker {} {}", gone.id, how));
  if (!run_.training() && !run_.options.members) {
    run_.fail({Code::Unavailable, fmt::format("worker {} {} before it began", gone.id, how)});
    return false;
  }
  if (!run_.options.replace || gone.slot < 0 || session_.conductor->ending()) {
    members_.one_less();
    return true;
  }
  const Status started = members_.start_worker(gone.slot);
  if (!started.ok()) run_.fail(started.error());
  return started.ok();
}

}  // namespace orrery
