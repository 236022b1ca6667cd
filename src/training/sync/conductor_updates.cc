#include <algorithm>
#include <cmath>

#include "training/sync/conductor_inside.h"

namespace orrery {
namespace {

bool all_finite(const Gradient& gradient) {
  return std::isfinite(gradient.loss) && std::isfinite(gradient.norm2) &&
         std::isfinite(gradient.dot_validation) && std::isfinite(gradient.norm2_validation);
}

// What a worker measured badly is taken as not measured; its gradient is as good as any.
Usage measured(const Usage& usage) {
  const auto number = [](double value) { return std::isfinite(value) ? value : 0; };
  return {number(usage.cpu_share), number(usage.throttled_share), number(usage.in_bytes_per_s),
          number(usage.out_bytes_per_s), number(usage.way_s)};
}

bool crossed(std::int64_t before, std::int64_t after, std::int64_t every) {
  return every > 0 && before / every != after / every;
}

IterationSample sample_of(const OpenTask& open, ParameterVersion staleness) {
  return {.worker = open.task.worker,
          .task = open.task.number,
          .at = open.handed_in,
          .took = open.handed_in - open.started,
          .samples = open.merged.empty() ? open.samples : open.task.samples.count,
          .staleness = staleness,
          .loss = open.loss,
          .norm2 = open.norm2,
          .usage = open.usage,
          .merged = open.merged_into != 0};
}

}  // namespace

void Conductor::Inside::hand_in(OpenTask& open, const Gradient& gradient, Time now) {
  seats.assign(1, open.seat);
  std::int64_t asked = open.task.samples.count;
  bool usable = true;
  for (const std::int64_t number : gradient.merged) {
    OpenTask* const child = tasks.find(number);
    if (child == nullptr || child->state != OpenTask::State::Computing ||
        child->parent != open.seat || child->merged_into == gradient.task) {
      usable = false;
      continue;
    }
    child->merged_into = gradient.task;
    seats.push_back(child->seat);
    asked += child->task.samples.count;
  }
  const int parent = membership[open.seat].parent;
  const int lies_at = parent >= 0 ? parent : open.seat;
  const char* useless = nullptr;
  if (!usable) useless = "it was merged with what it should not";
  if (all_reduce() && membership[lies_at].state == MemberState::Gone) useless = "its place is gone";
  if (open.cut && gradient.merged.empty() && gradient.samples == 0) useless = "none of it was done";
  if (useless != nullptr) {
    orders.push_back(DropGradient{gradient.task, useless});
    for (const int seat : std::vector<int>(seats)) lose(membership[seat].task);
    return;
  }
  open.merged.assign(gradient.merged.begin(), gradient.merged.end());
  for (const int seat : seats) {
    OpenTask& one = *tasks.find(membership[seat].task);
    one.state = OpenTask::State::Held;
    one.handed_in = now;
    one.samples = one.task.samples.count;
    one.loss = gradient.loss;
    one.norm2 = gradient.norm2;
    one.lies_at = lies_at;
  }
  open.samples = gradient.samples;
  open.usage = measured(gradient.usage);
  const bool right_count = open.cut && gradient.merged.empty()
                               ? gradient.samples > 0 && gradient.samples <= asked
                               : gradient.samples == asked;
  if (!right_count || !all_finite(gradient)) {
    spoil(open, right_count ? "not finite" : "not of as many samples as were asked for", now);
    return;
  }
  spoiled.used(open.task.worker);
  counts.samples_cut += asked - gradient.samples;
  const Fate fate = rule->came({.task = gradient.task,
                                .seats = seats,
                                .age = version - open.task.version,
                                .norm2 = gradient.norm2,
                                .dot_validation = gradient.dot_validation,
                                .norm2_validation = gradient.norm2_validation,
                                .rate = rate()});
  if (fate == Fate::Drop) {
    const bool old = mode.rule == SyncRuleKind::Lgc;
    orders.push_back(DropGradient{gradient.task, old ? "too old" : "would not help"});
    end_in_waste(open, counts.dropped);
    return;
  }
  for (const int seat : seats) {
    fate == Fate::Wait ? membership.set(seat, MemberState::Waiting) : set_idle(seat);
  }
}

void Conductor::Inside::spoil(OpenTask& open, const std::string& why, Time now) {
  const SpoiledWatch::Spoiled gradient{
      .worker = open.task.worker, .version = open.task.version, .rate = rate(), .why = why};
  orders.push_back(DropGradient{open.task.number, why});
  open.handed_in = now;
  end_in_waste(open, counts.spoiled);
  const auto cause = spoiled.spoiled(gradient);
  if (!cause || end_reason) return;
  end_failed = true;
  finish(*cause, now);
}

void Conductor::Inside::end_in_waste(OpenTask& open, std::int64_t& count) {
  ++count;
  if (director) director->on_iteration(sample_of(open, -1));
  const std::vector<std::int64_t> merged = open.merged;
  const int seat = open.seat;
  tasks.remove(open.task.number);
  set_idle(seat);
  for (const std::int64_t child : merged) end_in_waste(*tasks.find(child), count);
}

bool Conductor::Inside::quiet() const {
  if (!all_reduce()) return true;
  return std::ranges::none_of(membership.seats(), [&](int seat) {
    return membership[seat].parent < 0 && membership[seat].state == MemberState::Computing;
  });
}

void Conductor::Inside::settle(Time now) {
  if (!begun || finished) return;
  do {
    while (advance(now)) {
    }
    if (rule->wants_validation()) orders.push_back(RefreshValidation{});
  } while (start_idle(now));
}

bool Conductor::Inside::advance(Time now) {
  if (finished || flying) return false;
  if (reshape_due) reshape();
  terms.clear();
  const bool changes_rule = change_pending && !same_rule(mode, next_mode);
  const bool drains = (changes_rule || checkpoint_due) && quiet();
  if (drains && rule->holds_any()) {
    rule->drain(terms);
    make_update(now);
    return true;
  }
  if (change_pending && (drains || !changes_rule)) {
    change_mode();
    return true;
  }
  if (checkpoint_due && drains) {
    save_checkpoint();
    return true;
  }
  if (!rule->take(membership, terms)) return false;
  make_update(now);
  if (rule->cuts() && !finished) cut_all();
  return true;
}

void Conductor::Inside::cut_all() {
  for (const int seat : membership.seats()) {
    if (membership[seat].state != MemberState::Computing) continue;
    OpenTask& open = *tasks.find(membership[seat].task);
    if (open.cut || open.in_tree) continue;
    open.cut = true;
    orders.push_back(CutTask{open.task.number, open.task.worker});
  }
}

void Conductor::Inside::make_update(Time now) {
  std::ranges::sort(terms, {}, &Term::task);
  ApplyUpdate order;
  order.update.version = version + 1;
  order.update.rate = rate();
  order.update.terms.reserve(terms.size());
  order.tasks.reserve(terms.size());
  UpdateSample sample{.version = version + 1, .at = now, .terms = static_cast<int>(terms.size())};
  for (const Term& term : terms) {
    OpenTask& open = *tasks.find(term.task);
    order.update.terms.push_back(
        {term.task, term.weight * open.samples / static_cast<double>(options.global_batch)});
    order.tasks.push_back(open.task);
    if (all_reduce()) open.state = OpenTask::State::Flying;
    sample.samples += open.samples;
    bool fresh = open.task.version == version;
    for (const std::int64_t child : open.merged) {
      fresh = fresh && tasks.find(child)->task.version == version;
    }
    if (!fresh) continue;
    ++sample.fresh;
    sample.fresh_samples += open.samples;
    sample.fresh_norm2_sum += open.norm2;
  }
  order.update.share = sample.samples / static_cast<double>(options.global_batch);
  recent[static_cast<std::size_t>(sample.version) & (recent.size() - 1)] = sample;
  orders.push_back(std::move(order));
  flying = all_reduce();
  if (!flying) complete_update(now);
}

void Conductor::Inside::complete_update(Time now) {
  ++version;
  ++counts.updates;
  const std::int64_t samples_before = samples_done;
  for (const Term& term : terms) {
    samples_done += tasks.find(term.task)->samples;
    end_applied(term.task);
  }
  terms.clear();
  if (options.states_with_updates && !all_reduce()) {
    std::get<ApplyUpdate>(orders.back()).state = state_now();
  }
  rule->updated();
  if (finished) return;
  if (crossed(samples_before, samples_done, options.evaluate_every)) {
    orders.push_back(EvaluateVersion{version, state_now()});
    evaluated = version;
  }
  if (finish_at_limit(now)) return;
  if (crossed(samples_before, samples_done, options.checkpoint_every)) checkpoint_due = true;
  ask(now);
}

void Conductor::Inside::end_applied(std::int64_t task) {
  OpenTask& open = *tasks.find(task);
  const ParameterVersion staleness = version - 1 - open.task.version;
  ++counts.gradients;
  ++gradients_done;
  counts.staleness_sum += staleness;
  if (director) director->on_iteration(sample_of(open, staleness));
  const int seat = open.seat;
  if (membership[seat].state == MemberState::Waiting) {
    rule->freed(seat);
    set_idle(seat);
  }
  for (const std::int64_t child : open.merged) end_applied(child);
  tasks.remove(task);
}

void Conductor::Inside::save_checkpoint() {
  checkpoint_due = false;
  checkpoint = state_now();
  checkpointed = true;
  orders.push_back(SaveCheckpoint{version});
}

ConductorState Conductor::Inside::state_now() {
  SampleCursor unused = cursor;
  for (const std::int64_t number : tasks.numbers()) {
    unused.give_back(tasks.find(number)->task.samples);
  }
  return {.version = version,
          .next_sample = unused.next(),
          .again = unused.again(),
          .next_task = next_task,
          .samples_done = samples_done,
          .gradients_done = gradients_done,
          .mode = mode};
}

bool Conductor::Inside::start_idle(Time now) {
  if (finished || flying) return false;
  if (dismiss_retired(now)) return true;
  if (rule->reopened()) {
    idle.insert(idle.end(), parked.begin(), parked.end());
    parked.clear();
  }
  if (idle.size() > 1) {
    std::ranges::sort(idle, {}, [this](int seat) { return membership[seat].worker; });
  }
  for (const int seat : idle) {
    rule->may_start(seat) ? start(seat, now) : parked.push_back(seat);
  }
  idle.clear();
  return false;
}

bool Conductor::Inside::dismiss_retired(Time now) {
  if (retiring == 0) return false;
  std::vector<int> leaving;
  const auto is_leaving = [this](int seat) { return membership[seat].retiring; };
  std::ranges::copy_if(idle, std::back_inserter(leaving), is_leaving);
  std::ranges::copy_if(parked, std::back_inserter(leaving), is_leaving);
  if (leaving.empty()) return false;
  for (const int seat : leaving) {
    orders.push_back(DismissWorker{membership[seat].worker});
    remove_member(seat);
  }
  membership_changed(now);
  return true;
}

void Conductor::Inside::start(int seat, Time now) {
  Member& member = membership[seat];
  OpenTask& open = tasks.add(next_task);
  open.task = {.number = next_task,
               .worker = member.worker,
               .version = version,
               .samples = cursor.take(member.batch),
               .blocks = options.blocks};
  open.seat = seat;
  open.started = now;
  open.in_tree = !tree.empty();
  open.parent = member.parent;
  member.task = next_task;
  membership.set(seat, MemberState::Computing);
  ++next_task;
  ++counts.tasks;
  orders.push_back(StartTask{open.task});
}

bool Conductor::Inside::finish_at_limit(Time now) {
  if (options.samples_limit <= 0 || samples_done < options.samples_limit) return false;
  finish("as many samples as asked for were used", now);
  return true;
}

void Conductor::Inside::finish(const std::string& reason, Time now) {
  if (!end_reason) end_reason = reason;
  end_if_due(now);
}

void Conductor::Inside::end_if_due(Time now) {
  if (!end_reason || finished || flying) return;
  finished = true;
  terms.clear();
  if (!all_reduce() && rule->holds_any()) {
    rule->drain(terms);
    make_update(now);
  }
  for (const std::int64_t number : tasks.numbers()) {
    const OpenTask* const open = tasks.find(number);
    if (open != nullptr && (open->merged_into == 0 || open->state == OpenTask::State::Computing)) {
      lose(number);
    }
  }
  if (!end_failed && options.evaluate_every > 0 && evaluated != version) {
    orders.push_back(EvaluateVersion{version, state_now()});
    evaluated = version;
  }
  if (!end_failed && options.checkpoint_every > 0) save_checkpoint();
  orders.push_back(FinishRun{*end_reason, end_failed});
}

}  // namespace orrery
