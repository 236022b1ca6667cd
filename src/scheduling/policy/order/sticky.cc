#include "scheduling/policy/order/sticky.h"

#include <algorithm>
#include <bit>

namespace orrery {

StickyPlanner::StickyPlanner(std::unique_ptr<Order> order, const InOrderOptions& options)
    : order_(std::move(order)), options_(options) {}

void StickyPlanner::absorb(const View& view, const Packer& packer, Plan& plan) {
  lines_.resize(packer.shape_count(), view.jobs.size());
  candidates_.begin(packer);
  if (known_.size() < view.jobs.size()) known_.resize(view.jobs.size());
  changed_.clear();
  order_->refresh(view, changed_);
  nodes_.assign(view.freed.begin(), view.freed.end());
  for (const JobId job : view.ended) {
    lines_.remove(job);
    candidates_.remove(job);
    known_[index(job)] = false;
  }
  std::erase_if(changed_, [this](JobId job) { return !known_[index(job)]; });
  for (const JobId job : changed_) {
    if (view.job(job).state == JobState::Running) {
      if (options_.preempt) candidates_.add(view, *order_, job);
      for (const NodeShare& share : view.job(job).held.devices) nodes_.push_back(share.node);
    } else {
      lines_.add(view.job(job).shape, job, order_->rank(view, job));
    }
  }
  has_news_ = !changed_.empty() || !view.ended.empty() || !view.arrived.empty();
  if (!changed_.empty() || !view.ended.empty() || !options_.backfill) ask_all_ = true;
  for (const JobId job : view.arrived) {
    order_->arrived(view, job);
    known_[index(job)] = true;
    if (view.job(job).state == JobState::Running) {
      order_->started(view, job);
      if (options_.preempt) candidates_.add(view, *order_, job);
      continue;
    }
    const ShapeId shape = view.job(job).shape;
    lines_.forget(job);
    if (lines_.add(shape, job, order_->rank(view, job))) {
      lines_.ask(shape);
      newcomers_.push_back(job);
    } else {
      plan.wait(job, {.code = Reason::Code::BehindOthers, .wanted = behind(shape)});
    }
  }
}

void StickyPlanner::ask(const View& view, Packer& packer, Plan& plan, bool preempt) {
  preempt_now_ = preempt && options_.preempt;
  stopped_.clear();
  if (std::exchange(ask_all_, false)) lines_.ask_all();
  while (const auto first = lines_.next()) {
    if (grant(view, packer, plan, *first)) continue;
    lines_.close(first->shape);
    if (first->is_new) plan.wait(first->job, packer.why_not(packer.current(), first->shape));
    if (!options_.backfill) lines_.close_all();
  }
  for (const Stopped& stopped : stopped_) {
    if (!stopped.runs_again) {
      plan.stop(stopped.job, {.code = Reason::Code::Outranked, .other = stopped.by});
    }
  }
  finish(view, plan, Reason::Code::BehindOthers);
}

void StickyPlanner::finish(const View& view, Plan& plan, Reason::Code not_asked) {
  for (const JobId job : newcomers_) {
    if (!lines_.waits(job) || lines_.was_asked(job)) continue;
    Reason reason{.code = not_asked};
    if (not_asked == Reason::Code::BehindOthers) reason.wanted = behind(view.job(job).shape);
    plan.wait(job, reason);
  }
  newcomers_.clear();
  for (const JobId job : changed_) {
    if (view.job(job).state != JobState::Running || lines_.waits(job)) continue;
    order_->started(view, job);
    started_.push_back(job);
  }
  if (options_.preempt) {
    for (const JobId job : started_) candidates_.add(view, *order_, job);
  }
  started_.clear();
  lines_.close_all();
  plan.wake(order_->next_change(view));
}

void StickyPlanner::start(const View& view, JobId job) {
  lines_.remove(job);
  order_->started(view, job);
  started_.push_back(job);
}

void StickyPlanner::stop(const View& view, JobId job) {
  candidates_.remove(job);
  order_->stopped(view, job);
  lines_.add(view.job(job).shape, job, order_->rank(view, job));
}

bool StickyPlanner::grant(const View& view, Packer& packer, Plan& plan,
                          const WaitingLines::First& first) {
  Grant& grant = plan.grant(first.job);
  if (!packer.place(packer.current(), first.shape, grant.devices) &&
      !(preempt_now_ && preempt_for(view, packer, first, grant.devices))) {
    plan.withdraw_last_grant();
    return false;
  }
  fill_exclusive(grant, view.spec(first.job));
  start(view, first.job);
  const auto before = std::ranges::find(stopped_, first.job, &Stopped::job);
  if (before != stopped_.end()) before->runs_again = true;
  return true;
}

// A job that was searched for everywhere before can only gain where something has changed.
bool StickyPlanner::preempt_for(const View& view, Packer& packer, const WaitingLines::First& first,
                                Devices& devices) {
  const int gpus_before = packer.current().gpus_free();
  const PreemptionCandidates::Request request{first.shape, first.rank};
  const bool found = first.searched
                         ? candidates_.find_on(view, *order_, packer, request, nodes_, devices)
                         : candidates_.find(view, *order_, packer, request, devices);
  if (!found) lines_.note_search(first.job);
  if (!found) return false;
  victims_.assign(candidates_.stopped().begin(), candidates_.stopped().end());
  bool others_freed = false;
  for (const JobId victim : victims_) {
    const Shape& shape = packer.shape(view.job(victim).shape);
    others_freed = others_freed || shape.cpu_milli > 0 || shape.memory_bytes > 0;
    for (const NodeShare& share : view.job(victim).held.devices) nodes_.push_back(share.node);
    stopped_.push_back({.job = victim, .by = first.job});
    stop(view, victim);
    lines_.ask(view.job(victim).shape);
  }
  // What the victims leave over may suit a job that was to wait.
  const bool left_over = packer.current().gpus_free() > gpus_before || others_freed;
  if (options_.backfill && left_over) lines_.ask_all();
  return true;
}

}  // namespace orrery
