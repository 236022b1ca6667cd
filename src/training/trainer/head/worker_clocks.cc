#include "training/trainer/head/worker_clocks.h"

#include <algorithm>

namespace orrery {

void WorkerClocks::join(int worker, pid_t pid, Time now) {
  if (pid <= 0) return;
  auto clock = ProcessClock::open(pid);
  if (!clock.ok()) return;  // it has ended already
  Running running{.clock = std::move(clock).value(), .first = now, .last = now};
  running.cpu_first_s = running.cpu_last_s = running.clock.cpu_s();
  running_.insert_or_assign(worker, std::move(running));
  if (!first_) first_ = now;
}

void WorkerClocks::look(Running& running, Time now) {
  if (!running.clock.signal(0)) return;  // what it has used since the last look is lost
  running.cpu_last_s = running.clock.cpu_s();
  running.last = now;
}

void WorkerClocks::sample(Time now) {
  for (auto& [worker, running] : running_) look(running, now);
}

void WorkerClocks::leave(int worker, Time now) {
  const auto found = running_.find(worker);
  if (found == running_.end()) return;
  Running& running = found->second;
  look(running, now);
  cpu_s_ += running.cpu_last_s - running.cpu_first_s;
  present_s_ += seconds(running.last - running.first);
  last_ = std::max(last_, running.last);
  running_.erase(found);
}

void WorkerClocks::leave_all(Time now) {
  while (!running_.empty()) leave(running_.begin()->first, now);
}

std::optional<double> WorkerClocks::mean_s() const {
  double cpu_s = cpu_s_, present_s = present_s_;
  Time last = last_;
  for (const auto& [worker, running] : running_) {
    cpu_s += running.cpu_last_s - running.cpu_first_s;
    present_s += seconds(running.last - running.first);
    last = std::max(last, running.last);
  }
  if (!first_ || !(present_s > 0)) return std::nullopt;
  return cpu_s / present_s * seconds(last - *first_);
}

}  // namespace orrery
