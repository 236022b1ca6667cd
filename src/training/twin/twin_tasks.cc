#include <algorithm>
#include <cmath>

#include "training/twin/twin_run.h"

namespace orrery {

// The shards take one gradient after the other; what they are ordered to do with one that is there
// goes before the next.
void TwinRun::serve_next() {
  const auto still_sends = [this](int worker, std::int64_t task) {
    return at(worker).task.number == task && at(worker).stage == Stage::Sending;
  };
  const auto next = shards_.handle_next(now_, still_sends);
  if (next) events_.push(next->ends, Event::Kind::Handled, next->worker, next->task);
}

// No other worker shares the way between two workers.
double TwinRun::pair_s(int a, int b) {
  const double rate = std::min(at(a).link.rate(now_), at(b).link.rate(now_));
  return (rate < SharedLink::kEndless ? std::max(bytes_felt(a), bytes_felt(b)) / rate : 0) +
         setup_.message_s;
}

// A child gets its parameters from its parent. A parent that computes serves it when it is done,
// and what it then does for its child it has less for its next task.
void TwinRun::ask(int number) {
  const int parent = at(number).sends_to;
  const std::int64_t task = at(number).task.number;
  WorkerTwin& above = at(parent);
  if (above.stage == Stage::Computing) {
    const Time done = std::max(above.processor.computed_at(), now_ + Duration(1));
    return events_.push(done, Event::Kind::Asked, number, task);
  }
  // What it costs a parent, its gradient included: 0.17 ms of CPU where a sum cost 1.45.
  constexpr double kOfASum = 0.12;
  const double work_s = kOfASum * setup_.sum_work_s;
  double served_s = seconds(now_);
  if (work_s > 0) served_s = above.processor.serve_s(served_s, work_s);
  events_.push(time_from_seconds(served_s + pair_s(number, parent)), Event::Kind::Replied, number,
               task);
}

void TwinRun::start(const Task& task) {
  const int number = static_cast<int>(task.worker);
  WorkerTwin& worker = at(number);
  worker.task = task;
  worker.started = now_;
  worker.stage = Stage::Fetching;
  worker.sends_to = worker.parent;
  if (all_reduce()) {
    return worker.sends_to < 0 ? compute(number) : ask(number);
  }
  const Time updated = shards_.updates_end(now_);
  if (updated <= now_) return download(number);
  events_.push(updated, Event::Kind::Replied, number, task.number);
}

void TwinRun::download(int number) {
  WorkerTwin& worker = at(number);
  const double own = worker.link.rate(now_);
  const double bytes = bytes_felt(number);
  if (all_reduce() || !down_.limits(own) || bytes == 0) return compute(number);
  down_.start(number, worker.task.number, bytes, own, seconds(now_));
}

void TwinRun::compute(int number) {
  WorkerTwin& worker = at(number);
  worker.stage = Stage::Computing;
  worker.samples = worker.task.samples.count;
  events_.push(worker.processor.begin(worker.task, now_), Event::Kind::Computed, number,
               worker.task.number);
}

void TwinRun::set_worker(int number, double cpu, double link, Time now) {
  now_ = std::max(now_, now);
  WorkerTwin& worker = at(number);
  worker.link.set_share(link);
  const auto computed = worker.processor.set_share(cpu, worker.stage == Stage::Computing, now_);
  if (computed) events_.push(*computed, Event::Kind::Computed, number, worker.task.number);
  follow_own_link(number);
}

void TwinRun::set_shards(double cpu, double link, Time now) {
  now_ = std::max(now_, now);
  shards_.set_cpu(cpu);
  const double rate = rate_or_endless(setup_.shards.bytes_per_s) * link;
  up_.set_capacity(rate, seconds(now_));
  down_.set_capacity(rate, seconds(now_));
}

void TwinRun::send(int number) {
  WorkerTwin& worker = at(number);
  worker.stage = Stage::Sending;
  if (worker.sends_to >= 0) {
    events_.push(now_ + from_seconds(pair_s(number, worker.sends_to)), Event::Kind::AtParent,
                 number, worker.task.number);
    return;
  }
  if (all_reduce()) return hand_in(number);
  worker.stage = Stage::Done;
  merge(number);
}

// A parent sends one gradient for itself and for its children, once it has them all.
void TwinRun::merge(int parent) {
  const bool waits = tree_ && std::ranges::any_of(workers_, [&](const WorkerTwin& child) {
                       return child.sends_to == parent && child.stage != Stage::Idle &&
                              child.stage != Stage::AtParent;
                     });
  if (at(parent).stage == Stage::Done && !waits) upload(parent);
}

void TwinRun::upload(int number) {
  WorkerTwin& worker = at(number);
  worker.stage = Stage::Sending;
  const double own = worker.link.rate(now_);
  const double bytes = bytes_felt(number);
  if (!up_.limits(own) || bytes == 0) return arrive(number);
  up_.start(number, worker.task.number, bytes, own, seconds(now_));
}

void TwinRun::die(int number) {
  WorkerTwin& worker = at(number);
  const int parent = worker.sends_to;
  worker.stage = Stage::Idle;
  worker.sends_to = -1;
  up_.drop(number, seconds(now_));
  down_.drop(number, seconds(now_));
  conductor_.leave(WorkerId{number}, now_);
  if (all_reduce()) return;
  for (int i = 0; i < static_cast<int>(workers_.size()); ++i) {
    if (at(i).sends_to != number) continue;
    at(i).sends_to = -1;
    if (at(i).stage == Stage::AtParent) upload(i);
  }
  if (parent >= 0) merge(parent);
}

void TwinRun::arrive(int number) {
  if (shards_.takes_at_once(now_)) return hand_in(number);
  shards_.arrive(number, at(number).task.number);
}

void TwinRun::hand_in(int number) {
  WorkerTwin& worker = at(number);
  if (worker.sends_to >= 0 && !all_reduce()) {
    worker.stage = Stage::AtParent;
    return merge(worker.sends_to);
  }
  Gradient gradient{.task = worker.task.number, .samples = worker.samples};
  worker.stage = Stage::Idle;
  if (tree_) {
    for (WorkerTwin& child : workers_) {
      if (child.stage != Stage::AtParent || child.sends_to != number) continue;
      gradient.merged.push_back(child.task.number);
      gradient.samples += child.samples;
      child.stage = Stage::Idle;
    }
  }
  learning_.describe(gradient, worker.task);
  const double took_s = std::max(1e-9, seconds(now_ - worker.started));
  worker.task_s = took_s;
  gradient.usage = {.cpu_share = worker.processor.work_s() / took_s,
                    .throttled_share = 1 - worker.processor.speed(now_),
                    .in_bytes_per_s = setup_.parameter_bytes / took_s,
                    .out_bytes_per_s = setup_.parameter_bytes / took_s};
  if (const double rate = worker.link.rate(now_); all_reduce() && rate < SharedLink::kEndless) {
    gradient.usage.way_s = setup_.parameter_bytes / rate;
  }
  conductor_.ready(gradient, now_);
}

void TwinRun::cut(int number, std::int64_t task) {
  WorkerTwin& worker = at(number);
  const bool under_way = worker.stage == Stage::Fetching || worker.stage == Stage::Computing;
  if (worker.task.number != task || !under_way) return;
  const double share = worker.stage == Stage::Computing ? worker.processor.cut(now_) : 0;
  const int blocks = std::max(1, worker.task.blocks);
  const double whole = std::floor(share * blocks) / blocks;
  worker.samples = static_cast<std::int32_t>(whole * worker.task.samples.count);
  if (worker.samples == 0) {
    down_.drop(number, seconds(now_));
    worker.stage = Stage::Idle;
    conductor_.ready({.task = task}, now_);
    return;
  }
  send(number);
}

}  // namespace orrery
