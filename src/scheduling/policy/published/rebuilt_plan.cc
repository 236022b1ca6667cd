#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "scheduling/policy/order/in_order.h"

namespace orrery {
namespace {

// Chooses the jobs that run in an empty cluster, in the order of the line, again in each plan.
// Those chosen stay where they are if the others then fit; if not, all are laid out as chosen.
class RebuiltPlan final : public Policy {
 public:
  explicit RebuiltPlan(std::unique_ptr<Order> order) : order_(std::move(order)) {}

  void plan(const View& view, Packer& packer, Plan& plan) override {
    update_line(view);
    started_.clear();
    stopped_.clear();
    refused_.clear();
    chosen_ = 0;
    if (packer.counting_is_enough()) {
      choose_by_counting(packer);
    } else {
      choose_by_placing(view, packer);
    }
    head_ = tail_ = line_.size();
    for (auto job = stopped_.rbegin(); job != stopped_.rend(); ++job) {
      plan.stop(*job, {.code = Reason::Code::Outranked});
      packer.current().release(view.job(*job).held.devices, packer.shape(view.job(*job).shape));
    }
    // Where counting is enough to choose, each job that was chosen fits.
    if (!fill_in(view, packer, plan)) lay_out(view, plan);
    for (const JobId job : refused_) {
      plan.wait(job, packer.why_not(packer.current(), view.job(job).shape));
    }
    for (const JobId job : started_) order_->started(view, job);
    for (auto job = stopped_.rbegin(); job != stopped_.rend(); ++job) order_->stopped(view, *job);
    plan.wake(order_->next_change(view));
  }

 private:
  enum class Standing : std::uint8_t {
    Waits,
    Runs,
    New,      // waits, and the reason is not reported yet
    Demoted,  // runs, but its order named it in refresh()
  };
  struct Entry {
    Rank rank;
    JobId job = kNoJob;
    ShapeId shape{};
    int gpus_left = 0;  // after it has been asked, where counting is enough
    Standing standing = Standing::New;
    bool may_change = false;  // runs, or was stopped in the last plan, so its rank may have changed

    bool runs() const { return standing == Standing::Runs || standing == Standing::Demoted; }
  };
  using Line = std::vector<Entry>;

  // Where any free GPUs will do, the answer depends on how many are left and on nothing else. So
  // the walk begins where the line has changed, and ends where it comes out as it did last time.
  void choose_by_counting(const Packer& packer) {
    int gpus_left = head_ == 0 ? packer.current().gpus_total() : line_[head_ - 1].gpus_left;
    Entry* const end = line_.data() + line_.size();
    const Entry* const tail = end - tail_;
    for (Entry* entry = line_.data() + head_; entry != end; ++entry) {
      const int gpus = gpus_[index(entry->shape)];
      const bool fits = gpus <= gpus_left;
      if (fits) gpus_left -= gpus;
      if (entry->standing != (fits ? Standing::Runs : Standing::Waits)) {
        if (fits && !entry->runs()) next_place().job = entry->job;
        answer(*entry, fits);
      }
      const bool as_before = std::exchange(entry->gpus_left, gpus_left) == gpus_left;
      if (as_before && entry >= tail) return;
    }
  }

  void choose_by_placing(const View& view, Packer& packer) {
    Ledger& ledger = packer.blank();
    ledger.clear();
    blocked_.assign(packer.shape_count(), false);
    // No job further back matters once all that run or are new have their answer and no shape that
    // is left could fit.
    std::size_t unsettled = view.running.size() + view.arrived.size();
    std::size_t hopeful = line_.size();
    left_.assign(in_line_.begin(), in_line_.end());
    for (Entry& entry : line_) {
      const std::size_t shape = index(entry.shape);
      const bool wants_answer = entry.standing != Standing::Waits;
      if (blocked_[shape] && !wants_answer) continue;
      if (unsettled == 0 && (ledger.gpus_free() == 0 || hopeful == 0)) break;
      if (wants_answer) --unsettled;
      if (blocked_[shape]) {
        answer(entry, false);
        continue;
      }
      --hopeful;
      --left_[shape];
      Place& place = next_place();
      place.job = entry.job;
      place.runs = entry.runs();
      const bool fits = packer.place(ledger, entry.shape, place.devices);
      if (!fits) {
        --chosen_;
        blocked_[shape] = true;
        hopeful -= left_[shape];
      }
      answer(entry, fits);
    }
  }

