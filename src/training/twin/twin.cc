#include "training/twin/twin.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <variant>

#include "training/twin/twin_run.h"

namespace orrery {

TwinRun::TwinRun(const TwinSetup& setup, std::unique_ptr<Director> director)
    : setup_(setup),
      directed_(director != nullptr),
      conductor_(options_of(setup), std::move(director), {.mode = setup.mode}),
      up_(rate_or_endless(setup.shards.bytes_per_s)),
      down_(rate_or_endless(setup.shards.bytes_per_s)),
      progress_(setup.convergence),
      scatter_(setup.seed * 2 + 1) {
  const int count = static_cast<int>(setup.workers.size());
  Random seeds(setup.seed);
  for (int i = 0; i < count; ++i) {
    workers_.emplace_back(setup.script, i, seeds.bits());
    workers_.back().exchange_s = exchange_s(i);
    const double cores = setup.workers[static_cast<std::size_t>(i)].cores;
    if (cores > 0) workers_.back().quota.emplace(cores, seeds.bits());
  }
  result_.gradients_of.resize(workers_.size());
}

ConductorOptions TwinRun::options_of(const TwinSetup& setup) {
  ConductorOptions options = setup.conductor;
  options.workers_first = static_cast<int>(setup.workers.size());
  for (const TwinChange& change : setup.changes) {
    if (change.joins && change.at > Time{}) --options.workers_first;
  }
  return options;
}

// What latency adds to an iteration of that worker: over the longest path that it needs.
double TwinRun::exchange_s(int worker) const {
  double path_s = setup_.workers[static_cast<std::size_t>(worker)].latency_s;
  if (setup_.shards.on_workers) {
    double others_s = 0;
    for (std::size_t i = 0; i < setup_.workers.size(); ++i) {
      if (i != static_cast<std::size_t>(worker)) {
        others_s = std::max(others_s, setup_.workers[i].latency_s);
      }
    }
    path_s += others_s;
  }
  return setup_.latency_factor * path_s + setup_.latency_square_per_s * path_s * path_s;
}

double TwinRun::own_rate(int worker) {
  const double rate = setup_.workers[static_cast<std::size_t>(worker)].bytes_per_s;
  return rate > 0 ? rate * at(worker).link_share * at(worker).link.at(seconds(now_))
                  : SharedLink::kEndless;
}

// What of the parameters does not go through at once.
double TwinRun::bytes_felt(int worker) {
  const double rate = own_rate(worker);
  const double burst_s = setup_.workers[static_cast<std::size_t>(worker)].burst_s;
  if (!(rate < SharedLink::kEndless)) return setup_.parameter_bytes;
  return std::max(0.0, setup_.parameter_bytes - burst_s * rate);
}

void TwinRun::push(Time when, Event::Kind kind, int worker, std::int64_t task) {
  events_.push({when, ++sequence_, kind, worker, task});
}

void TwinRun::begin() {
  std::vector<bool> later(workers_.size());
  for (std::size_t i = 0; i < setup_.changes.size(); ++i) {
    const TwinChange& change = setup_.changes[i];
    push(change.at, Event::Kind::Change, static_cast<int>(i), 0);
    if (change.joins) later[static_cast<std::size_t>(change.worker)] = true;
  }
  for (const StragglerStep& step : setup_.script.steps) {
    if (step.resource == ServerResource::Bandwidth &&
        step.server < static_cast<int>(workers_.size())) {
      push(step.at, Event::Kind::LinkStep, step.server, 0);
    }
  }
  if (directed_) push(now_ + setup_.conductor.tick, Event::Kind::Tick, 0, 0);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (!later[i]) conductor_.join(WorkerId{static_cast<int>(i)}, now_);
  }
  carry_out();
}

Time TwinRun::next() const {
  const Time link = time_from_seconds(std::min(up_.next_s(), down_.next_s()));
  return events_.empty() ? link : std::min(link, events_.top().at);
}

bool TwinRun::step() {
  if (conductor_.finished()) return false;
  const Time when = next();
  if (when == kNever || (when > Time(setup_.horizon) && !conductor_.ending())) {
    conductor_.finish(when == kNever ? "nobody works" : "the horizon was reached", now_);
    carry_out();
    return when != kNever && !conductor_.finished();  // a sum under way ends first
  }
  now_ = std::max(now_, when);
  ++result_.events;
  if (events_.empty() || when < events_.top().at) {
    const bool up = up_.next_s() <= down_.next_s();
    const int worker = (up ? up_ : down_).take(seconds(now_)).worker;
    up ? arrive(worker) : compute(worker);
  } else {
    const Event event = events_.top();
    events_.pop();
    happen(event);
  }
  carry_out();
  serve_next();
  return !conductor_.finished();
}

void TwinRun::happen(const Event& event) {
  switch (event.kind) {
    case Event::Kind::Change:
      change(setup_.changes[static_cast<std::size_t>(event.worker)]);
      return;
    case Event::Kind::LinkStep:
      up_.set_own(event.worker, own_rate(event.worker), seconds(now_));
      down_.set_own(event.worker, own_rate(event.worker), seconds(now_));
      return;
    case Event::Kind::Tick:
      conductor_.tick(now_);
      // Alone, ticks would go on for ever.
      if (!events_.empty() || up_.next_s() < SharedLink::kEndless ||
          down_.next_s() < SharedLink::kEndless) {
        push(now_ + setup_.conductor.tick, Event::Kind::Tick, 0, 0);
      }
      return;
    case Event::Kind::RingDone:
      if (event.task == newest_.version) conductor_.applied(newest_, now_);
      return;
    default:
      break;
  }
  if (event.kind == Event::Kind::Handled) serving_ = false;
  Worker& worker = at(event.worker);
  if (worker.task.number != event.task || worker.stage == Stage::Idle) return;  // it has died
  if (event.kind == Event::Kind::Replied) download(event.worker);
  if (event.kind == Event::Kind::Computed && worker.stage == Stage::Computing &&
      event.at == worker.computed_at) {
    send(event.worker);
  }
  if (event.kind == Event::Kind::Asked) return ask(event.worker);
  const bool there = event.kind == Event::Kind::Handled || event.kind == Event::Kind::AtParent;
  if (there && worker.stage == Stage::Sending) hand_in(event.worker);
}

void TwinRun::change(const TwinChange& change) {
  change.joins ? conductor_.join(WorkerId{change.worker}, now_) : die(change.worker);
}

TwinResult TwinRun::conclude() {
  const ConductorCounts& counts = conductor_.counts();
  result_.final_accuracy = progress_.accuracy();
  result_.wall_s = seconds(now_);
  result_.gradients = counts.gradients;
  result_.updates = counts.updates;
  result_.dropped = counts.dropped;
  result_.lost = counts.lost;
  result_.mode_switches = counts.mode_switches;
  if (counts.gradients > 0) {
    result_.mean_staleness =
        static_cast<double>(counts.staleness_sum) / static_cast<double>(counts.gradients);
  }
  return std::move(result_);
}

TwinResult run_twin(const TwinSetup& setup, std::unique_ptr<Director> director) {
  TwinRun run(setup, std::move(director));
  run.begin();
  while (run.step()) {
  }
  return run.conclude();
}

}  // namespace orrery
