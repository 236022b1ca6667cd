#include "training/sync/conductor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "training/sync/conductor_inside.h"

namespace orrery {

Conductor::Conductor(ConductorOptions options, std::unique_ptr<Director> director,
                     const ConductorState& from)
    : inside_(std::make_unique<Inside>(std::move(options), std::move(director), from)) {}
Conductor::~Conductor() = default;

void Conductor::join(WorkerId worker, Time now) {
  Inside& in = *inside_;
  if (in.finished || in.end_reason) return;
  if (in.membership.seat_of(worker) >= 0) {
    ++in.counts.refused;
    return;
  }
  in.set_idle(in.membership.add(worker));
  if (!in.begun) {
    if (in.membership.size() < in.options.workers_first) return;
    in.begin(now);
  } else {
    in.membership_changed(now);
  }
  in.settle(now);
}

void Conductor::leave(WorkerId worker, Time now) {
  Inside& in = *inside_;
  if (in.finished) return;
  const int seat = in.membership.seat_of(worker);
  if (seat < 0) {
    ++in.counts.refused;
    return;
  }
  in.remove_member(seat);
  if (!in.begun) return;
  if (in.flying && in.membership.size() == 0) {  // no worker is left to report how it ended
    failed(in.version + 1, {}, now);
    return;
  }
  in.membership_changed(now);
  in.settle(now);
}

void Conductor::retire(WorkerId worker, Time now) {
  Inside& in = *inside_;
  if (in.finished) return;
  const int seat = in.membership.seat_of(worker);
  if (seat < 0 || in.membership[seat].retiring) {
    ++in.counts.refused;
    return;
  }
  in.membership[seat].retiring = true;
  ++in.retiring;
  if (!in.begun) {
    in.remove_member(seat);
    in.orders.push_back(DismissWorker{worker});
    return;
  }
  in.membership_changed(now);
  in.settle(now);
}

void Conductor::ready(const Gradient& gradient, Time now) {
  Inside& in = *inside_;
  if (in.finished) return;
  OpenTask* const open = in.tasks.find(gradient.task);
  if (open == nullptr || open->state != OpenTask::State::Computing) {
    ++in.counts.refused;
    // A gradient of a worker that left cannot be used.
    if (open == nullptr && gradient.task > 0 && gradient.task < in.next_task) {
      in.orders.push_back(DropGradient{gradient.task, "its task has ended"});
    }
    return;
  }
  in.hand_in(*open, gradient, now);
  in.settle(now);
}

void Conductor::spoiled(std::int64_t task, const std::string& why, Time now) {
  Inside& in = *inside_;
  if (in.finished) return;
  OpenTask* const open = in.tasks.find(task);
  if (open == nullptr || open->state != OpenTask::State::Computing) {
    ++in.counts.refused;
    return;
  }
  in.spoil(*open, why, now);
  in.settle(now);
}

void Conductor::applied(const UpdateSample& update, Time now) {
  Inside& in = *inside_;
  if (in.finished) return;
  const bool flies = in.flying && update.version == in.version + 1;
  UpdateSample& recent =
      in.recent[static_cast<std::size_t>(update.version) & (in.recent.size() - 1)];
  if (update.version <= 0 || recent.version != update.version || (in.all_reduce() && !flies)) {
    ++in.counts.refused;
    return;
  }
  recent.took = now - recent.at;
  if (flies) recent.at = now;
  recent.fresh_mean_norm2 = std::isfinite(update.fresh_mean_norm2) ? update.fresh_mean_norm2 : 0;
  if (in.director) in.director->on_update(recent);
  recent.version = -1;
  if (!flies) return;
  in.flying = false;
  in.complete_update(now);
  in.end_if_due(now);
  in.settle(now);
}

void Conductor::failed(ParameterVersion version, std::span<const WorkerId> lost, Time now) {
  Inside& in = *inside_;
  if (in.finished) return;
  if (!in.flying || version != in.version + 1) {
    ++in.counts.refused;
    return;
  }
  in.flying = false;
  for (const WorkerId worker : lost) {
    const int seat = in.membership.seat_of(worker);
    if (seat >= 0) in.remove_member(seat);
  }
  std::vector<std::int64_t> gone;
  for (const Term& term : in.terms) {
    OpenTask& open = *in.tasks.find(term.task);
    open.state = OpenTask::State::Held;
    const bool is_there = in.membership[open.lies_at].state != MemberState::Gone;
    if (!is_there) gone.push_back(term.task);
  }
  for (const std::int64_t task : gone) {
    lose_from(in.terms, task);
    in.lose(task);
  }
  if (in.end_reason) return in.end_if_due(now);
  in.ring = {};  // the group is broken, so even the same ring is formed again
  in.membership_changed(now);
  if (!in.terms.empty()) {
    in.make_update(now);
  }
  in.settle(now);
}

void Conductor::evaluated(const EvaluationSample& evaluation, Time now) {
  Inside& in = *inside_;
  if (evaluation.version > in.version || evaluation.version <= in.evaluation_seen) {
    ++in.counts.refused;
    return;
  }
  in.evaluation_seen = evaluation.version;
  if (in.director) in.director->on_evaluation(evaluation);
  in.target.add(seconds(evaluation.at), evaluation.accuracy);
  if (!in.finished && in.target.reached_s()) in.finish("the target was reached", now);
}

void Conductor::tick(Time now) {
  if (inside_->finished || !inside_->begun) return;
  inside_->ask(now, inside_->under_way(now));
  inside_->settle(now);
}

void Conductor::save(Time now) {
  if (inside_->finished || !inside_->begun) return;
  inside_->checkpoint_due = true;
  inside_->settle(now);
}

void Conductor::finish(const std::string& reason, Time now) { inside_->finish(reason, now); }

std::vector<Order> Conductor::take_orders() { return std::exchange(inside_->orders, {}); }

void Conductor::take_orders(std::vector<Order>& into) {
  into.clear();
  into.swap(inside_->orders);
}

ConductorState Conductor::state() const {
  return inside_->checkpointed ? inside_->checkpoint : inside_->state_now();
}
const ConductorCounts& Conductor::counts() const { return inside_->counts; }
const Mode& Conductor::mode() const { return inside_->mode; }
bool Conductor::ending() const { return inside_->end_reason.has_value(); }
bool Conductor::finished() const { return inside_->finished; }
std::optional<double> Conductor::target_reached_s() const { return inside_->target.reached_s(); }

}  // namespace orrery
