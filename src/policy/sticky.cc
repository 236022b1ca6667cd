#include <algorithm>
#include <bit>
#include <vector>

#include "policy/in_order.h"
#include "policy/waiting_lines.h"

namespace orrery {
namespace {

// Leaves running jobs where they are and asks only those who wait, best rank first, one line for
// each shape: if its first finds no room, nobody behind it does. Costs as much as changes.
class Sticky final : public Policy {
 public:
  Sticky(std::unique_ptr<Order> order, const InOrderOptions& options)
      : order_(std::move(order)), options_(options) {}

  void plan(const View& view, Packer& packer, Plan& plan) override {
    lines_.resize(packer.shape_count(), view.jobs.size());
    stopped_.clear();
    if (note_changes(view) || !options_.backfill) lines_.ask_all();
    for (const JobId job : view.arrived) {
      order_->arrived(view, job);
      const ShapeId shape = view.job(job).shape;
      const bool is_first = lines_.add(shape, job, order_->rank(view, job));
      if (is_first || !options_.backfill) lines_.ask(shape);
      if (!is_first) {
        plan.wait(job, {.code = Reason::Code::BehindOthers, .wanted = lines_.length(shape) - 1});
      }
    }
    while (const auto first = lines_.next()) {
      if (grant(view, packer, plan, *first)) continue;
      lines_.close(first->shape);
      if (first->is_new) plan.wait(first->job, packer.why_not(packer.current(), first->shape));
      if (!options_.backfill) {
        lines_.close_all();
        break;
      }
    }
    for (const JobId job : changed_) {
      if (view.job(job).state == JobState::Running && !was_stopped(job)) order_->started(view, job);
    }
    for (const Stopped& stopped : stopped_) {
      if (!stopped.runs_again) {
        plan.stop(stopped.job, {.code = Reason::Code::Outranked, .other = stopped.by});
      }
    }
    plan.wake(order_->next_change(view));
  }

 private:
  struct Stopped {
    JobId job = kNoJob;
    JobId by = kNoJob;
    bool runs_again = false;
  };
  struct Victim {
    Rank rank;
    JobId job = kNoJob;
  };

  // Whether somebody who waits might find room now who did not before.
  bool note_changes(const View& view) {
    changed_.clear();
    order_->refresh(view, changed_);
    for (const JobId job : view.ended) lines_.remove(job);
    for (const JobId job : changed_) {
      if (view.job(job).state != JobState::Running) {
        lines_.add(view.job(job).shape, job, order_->rank(view, job));
      }
    }
    return !changed_.empty() || !view.ended.empty();
  }

  bool grant(const View& view, Packer& packer, Plan& plan, const WaitingLines::First& first) {
    Grant& grant = plan.grant(first.job);
    if (!packer.place(packer.current(), first.shape, grant.devices) &&
        !(options_.preempt && make_room(view, packer, first, grant.devices))) {
      plan.withdraw_last_grant();
      return false;
    }
    fill_exclusive(grant, view.spec(first.job));
    lines_.remove_first(first.shape);
    order_->started(view, first.job);
    const auto before = std::ranges::find(stopped_, first.job, &Stopped::job);
    if (before != stopped_.end()) before->runs_again = true;
    return true;
  }

  // Stops jobs that rank behind `first`, the last in line first, until it finds room; those whose
  // devices it then does not need go on as if nothing had happened.
  bool make_room(const View& view, Packer& packer, const WaitingLines::First& first,
                 Devices& devices) {
    Ledger& ledger = packer.current();
    if (!collect_victims(view, packer, first)) return false;
    const Ledger::Mark mark = ledger.mark();
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
      stopped_.push_back({.job = victim, .by = first.job});
      order_->stopped(view, victim);
      lines_.add(job.shape, victim, order_->rank(view, victim));
      lines_.ask(job.shape);
    }
    return true;
  }

  // Gathers the running jobs that rank behind; false if their GPUs could not be enough anyway.
  bool collect_victims(const View& view, const Packer& packer, const WaitingLines::First& first) {
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

  bool was_stopped(JobId job) const {
    return std::ranges::find(stopped_, job, &Stopped::job) != stopped_.end();
  }

  // Whether room on these nodes could have changed the packer's mind.
  static bool could_help(const Ledger& ledger, const Shape& shape, const Devices& devices) {
    if (ledger.gpus_free() < shape.gpus) return false;
    return std::ranges::any_of(devices, [&](const NodeShare& share) {
      const int node = static_cast<int>(share.node);
      return ledger.free_count(node) >= shape.gpus || ledger.idle(node) ||
             shape.gpus > ledger.gpus_per_node_max();
    });
  }

  static bool still_free(const Ledger& ledger, const Devices& devices, const Shape& shape) {
    return std::ranges::all_of(devices, [&](const NodeShare& share) {
      const int node = static_cast<int>(share.node);
      return (ledger.free_mask(node) & share.gpus) == share.gpus &&
             ledger.fits(node, std::popcount(share.gpus), shape);
    });
  }

  std::unique_ptr<Order> order_;
  const InOrderOptions options_;
  WaitingLines lines_;
  std::vector<JobId> changed_;
  std::vector<JobId> released_;
  std::vector<Stopped> stopped_;
  std::vector<Victim> victims_;
  std::vector<int> gain_;
};

}  // namespace

std::unique_ptr<Policy> make_sticky(std::unique_ptr<Order> order, const InOrderOptions& options) {
  return std::make_unique<Sticky>(std::move(order), options);
}

}  // namespace orrery
