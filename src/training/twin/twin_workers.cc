#include <algorithm>
#include <cmath>

#include "training/sync/ring_sum.h"
#include "training/twin/twin_run.h"

namespace orrery {

// The shards take one gradient after the other; what they are ordered to do with one that is there
// goes before the next.
void TwinRun::serve_next() {
  while (!serving_ && !arrived_.empty()) {
    const auto [number, task] = arrived_.front();
    arrived_.pop_front();
    if (at(number).task.number != task || at(number).stage != Stage::Sending) continue;  // it died
    serving_ = true;
    push(std::max(shards_free_, now_) + from_seconds(setup_.shards.gradient_s / shards_cpu_),
         Event::Kind::Handled, number, task);
  }
}

// Between two workers nobody else shares the way.
double TwinRun::pair_s(int a, int b) {
  const double rate = std::min(own_rate(a), own_rate(b));
  return (rate < SharedLink::kEndless ? std::max(bytes_felt(a), bytes_felt(b)) / rate : 0) +
         setup_.message_s;
}

// As slow as its slowest link and its slowest processor. Whoever sums does not rest: what it has
// saved up by then is gone when it begins its next task.
Time TwinRun::ring_done() {
  constexpr double kShareLeast = 1e-3;
  double rate = SharedLink::kEndless, latency_s = 0, share = 1;
  for (const WorkerId id : ring_) {
    const int number = static_cast<int>(id);
    rate = std::min(rate, own_rate(number));
    latency_s += setup_.workers[static_cast<std::size_t>(number)].latency_s;
    share = std::min(share, at(number).cpu.at(seconds(now_)) * at(number).cpu_share);
  }
  const int members = static_cast<int>(ring_.size());
  if (members < 2) return now_;
  const double way_s = rate < SharedLink::kEndless ? setup_.parameter_bytes / rate : 0;
  const double message_s = latency_s / members + setup_.message_s;
  const Time done = now_ + from_seconds(ring_sum_s(members, way_s, message_s) +
                                        setup_.sum_work_s / std::max(share, kShareLeast));
  for (const WorkerId id : ring_) {
    Worker& member = at(static_cast<int>(id));
    if (member.quota) member.quota->tire(seconds(done), member.cpu, member.cpu_share);
  }
  return done;
}

// A child gets its parameters from its parent. Whoever computes sees nothing else, and hears it
// when it is done; what it then does for its child it has less for its next task.
void TwinRun::ask(int number) {
  const int parent = at(number).sends_to;
  const std::int64_t task = at(number).task.number;
  Worker& above = at(parent);
  if (above.stage == Stage::Computing) {
    return push(std::max(above.computed_at, now_ + Duration(1)), Event::Kind::Asked, number, task);
  }
  // What it costs a parent, its gradient included: 0.17 ms of CPU where a sum cost 1.45.
  constexpr double kOfASum = 0.12;
  const double work_s = kOfASum * setup_.sum_work_s;
  double served_s = seconds(now_);
  if (work_s > 0) {
    served_s = above.quota ? above.quota->work(served_s, {work_s, 0}, above.cpu, above.cpu_share)
                           : above.cpu.finish_s(served_s, work_s / above.cpu_share);
  }
  push(time_from_seconds(served_s + pair_s(number, parent)), Event::Kind::Replied, number, task);
}

void TwinRun::start(const Task& task) {
  const int number = static_cast<int>(task.worker);
  Worker& worker = at(number);
  worker.task = task;
  worker.started = now_;
  worker.stage = Stage::Fetching;
  worker.sends_to = worker.parent;
  if (all_reduce()) {
    return worker.sends_to < 0 ? compute(number) : ask(number);
  }
  if (shards_free_ <= now_) return download(number);
  push(shards_free_, Event::Kind::Replied, number, task.number);
}

void TwinRun::download(int number) {
  Worker& worker = at(number);
  const double own = own_rate(number);
  const double bytes = bytes_felt(number);
  if (all_reduce() || !down_.limits(own) || bytes == 0) return compute(number);
  down_.start(number, worker.task.number, bytes, own, seconds(now_));
}

void TwinRun::compute(int number) {
  Worker& worker = at(number);
  const TwinWorker& facts = setup_.workers[static_cast<std::size_t>(number)];
  worker.stage = Stage::Computing;
  worker.compute_from = now_;
  worker.work_s = facts.fixed_s + facts.per_sample_s * worker.task.samples.count +
                  facts.block_s * std::max(0, worker.task.blocks - 1);
  if (setup_.jitter > 0) {
    // Cut off far below, so that nothing takes no time at all.
    worker.work_s *= std::max(0.1, 1 + setup_.jitter * worker.random.normal());
  }
  worker.done_s = 0;
  worker.samples = worker.task.samples.count;
  plan_computing(worker, number);
}

void TwinRun::plan_computing(Worker& worker, int number) {
  const double left_s = worker.work_s - worker.done_s;
  double computed_s = 0;
  if (worker.quota) {
    // Of what a task costs however small it is, one half is parameters in, the other gradient out.
    const double sends_s = setup_.workers[static_cast<std::size_t>(number)].fixed_s / 2;
    computed_s = worker.quota->work(seconds(now_), {left_s, sends_s}, worker.cpu, worker.cpu_share);
  } else {
    computed_s = worker.cpu.finish_s(seconds(now_), left_s / worker.cpu_share);
  }
  // At least a nanosecond, so that time goes on whatever the setup says.
  worker.computed_at =
      std::max(now_ + Duration(1), time_from_seconds(computed_s + worker.exchange_s));
  push(worker.computed_at, Event::Kind::Computed, number, worker.task.number);
}

double TwinRun::work_done_s(const Worker& worker) const {
  if (worker.quota) {
    return std::min(worker.work_s, worker.done_s + worker.quota->done_s(seconds(now_)));
  }
  const double since_s = worker.cpu.done_s(seconds(worker.compute_from), seconds(now_));
  return std::min(worker.work_s, worker.done_s + since_s * worker.cpu_share);
}

void TwinRun::break_off(Worker& worker) {
  if (worker.quota) worker.quota->stop(seconds(now_), worker.cpu, worker.cpu_share);
}

void TwinRun::set_worker(int number, double cpu, double link, Time now) {
  now_ = std::max(now_, now);
  Worker& worker = at(number);
  if (worker.stage == Stage::Computing) {
    worker.done_s = work_done_s(worker);
    worker.compute_from = now_;
    break_off(worker);
  }
  worker.cpu_share = cpu;
  worker.link_share = link;
  if (worker.stage == Stage::Computing) plan_computing(worker, number);
  up_.set_own(number, own_rate(number), seconds(now_));
  down_.set_own(number, own_rate(number), seconds(now_));
}

void TwinRun::set_shards(double cpu, double link, Time now) {
  now_ = std::max(now_, now);
  shards_cpu_ = cpu;
  const double rate = rate_or_endless(setup_.shards.bytes_per_s) * link;
  up_.set_capacity(rate, seconds(now_));
  down_.set_capacity(rate, seconds(now_));
}

void TwinRun::send(int number) {
  Worker& worker = at(number);
  worker.stage = Stage::Sending;
  if (worker.sends_to >= 0) {
    push(now_ + from_seconds(pair_s(number, worker.sends_to)), Event::Kind::AtParent, number,
         worker.task.number);
    return;
  }
  if (all_reduce()) return hand_in(number);
  worker.stage = Stage::Done;
  merge(number);
}

// A parent sends one gradient for itself and for its children, once it has them all.
void TwinRun::merge(int parent) {
  const bool waits = tree_ && std::ranges::any_of(workers_, [&](const Worker& child) {
                       return child.sends_to == parent && child.stage != Stage::Idle &&
                              child.stage != Stage::AtParent;
                     });
  if (at(parent).stage == Stage::Done && !waits) upload(parent);
}

void TwinRun::upload(int number) {
  Worker& worker = at(number);
  worker.stage = Stage::Sending;
  const double own = own_rate(number);
  const double bytes = bytes_felt(number);
  if (!up_.limits(own) || bytes == 0) return arrive(number);
  up_.start(number, worker.task.number, bytes, own, seconds(now_));
}

void TwinRun::die(int number) {
  Worker& worker = at(number);
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
  if (setup_.shards.gradient_s == 0 && shards_free_ <= now_) return hand_in(number);
  arrived_.push_back({number, at(number).task.number});
}

void TwinRun::hand_in(int number) {
  Worker& worker = at(number);
  if (worker.sends_to >= 0 && !all_reduce()) {
    worker.stage = Stage::AtParent;
    return merge(worker.sends_to);
  }
  Gradient gradient{.task = worker.task.number, .samples = worker.samples};
  worker.stage = Stage::Idle;
  if (tree_) {
    for (Worker& child : workers_) {
      if (child.stage != Stage::AtParent || child.sends_to != number) continue;
      gradient.merged.push_back(child.task.number);
      gradient.samples += child.samples;
      child.stage = Stage::Idle;
    }
  }
  const double norm2 = progress_.gradient_norm2();
  const ConvergenceModel& model = setup_.convergence;
  const auto batch = static_cast<double>(std::max(1, gradient.samples));
  const double age = static_cast<double>(newest_.version - worker.task.version);
  gradient.loss = progress_.loss();
  gradient.norm2 = norm2 * (1 + model.noise_scale / batch);
  gradient.dot_validation = norm2 * model.worth(age);
  gradient.norm2_validation = norm2 * (1 + model.noise_scale / setup_.conductor.global_batch);
  const double took_s = std::max(1e-9, seconds(now_ - worker.started));
  worker.task_s = took_s;
  const double share = worker.cpu.at(seconds(now_));
  gradient.usage = {.cpu_share = worker.work_s / took_s,
                    .throttled_share = 1 - share * worker.cpu_share,
                    .in_bytes_per_s = setup_.parameter_bytes / took_s,
                    .out_bytes_per_s = setup_.parameter_bytes / took_s};
  if (all_reduce() && own_rate(number) < SharedLink::kEndless) {
    gradient.usage.way_s = setup_.parameter_bytes / own_rate(number);
  }
  conductor_.ready(gradient, now_);
}

void TwinRun::cut(int number, std::int64_t task) {
  Worker& worker = at(number);
  const bool under_way = worker.stage == Stage::Fetching || worker.stage == Stage::Computing;
  if (worker.task.number != task || !under_way) return;
  double share = 0;
  if (worker.stage == Stage::Computing && worker.work_s > 0) {
    share = work_done_s(worker) / worker.work_s;
    break_off(worker);
  }
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
