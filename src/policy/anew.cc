#include <algorithm>
#include <utility>
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
    // Where counting is enough to choose, whoever was chosen finds room.
    if (!fill_in(view, packer, plan)) lay_out(view, plan);
    for (const JobId job : refused_) {
      plan.wait(job, packer.why_not(packer.current(), view.job(job).shape));
    }
    for (const JobId job : started_) order_->started(view, job);
    for (auto job = stopped_.rbegin(); job != stopped_.rend(); ++job) order_->stopped(view, *job);
    plan.wake(order_->next_change(view));
  }

 private:
  struct Entry {
    Rank rank;
    JobId job = kNoJob;
    ShapeId shape{};
    bool runs = false;
    bool is_new = true;    // has not been told why it waits
    bool demoted = false;  // runs, but its order named it in refresh()
    bool stale = false;    // was stopped, so its rank is to be asked again
  };

  void choose(const View& view, Packer& packer) {
    if (!packer.counting_is_enough()) packer.blank().clear();
    gpus_free_ = packer.blank().gpus_total();
    blocked_.assign(packer.shape_count(), false);
    started_.clear();
    stopped_.clear();
    refused_.clear();
    chosen_ = 0;
    // Nobody further back matters once all who run or are new have their answer and no shape that
    // is left could find room.
    std::size_t unsettled = view.running.size() + view.arrived.size();
    std::size_t hopeful = line_.size();
    left_.assign(in_line_.begin(), in_line_.end());
    for (Entry& entry : line_) {
      const std::size_t shape = index(entry.shape);
      const bool wants_answer = entry.runs || entry.is_new;
      if (blocked_[shape] && !wants_answer) continue;
      if (unsettled == 0 && (gpus_free_ == 0 || hopeful == 0)) break;
      if (wants_answer) --unsettled;
      if (!blocked_[shape]) {
        --hopeful;
        --left_[shape];
      }
      if (gpus_free_ > 0 && !blocked_[shape]) {
        if (places_.size() == chosen_) places_.emplace_back();
        Place& place = places_[chosen_];
        if (finds_room(packer, entry.shape, place.devices)) {
          ++chosen_;
          place.job = entry.job;
          place.runs = entry.runs;
          if (!entry.runs || entry.demoted) started_.push_back(entry.job);
          entry.runs = true;
          entry.demoted = entry.is_new = false;
          continue;
        }
        blocked_[shape] = true;
        hopeful -= left_[shape];
      }
      if (entry.runs) stopped_.push_back(entry.job);
      if (entry.is_new) refused_.push_back(entry.job);
      entry.stale = entry.runs;
      entry.runs = entry.demoted = entry.is_new = false;
    }
  }

  bool finds_room(Packer& packer, ShapeId shape, Devices& devices) {
    const int gpus = packer.shape(shape).gpus;
    if (gpus > gpus_free_) return false;
    if (!packer.counting_is_enough() && !packer.place(packer.blank(), shape, devices)) return false;
    gpus_free_ -= gpus;
    return true;
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
    for (const JobId job : view.ended) {
      const auto entry = std::ranges::find(line_, job, &Entry::job);
      if (entry == line_.end()) continue;
      --in_line_[index(entry->shape)];
      line_.erase(entry);
    }
    for (const JobId job : view.arrived) {
      order_->arrived(view, job);
      const std::size_t shape = index(view.job(job).shape);
      if (in_line_.size() <= shape) in_line_.resize(shape + 1, 0);
      ++in_line_[shape];
      line_.push_back({.rank = order_->rank(view, job), .job = job, .shape = view.job(job).shape});
    }
    for (const JobId job : changed_) {
      const auto entry = std::ranges::find(line_, job, &Entry::job);
      entry->demoted = entry->runs;
      entry->stale = true;
    }
    moved_.clear();
    for (Entry& entry : line_) {
      const bool is_fresh = entry.is_new;
      if (!entry.runs && !entry.stale && !is_fresh) continue;
      const Rank before = std::exchange(entry.rank, order_->rank(view, entry.job));
      if (is_fresh || !(before == entry.rank)) moved_.push_back(&entry - line_.data());
      entry.stale = false;
    }
    restore_order();
  }

  // A few are taken out and put in again; with many it is cheaper to look at all.
  void restore_order() {
    constexpr std::size_t kFew = 3;
    if (moved_.size() > kFew) return insertion_sort();
    taken_.clear();
    for (auto place = moved_.rbegin(); place != moved_.rend(); ++place) {
      taken_.push_back(line_[static_cast<std::size_t>(*place)]);
      line_.erase(line_.begin() + *place);
    }
    for (auto entry = taken_.rbegin(); entry != taken_.rend(); ++entry) {
      line_.insert(std::ranges::upper_bound(line_, entry->rank, {}, &Entry::rank), *entry);
    }
  }

  // Stable, and nearly free on a line that hardly changed since the last plan.
  void insertion_sort() {
    for (auto entry = line_.begin(); entry != line_.end(); ++entry) {
      if (entry == line_.begin() || !(entry->rank < (entry - 1)->rank)) continue;
      const Entry moved = *entry;
      const auto target =
          std::upper_bound(line_.begin(), entry, moved.rank,
                           [](const Rank& rank, const Entry& other) { return rank < other.rank; });
      std::move_backward(target, entry, entry + 1);
      *target = moved;
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
  int gpus_free_ = 0;                  // beside them
  std::vector<char> blocked_;          // by shape: found no room
  std::vector<std::size_t> in_line_;   // by shape: how many
  std::vector<std::size_t> left_;      // of them, still to be asked
  std::vector<std::ptrdiff_t> moved_;  // places of those whose rank changed
  std::vector<Entry> taken_;
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
