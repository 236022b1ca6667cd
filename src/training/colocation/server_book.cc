#include "training/colocation/server_book.h"

#include <algorithm>

#include "base/invariant.h"
#include "training/colocation/grant_decision.h"

namespace orrery {

void SharedServerBook::add_server(ServerId server, const Load& capacity) {
  servers_[server] = capacity;
}

Load SharedServerBook::capacity(ServerId server) const {
  const auto at = servers_.find(server);
  return at == servers_.end() ? Load{} : at->second;
}

Load SharedServerBook::held(ServerId server) const {
  Load sum;
  for (const auto& [id, job] : jobs_) {
    for (const BookedTask& task : job.tasks) {
      if (task.server == server) sum += task.limit;
    }
  }
  return sum;
}

const BookedJob* SharedServerBook::find(JobId job) const {
  const auto at = jobs_.find(job);
  return at == jobs_.end() ? nullptr : &at->second;
}

bool SharedServerBook::has_lent(JobId job) const {
  for (const auto& [asker, changes] : grants_) {
    if (asker == job) continue;
    for (const LimitChange& change : changes) {
      if (change.job == job) return true;
    }
  }
  return false;
}

void SharedServerBook::put(const BookedJob& job) {
  BookedJob next = job;
  for (const auto& [asker, changes] : grants_) {
    for (const LimitChange& change : changes) {
      if (change.job != job.job) continue;
      const auto& known = jobs_.at(job.job).tasks;
      const auto old = std::ranges::find(known, change.task, &BookedTask::number);
      const auto task = std::ranges::find(next.tasks, change.task, &BookedTask::number);
      if (old != known.end() && task != next.tasks.end()) task->limit = old->limit;
    }
  }
  jobs_[job.job] = std::move(next);
}

void SharedServerBook::apply(const std::vector<LimitChange>& changes) {
  for (const LimitChange& change : changes) {
    std::vector<BookedTask>& tasks = jobs_.at(change.job).tasks;
    const auto task = std::ranges::find(tasks, change.task, &BookedTask::number);
    INVARIANT(task != tasks.end(), "a change of a task that the book does not have");
    task->limit = change.limit;
  }
}

Consideration SharedServerBook::consider(const LooserMode& request) {
  const BookedJob* asker = find(request.job);
  if (asker == nullptr) return {.reason = "the book does not know the job"};
  if (has_lent(request.job)) return {.reason = "it has lent to another job"};
  // A job that has a grant and asks for another is judged as if it gave the first one back.
  SharedServerBook without = *this;
  const std::vector<LimitChange> returned = without.withdraw(request.job);
  std::vector<ServerLoad> servers;
  for (const auto& [id, capacity] : without.servers_) {
    servers.push_back({.server = id, .capacity = capacity, .held = without.held(id)});
  }
  Consideration decided = decide_grant(request, without.jobs_, servers, options_);
  if (!decided.granted) return decided;
  without.apply(decided.changes);
  without.grants_[request.job] = decided.changes;
  // What is to be enforced counts from what is in force, the old grant included.
  for (const LimitChange& back : returned) {
    const auto same = [&](const LimitChange& change) {
      return change.job == back.job && change.task == back.task;
    };
    const auto change = std::ranges::find_if(decided.changes, same);
    if (change != decided.changes.end()) {
      change->before = back.before;
    } else {
      decided.changes.push_back(back);
    }
  }
  *this = std::move(without);
  return decided;
}

std::vector<LimitChange> SharedServerBook::withdraw(JobId job) {
  const auto grant = grants_.find(job);
  if (grant == grants_.end()) return {};
  std::vector<LimitChange> back;
  for (const LimitChange& change : grant->second) {
    const BookedJob& holder = jobs_.at(change.job);
    const auto task = std::ranges::find(holder.tasks, change.task, &BookedTask::number);
    if (task == holder.tasks.end()) continue;
    // By the difference, since another grant may have moved the same limit since.
    back.push_back({.job = change.job,
                    .task = change.task,
                    .server = change.server,
                    .before = task->limit,
                    .limit = (task->limit + (change.before - change.limit)).positive()});
  }
  grants_.erase(grant);
  apply(back);
  return back;
}

std::vector<LimitChange> SharedServerBook::remove(JobId job) {
  std::vector<LimitChange> back = withdraw(job);
  std::erase_if(back, [job](const LimitChange& change) { return change.job == job; });
  for (auto& [asker, changes] : grants_) {
    std::erase_if(changes, [job](const LimitChange& change) { return change.job == job; });
  }
  jobs_.erase(job);
  return back;
}

}  // namespace orrery
