#include <algorithm>
#include <vector>

#include "policy/in_order.h"

namespace orrery {
namespace {

// Chooses who runs in a cluster without history, in the order of the line. Those chosen stay where
// they are if the others then find room; if not, everybody is laid out as chosen.
class Anew final : public Policy {
 public:
  explicit Anew(std::unique_ptr<Order> order) : order_(std::move(order)) {}

  void plan(const View& view, Packer& packer, Plan& plan) override {
    changed_.clear();
    order_->refresh(view, changed_);
    update_line(view);
    choose(view, packer);
    for (auto job = stopped_.rbegin(); job != stopped_.rend(); ++job) {
      plan.stop(*job, {.code = Reason::Code::Outranked});
      packer.current().release(view.job(*job).held.devices, packer.shape(view.job(*job).shape));
    }
    if (!fill_in(view, packer, plan)) lay_out(view, plan);
    for (const JobId job : refused_) {
      plan.wait(job, packer.why_not(packer.blank(), view.job(job).shape));
    }
    for (const JobId job : started_) order_->started(view, job);
    for (auto job = stopped_.rbegin(); job != stopped_.rend(); ++job) order_->stopped(view, *job);
    plan.wake(order_->next_change(view));
  }

 private:
  struct Entry {
    Rank rank;
    JobId job = kNoJob;
    bool is_new = true;    // has not been told why it waits
    bool demoted = false;  // runs, but its order named it in refresh()
    bool stale = false;    // was stopped, so its rank is to be asked again
  };

  void choose(const View& view, Packer& packer) {
    Ledger& ledger = packer.blank();
    ledger.clear();
    blocked_.assign(packer.shape_count(), false);
    started_.clear();
    stopped_.clear();
    refused_.clear();
    chosen_ = 0;
    for (Entry& entry : line_) {
      const Job& job = view.job(entry.job);
      const bool runs = job.state == JobState::Running;
      if (ledger.gpus_free() > 0 && !blocked_[index(job.shape)]) {
        if (places_.size() == chosen_) places_.emplace_back();
        Place& place = places_[chosen_];
        if (packer.place(ledger, job.shape, place.devices)) {
          ++chosen_;
          place.job = entry.job;
          place.runs = runs;
          if (!runs || entry.demoted) started_.push_back(entry.job);
          entry.demoted = false;
          entry.is_new = false;
          continue;
        }
        blocked_[index(job.shape)] = true;
      }
      if (runs) stopped_.push_back(entry.job);
      entry.stale = runs;
      if (entry.is_new) refused_.push_back(entry.job);
      entry.is_new = false;
    }
  }

  // Places those who are to start beside those who go on; false if there is no such place.
  bool fill_in(const View& view, Packer& packer, Plan& plan) {
    for (std::size_t i = 0; i < chosen_; ++i) {
      if (places_[i].runs) continue;
      const Job& job = view.job(places_[i].job);
      Grant& grant = plan.grant(places_[i].job);
      if (!packer.place(packer.current(), job.shape, grant.devices)) return false;
      fill_exclusive(grant, *job.spec);
    }
    return true;
  }

  void lay_out(const View& view, Plan& plan) {
    plan.withdraw_all_grants();
    for (std::size_t i = 0; i < chosen_; ++i) {
      Grant& grant = plan.grant(places_[i].job);
      grant.devices = places_[i].devices;
      fill_exclusive(grant, view.spec(places_[i].job));
    }
  }

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

  struct Place {
    JobId job = kNoJob;
    bool runs = false;
    Devices devices;
  };

  std::unique_ptr<Order> order_;
  std::vector<Entry> line_;
  std::vector<Place> places_;  // of those chosen, where they would be in an empty cluster
  std::size_t chosen_ = 0;
  std::vector<bool> blocked_;
  std::vector<JobId> changed_;
  std::vector<JobId> started_;
  std::vector<JobId> stopped_;
  std::vector<JobId> refused_;  // and to be told why
};

}  // namespace

std::unique_ptr<Policy> make_anew(std::unique_ptr<Order> order) {
  return std::make_unique<Anew>(std::move(order));
}

}  // namespace orrery