  void answer(Entry& entry, bool chosen) {
    const Standing before =
        std::exchange(entry.standing, chosen ? Standing::Runs : Standing::Waits);
    if (before == entry.standing) return;
    const bool ran = before == Standing::Runs || before == Standing::Demoted;
    set_may_change(entry, chosen || ran);
    if (chosen) {
      started_.push_back(entry.job);
    } else if (ran) {
      stopped_.push_back(entry.job);
    } else {
      refused_.push_back(entry.job);
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
    changed_.clear();
    order_->refresh(view, changed_);
    for (const JobId job : view.ended) remove(job);
    if (order_->is_settled()) {
      rank_again(view, started_);
      rank_again(view, stopped_);
    } else {
      rank_those_that_may_change(view);
    }
    for (const JobId job : changed_) {
      const auto entry = find(job);
      if (entry == line_.end()) continue;
      if (entry->standing == Standing::Runs) entry->standing = Standing::Demoted;
    }
    rank_again(view, changed_);
    for (const JobId job : view.arrived) {
      order_->arrived(view, job);
      add(view, job);
    }
  }

  Line::iterator find(JobId job) { return std::ranges::find(line_, job, &Entry::job); }

  void remove(JobId job) {
    const auto entry = find(job);
    if (entry == line_.end()) return;
    --in_line_[index(entry->shape)];
    may_change_count_ -= entry->may_change;
    const auto next = line_.erase(entry);
    note_change(next, next);
  }

  void add(const View& view, JobId job) {
    const std::size_t shape = index(view.job(job).shape);
    if (in_line_.size() <= shape) {
      in_line_.resize(shape + 1, 0);
      gpus_.resize(shape + 1, 0);
    }
    ++in_line_[shape];
    gpus_[shape] = view.spec(job).gpus;
    const bool runs = view.job(job).state == JobState::Running;
    if (runs) order_->started(view, job);
    const Rank rank = order_->rank(view, job);
    const auto added = line_.insert(after(line_.begin(), line_.end(), rank),
                                    {.rank = rank, .job = job, .shape = view.job(job).shape});
    if (runs) {
      added->standing = Standing::Runs;
      set_may_change(*added, true);
    }
    note_change(added, added + 1);
  }

  // Of these, each that is still in the line.
  void rank_again(const View& view, const std::vector<JobId>& jobs) {
    for (const JobId job : jobs) {
      const auto entry = find(job);
      if (entry == line_.end()) continue;
      entry->rank = order_->rank(view, job);
      if (!move_up(entry)) move_down(entry);
    }
  }

  void set_may_change(Entry& entry, bool may_change) {
    may_change_count_ -= std::exchange(entry.may_change, may_change);
    may_change_count_ += may_change;
  }

  // An insertion sort on the way. Nothing is to be compared between two whose ranks stay.
  void rank_those_that_may_change(const View& view) {
    std::size_t left = may_change_count_;
    bool changed_before = false;
    for (auto entry = line_.begin(); entry != line_.end(); ++entry) {
      if (!entry->may_change && !changed_before) {
        if (left == 0) return;
        continue;
      }
      if (entry->may_change) {
        --left;
        entry->rank = order_->rank(view, entry->job);
      }
      changed_before = entry->may_change;
      set_may_change(*entry, entry->runs());
      changed_before = move_up(entry) || changed_before;
    }
  }

  static Line::iterator after(Line::iterator begin, Line::iterator end, const Rank& rank) {
    return std::upper_bound(begin, end, rank,
                            [](const Rank& a, const Entry& b) { return a < b.rank; });
  }

  // To its place among those before it; false if that is where it is.
  bool move_up(Line::iterator entry) {
    if (entry == line_.begin() || !(entry->rank < (entry - 1)->rank)) return false;
    const Entry moved = *entry;
    const auto place = after(line_.begin(), entry, moved.rank);
    std::move_backward(place, entry, entry + 1);
    *place = moved;
    note_change(place, entry + 1);
    return true;
  }

  // To its place among those after it.
  void move_down(Line::iterator entry) {
    const auto end = after(entry + 1, line_.end(), entry->rank);
    const Entry moved = *entry;
    *std::move(entry + 1, end, entry) = moved;
    note_change(entry, end);
  }

  // The line is another from `begin` to `end`.
  void note_change(Line::const_iterator begin, Line::const_iterator end) {
    head_ = std::min(head_, static_cast<std::size_t>(begin - line_.begin()));
    tail_ = std::min(tail_, static_cast<std::size_t>(line_.end() - end));
  }

  struct Place {
    JobId job = kNoJob;
    bool runs = false;
    Devices devices;
  };

  Place& next_place() {
    if (places_.size() == chosen_) places_.emplace_back();
    return places_[chosen_++];
  }

  std::unique_ptr<Order> order_;
  Line line_;
  std::size_t head_ = 0;  // this many at the front are as they were when last chosen from
  std::size_t tail_ = 0;  // and this many at the back
  std::size_t may_change_count_ = 0;
  // Of those chosen, where they would be in an empty cluster; where counting is enough, only those
  // who are to start, and nowhere yet.
  std::vector<Place> places_;
  std::size_t chosen_ = 0;
  std::vector<char> blocked_;         // by shape: did not fit
  std::vector<int> gpus_;             // by shape: how many each wants
  std::vector<std::size_t> in_line_;  // by shape: how many wait or run
  std::vector<std::size_t> left_;     // of them, still to be asked
  std::vector<JobId> changed_;
  std::vector<JobId> started_;
  std::vector<JobId> stopped_;
  std::vector<JobId> refused_;  // and the reason is to be reported
};

}  // namespace

std::unique_ptr<Policy> make_rebuilt_plan(std::unique_ptr<Order> order) {
  return std::make_unique<RebuiltPlan>(std::move(order));
}

}  // namespace orrery
