#include <algorithm>
#include <vector>

#include "policy/in_order.h"

namespace orrery {
namespace {

// Lays the cluster out from empty in each plan, in the order of the line.
class Anew final : public Policy {
 public:
  explicit Anew(std::unique_ptr<Order> order) : order_(std::move(order)) {}

  void plan(const View& view, Packer& packer, Plan& plan) override {
    changed_.clear();
    order_->refresh(view, changed_);
    update_line(view);
    Ledger& ledger = packer.blank();
    ledger.clear();
    blocked_.assign(packer.shape_count(), false);
    started_.clear();
    stopped_.clear();
    for (Entry& entry : line_) {
      const Job& job = view.job(entry.job);
      const bool runs = job.state == JobState::Running;
      if (ledger.gpus_free() > 0 && !blocked_[index(job.shape)]) {
        Grant& grant = plan.grant(entry.job);
        if (packer.place(ledger, job.shape, grant.devices)) {
          if (runs && grant.devices == job.held.devices) {
            plan.withdraw_last_grant();
          } else {
            fill_exclusive(grant, *job.spec);
          }
          if (!runs || entry.demoted) started_.push_back(entry.job);
          entry.demoted = false;
          continue;
        }
        plan.withdraw_last_grant();
        blocked_[index(job.shape)] = true;
      }
      if (runs) stopped_.push_back(entry.job);
      entry.stale = runs;
      if (entry.first_time) plan.wait(entry.job, packer.why_not(ledger, job.shape));
      entry.first_time = false;
    }
    for (const JobId job : started_) order_->started(view, job);
    for (auto job = stopped_.rbegin(); job != stopped_.rend(); ++job) {
      plan.stop(*job, {.code = Reason::Code::Outranked});
      order_->stopped(view, *job);
    }
    plan.wake(order_->next_change(view));
  }

 private:
  struct Entry {
    Rank rank;
    JobId job = kNoJob;
    bool first_time = true;  // has not been told why it waits
    bool demoted = false;    // runs, but its order named it in refresh()
    bool stale = false;      // was stopped, so its rank is to be asked again
  };

  void update_line(const View& view) {
    if (!view.ended.empty()) {
      std::erase_if(line_, [&](const Entry& e) { return is_final(view.job(e.job).state); });
    }
    for (const JobId job : view.arrived) {
      order_->arrived(view, job);
      line_.push_back({.rank = order_->rank(view, job), .job = job});
    }
    for (Entry& entry : line_) {
      if (entry.stale || view.job(entry.job).state == JobState::Running) {
        entry.rank = order_->rank(view, entry.job);
        entry.stale = false;
      }
    }
    for (const JobId job : changed_) {
      const auto entry = std::ranges::find(line_, job, &Entry::job);
      entry->rank = order_->rank(view, job);
      entry->demoted = view.job(job).state == JobState::Running;
    }
    insertion_sort();
  }

  // Stable, and nearly free on a line that hardly changed since the last plan.
  void insertion_sort() {
    for (std::size_t i = 1; i < line_.size(); ++i) {
      if (!(line_[i].rank < line_[i - 1].rank)) continue;
      const auto position = static_cast<std::ptrdiff_t>(i);
      const auto target =
          std::upper_bound(line_.begin(), line_.begin() + position, line_[i].rank,
                           [](const Rank& rank, const Entry& entry) { return rank < entry.rank; });
      std::rotate(target, line_.begin() + position, line_.begin() + position + 1);
    }
  }

  std::unique_ptr<Order> order_;
  std::vector<Entry> line_;
  std::vector<bool> blocked_;
  std::vector<JobId> changed_;
  std::vector<JobId> started_;
  std::vector<JobId> stopped_;
};

}  // namespace

std::unique_ptr<Policy> make_anew(std::unique_ptr<Order> order) {
  return std::make_unique<Anew>(std::move(order));
}

}  // namespace orrery
