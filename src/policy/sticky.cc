#include "policy/sticky.h"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

// Whether room on these nodes could have changed the packer's mind.
bool could_help(const Ledger& ledger, const Shape& shape, const Devices& devices) {
  if (ledger.gpus_free() < shape.gpus) return false;
  return std::ranges::any_of(devices, [&](const NodeShare& share) {
    const int node = static_cast<int>(share.node);
    return ledger.free_count(node) >= shape.gpus || ledger.idle(node) ||
           shape.gpus > ledger.gpus_per_node_max();
  });
}

bool still_free(const Ledger& ledger, const Devices& devices, const Shape& shape) {
  return std::ranges::all_of(devices, [&](const NodeShare& share) {
    const int node = static_cast<int>(share.node);
    return (ledger.free_mask(node) & share.gpus) == share.gpus &&
           ledger.fits(node, std::popcount(share.gpus), shape);
  });
}

class Sticky final : public Policy {
 public:
  Sticky(std::unique_ptr<Order> order, const InOrderOptions& options)
      : planner_(std::move(order), options) {}

  void plan(const View& view, Packer& packer, Plan& plan) override {
    planner_.absorb(view, packer, plan);
    planner_.ask(view, packer, plan);
  }

 private:
  StickyPlanner planner_;
};

}  // namespace

StickyPlanner::StickyPlanner(std::unique_ptr<Order> order, const InOrderOptions& options)
    : order_(std::move(order)), options_(options) {}

void StickyPlanner::absorb(const View& view, const Packer& packer, Plan& plan) {
  lines_.resize(packer.shape_count(), view.jobs.size());
  changed_.clear();
  order_->refresh(view, changed_);
  for (const JobId job : view.ended) lines_.remove(job);
  for (const JobId job : changed_) {
    if (view.job(job).state != JobState::Running) {
      lines_.add(view.job(job).shape, job, order_->rank(view, job));
    }
  }
  has_news_ = !changed_.empty() || !view.ended.empty() || !view.arrived.empty();
  if (!changed_.empty() || !view.ended.empty() || !options_.backfill) ask_all_ = true;
  for (const JobId job : view.arrived) {
    order_->arrived(view, job);
    const ShapeId shape = view.job(job).shape;
    if (lines_.add(shape, job, order_->rank(view, job))) {
      lines_.ask(shape);
    } else {
      plan.wait(job, {.code = Reason::Code::BehindOthers, .wanted = lines_.length(shape) - 1});
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
  finish(view, plan);
}

void StickyPlanner::finish(const View& view, Plan& plan) {
  for (const JobId job : changed_) {
    if (view.job(job).state == JobState::Running && !lines_.waits(job)) order_->started(view, job);
  }
  lines_.close_all();
  plan.wake(order_->next_change(view));
}

void StickyPlanner::start(const View& view, JobId job) {
  lines_.remove(job);
  order_->started(view, job);
}

void StickyPlanner::stop(const View& view, JobId job) {
  order_->stopped(view, job);
  lines_.add(view.job(job).shape, job, order_->rank(view, job));
}

bool StickyPlanner::grant(const View& view, Packer& packer, Plan& plan,
                          const WaitingLines::First& first) {
  Grant& grant = plan.grant(first.job);
  if (!packer.place(packer.current(), first.shape, grant.devices) &&
      !(preempt_now_ && make_room(view, packer, first, grant.devices))) {
    plan.withdraw_last_grant();
    return false;
  }
  fill_exclusive(grant, view.spec(first.job));
  start(view, first.job);
  const auto before = std::ranges::find(stopped_, first.job, &Stopped::job);
  if (before != stopped_.end()) before->runs_again = true;
  return true;
}

// Stops jobs that rank behind `first`, the last in line first, until it finds room; those whose
// devices it then does not need go on as if nothing had happened.
bool StickyPlanner::make_room(const View& view, Packer& packer, const WaitingLines::First& first,
                              Devices& devices) {
  Ledger& ledger = packer.current();
  if (!collect_victims(view, packer, first)) return false;
  const Ledger::Mark mark = ledger.mark();
  int spare = ledger.gpus_free();
  released_.clear();
  std::ranges::make_heap(victims_, {}, &Victim::rank);
  bool placed = false;
  while (!placed && !victims_.empty()) {
    std::ranges::pop_heap(victims_, {}, &Victim::rank);
    const JobId victim = victims_.back().job;
    victims_.pop_back();
    const Job& job = view.job(victim);
    ledger.release(job.held.devices, packer.shape(job.shape));
    released_.push_back(victim);
    if (could_help(ledger, packer.shape(first.shape), job.held.devices)) {
      placed = packer.place(ledger, first.shape, devices);
    }
  }
  if (!placed) {
    ledger.undo(mark);
    devices.clear();
    return false;
  }
  for (const JobId victim : released_) {
    const Job& job = view.job(victim);
    if (still_free(ledger, job.held.devices, packer.shape(job.shape))) {
      ledger.take(job.held.devices, packer.shape(job.shape));
      continue;
    }
    const Shape& shape = packer.shape(job.shape);
    if (shape.cpu_milli > 0 || shape.memory_bytes > 0) spare = 0;
    stopped_.push_back({.job = victim, .by = first.job});
    stop(view, victim);
    lines_.ask(job.shape);
  }
  // What the victims leave over may suit somebody who was told to wait.
  if (options_.backfill && ledger.gpus_free() > spare) lines_.ask_all();
  return true;
}

// Gathers the running jobs that rank behind; false if their GPUs could not be enough anyway.
bool StickyPlanner::collect_victims(const View& view, const Packer& packer,
                                    const WaitingLines::First& first) {
  victims_.clear();
  const Shape& shape = packer.shape(first.shape);
  const Ledger& ledger = packer.current();
  const bool one_node = shape.gpus <= ledger.gpus_per_node_max();
  gain_.assign(static_cast<std::size_t>(ledger.node_count()), 0);
  int gpus = ledger.gpus_free();
  bool enough_on_a_node = false;
  for (const JobId running : view.running) {
    const Rank rank = order_->rank(view, running);
    if (!(first.rank < rank) || was_stopped(running)) continue;
    victims_.push_back({rank, running});
    for (const NodeShare& share : view.job(running).held.devices) {
      int& gain = gain_[index(share.node)];
      gain += std::popcount(share.gpus);
      gpus += std::popcount(share.gpus);
      enough_on_a_node |= gain + ledger.free_count(static_cast<int>(share.node)) >= shape.gpus;
    }
  }
  return gpus >= shape.gpus && (enough_on_a_node || !one_node);
}

bool StickyPlanner::was_stopped(JobId job) const {
  return std::ranges::find(stopped_, job, &Stopped::job) != stopped_.end();
}

std::unique_ptr<Policy> make_sticky(std::unique_ptr<Order> order, const InOrderOptions& options) {
  return std::make_unique<Sticky>(std::move(order), options);
}

}  // namespace orrery
