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
      shards_(setup.shards),
      up_(rate_or_endless(setup.shards.bytes_per_s)),
      down_(rate_or_endless(setup.shards.bytes_per_s)),
      learning_(setup) {
  Random seeds(setup.seed);
  for (int i = 0; i < static_cast<int>(setup.workers.size()); ++i) {
    workers_.emplace_back(setup, i, seeds);
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

void TwinRun::begin() {
  std::vector<bool> later(workers_.size());
  for (std::size_t i = 0; i < setup_.changes.size(); ++i) {
    const TwinChange& change = setup_.changes[i];
    events_.push(change.at, Event::Kind::Change, static_cast<int>(i), 0);
    if (change.joins) later[static_cast<std::size_t>(change.worker)] = true;
  }
  for (const StragglerStep& step : setup_.script.steps) {
    if (step.resource == ServerResource::Bandwidth &&
        step.server < static_cast<int>(workers_.size())) {
      events_.push(step.at, Event::Kind::LinkStep, step.server, 0);
    }
  }
  if (directed_) events_.push(now_ + setup_.conductor.tick, Event::Kind::Tick, 0, 0);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (!later[i]) conductor_.join(WorkerId{static_cast<int>(i)}, now_);
  }
  carry_out();
}

Time TwinRun::next() const {
  const Time link = time_from_seconds(std::min(up_.next_s(), down_.next_s()));
  return std::min(link, events_.next());
}

bool TwinRun::step() {
  if (conductor_.finished()) return false;
  const Time when = next();
  if (when == kNever || (when > Time(setup_.horizon) && !conductor_.ending())) {
    conductor_.finish(when == kNever ? "no worker is left" : "the horizon was reached", now_);
    carry_out();
    return when != kNever && !conductor_.finished();  // a sum under way ends first
  }
  now_ = std::max(now_, when);
  ++result_.events;
  if (when < events_.next()) {
    const bool up = up_.next_s() <= down_.next_s();
    const int worker = (up ? up_ : down_).take(seconds(now_)).worker;
    up ? arrive(worker) : compute(worker);
  } else {
    happen(events_.pop());
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
      return follow_own_link(event.worker);
    case Event::Kind::Tick:
      return tick();
    case Event::Kind::RingDone:
      if (event.task == learning_.newest().version) conductor_.applied(learning_.newest(), now_);
      return;
    default:
      break;
  }
  if (event.kind == Event::Kind::Handled) shards_.handled();
  const WorkerTwin& worker = at(event.worker);
  if (worker.task.number != event.task || worker.stage == Stage::Idle) return;  // it has died
  if (event.kind == Event::Kind::Replied) download(event.worker);
  if (event.kind == Event::Kind::Computed && worker.stage == Stage::Computing &&
      event.at == worker.processor.computed_at()) {
    send(event.worker);
  }
  if (event.kind == Event::Kind::Asked) return ask(event.worker);
  const bool there = event.kind == Event::Kind::Handled || event.kind == Event::Kind::AtParent;
  if (there && worker.stage == Stage::Sending) hand_in(event.worker);
}

void TwinRun::tick() {
  conductor_.tick(now_);
  // Alone, ticks would go on for ever.
  if (!events_.empty() || up_.next_s() < SharedLink::kEndless ||
      down_.next_s() < SharedLink::kEndless) {
    events_.push(now_ + setup_.conductor.tick, Event::Kind::Tick, 0, 0);
  }
}

void TwinRun::follow_own_link(int worker) {
  const double rate = at(worker).link.rate(now_);
  up_.set_own(worker, rate, seconds(now_));
  down_.set_own(worker, rate, seconds(now_));
}

void TwinRun::change(const TwinChange& change) {
  change.joins ? conductor_.join(WorkerId{change.worker}, now_) : die(change.worker);
}

TwinResult TwinRun::conclude() {
  result_.tally.counts = conductor_.counts();
  result_.final_accuracy = learning_.accuracy();
  result_.wall_s = seconds(now_);
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
