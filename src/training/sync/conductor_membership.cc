#include <algorithm>

#include "training/sync/conductor_inside.h"

namespace orrery {
namespace {

// All-reduce has no servers that could hold gradients, so only rings are possible.
Mode possible(Mode mode, bool all_reduce) {
  if (!all_reduce || mode.rule == SyncRuleKind::Ring) return mode;
  return {.rule = SyncRuleKind::Ring, .shares = std::move(mode.shares)};
}

}  // namespace

bool Conductor::Inside::same_rule(const Mode& a, const Mode& b) {
  if (a.rule != b.rule || a.x != b.x || a.bound != b.bound || a.groups != b.groups) return false;
  return a.rule != SyncRuleKind::Ring || (a.ring == b.ring && a.parents == b.parents);
}

Conductor::Inside::Inside(ConductorOptions with, std::unique_ptr<Director> asked,
                          const ConductorState& from)
    : options(std::move(with)),
      director(std::move(asked)),
      mode(possible(from.mode, options.architecture == Architecture::AllReduce)),
      next_mode(mode),
      rule(make_rule(mode, options.zeno)),
      cursor(from.next_sample, from.again),
      version(from.version),
      next_task(from.next_task),
      samples_done(from.samples_done),
      gradients_done(from.gradients_done),
      evaluated(from.version > 0 ? -1 : 0) {  // each session judges where it ends
  recent.fill({.version = -1});
}

double Conductor::Inside::rate() const {
  return options.rate.at(samples_done, membership.size(), options.workers_first);
}

void Conductor::Inside::begin(Time now) {
  begun = true;
  ask(now);
  if (change_pending) {
    mode = next_mode;
    rule = make_rule(mode, options.zeno);
    change_pending = false;
  }
  reshape();
  finish_at_limit(now);  // an earlier session may have used them all
}

void Conductor::Inside::membership_changed(Time now) {
  reshape();
  ask(now);
}

std::vector<TaskUnderWay> Conductor::Inside::under_way(Time now) {
  std::vector<TaskUnderWay> all;
  for (const std::int64_t number : tasks.numbers()) {
    const OpenTask& open = *tasks.find(number);
    const bool computing = open.state == OpenTask::State::Computing;
    all.push_back({.worker = open.task.worker,
                   .samples = computing ? open.task.samples.count : open.samples,
                   .took = (computing ? now : open.handed_in) - open.started,
                   .computing = computing});
  }
  return all;
}

void Conductor::Inside::ask(Time now, std::span<const TaskUnderWay> under_way) {
  if (!director || membership.size() == 0) return;
  next_mode = possible(director->direct({.now = now,
                                         .architecture = options.architecture,
                                         .workers = membership.workers(),
                                         .global_batch = options.global_batch,
                                         .samples_done = samples_done,
                                         .rate = rate(),
                                         .mode = &mode,
                                         .under_way = under_way}),
                       all_reduce());
  change_pending = !(next_mode == mode);
}

// Nothing is held where the rule changes; see advance().
void Conductor::Inside::change_mode() {
  const bool same = same_rule(mode, next_mode);
  mode = next_mode;
  change_pending = false;
  if (!same) {
    rule = make_rule(mode, options.zeno);
    ++counts.mode_switches;
    for (const int seat : parked) idle.push_back(seat);
    parked.clear();
  }
  reshape();
}

void Conductor::Inside::reshape() {
  reshape_due = flying;  // a ring is not changed under its update
  if (flying) return;
  split_batch(options.global_batch, std::max(1, options.batch_least), mode.shares, membership);
  if (mode.rule == SyncRuleKind::Ring) {
    RingShape shape = ring_among(mode, membership);
    set_parents(shape.parents, membership);
    if (all_reduce() && shape != ring && !shape.ring.empty()) {
      orders.push_back(FormRing{++epoch, shape.ring, shape.parents});
      ring = std::move(shape);
    }
  }
  ParentPairs wanted;
  const bool may_merge = mode.rule != SyncRuleKind::Ring && mode.rule != SyncRuleKind::Lgc;
  if (may_merge) wanted = tree_among(mode, membership);
  if (mode.rule != SyncRuleKind::Ring) set_parents(wanted, membership);
  if (wanted != tree) {
    orders.push_back(FormTree{wanted});
    tree = std::move(wanted);
  }
  rule->regroup(membership);
}

void Conductor::Inside::set_idle(int seat) {
  membership.set(seat, MemberState::Idle);
  membership[seat].task = 0;
  idle.push_back(seat);
}

void Conductor::Inside::remove_member(int seat) {
  const std::int64_t computing =
      membership[seat].state == MemberState::Computing ? membership[seat].task : 0;
  retiring -= membership[seat].retiring;
  membership.remove(seat);
  std::erase(idle, seat);
  std::erase(parked, seat);
  if (computing != 0) lose(computing);
  if (all_reduce()) lose_what_lies_at(seat);
}

void Conductor::Inside::lose_what_lies_at(int seat) {
  for (const std::int64_t number : tasks.numbers()) {
    const OpenTask* const open = tasks.find(number);
    if (open == nullptr || open->state != OpenTask::State::Held) continue;
    if (open->lies_at == seat && open->merged_into == 0) lose(number);
  }
}

void Conductor::Inside::lose(std::int64_t task) {
  OpenTask& open = *tasks.find(task);
  const std::vector<std::int64_t> merged = open.merged;
  const int seat = open.seat;
  const bool was_held = open.state == OpenTask::State::Held;
  cursor.give_back(open.task.samples);
  ++counts.lost;
  if (was_held && open.merged_into == 0) rule->lose(task);
  tasks.remove(task);
  if (was_held && membership[seat].state == MemberState::Waiting) {
    rule->freed(seat);
    set_idle(seat);
  } else if (membership[seat].state == MemberState::Computing && membership[seat].task == task) {
    set_idle(seat);
  }
  for (const std::int64_t child : merged) lose(child);
}

}  // namespace orrery
