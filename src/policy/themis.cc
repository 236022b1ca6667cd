#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "policy/fair_shares.h"
#include "policy/families.h"
#include "policy/in_order.h"
#include "policy/seating.h"

namespace orrery {
namespace {

// Who has had the least of the share that finish-time fairness owes them goes first. Shares are
// computed anew at most once in a lease; between leases only idle devices are given away.
//
// After Themis (NSDI '20), in the formulation of Gavel (OSDI '20) that Muri's simulator uses.
class Themis final : public Policy {
 public:
  explicit Themis(const ThemisOptions& options)
      : options_(options), grouper_(*options.workload, {.packing = 1}, options.contention) {}

  void plan(const View& view, Packer& packer, Plan& plan) override {
    update_line(view);
    if (line_.empty()) return;
    const bool event = !view.arrived.empty() || !view.ended.empty();
    if (event) last_event_ = view.now;
    news_ = news_ || event || options_.by_share;
    if (news_ && view.now >= lease_ends_) {
      news_ = false;
      lease_ends_ = view.now + options_.lease;
      rank(view, packer.current().gpus_total());
      options_.sticky ? seat(view, packer, plan) : lay_out(view, packer, plan);
    } else {
      fill_idle(view, packer, plan);
    }
    const bool waits = std::ranges::any_of(line_, [](const Entry& e) { return !e.runs; });
    const bool ranks_again = news_ || (options_.by_share && lease_ends_ > view.now);
    if (ranks_again && waits) plan.wake(lease_ends_);
  }

 private:
  struct Entry {
    JobId job = kNoJob;
    int gpus = 0;
    double isolated_so_far = 0;  // of the work done, in a share of its own
    double work_before = 0;
    double rate_before = 1;
    double owed_s = 0;
    std::tuple<double, double, double> merit;
    bool runs = false;
    bool is_new = true;
  };

  void update_line(const View& view) {
    std::erase_if(line_, [&](const Entry& e) { return view.has_ended(e.job); });
    for (const JobId job : view.arrived) {
      line_.push_back({.job = job,
                       .gpus = view.spec(job).gpus,
                       .work_before = view.work_left(job),
                       .merit = {}});
    }
    for (Entry& entry : line_) entry.runs = view.job(entry.job).state == JobState::Running;
  }

  void rank(const View& view, int gpus) {
    fair_.clear();
    const Time until = options_.by_share ? last_event_ : view.now;
    const double equal = std::ceil(static_cast<double>(gpus) / static_cast<double>(line_.size()));
    for (Entry& entry : line_) {
      const JobSpec& spec = view.spec(entry.job);
      const double alone_s = spec.iteration_s * options_.contention.factor(1);
      // One that takes longer than anybody expected is always about to end.
      const double left = view.work_left(entry.job);
      const double work = left > 0 ? left : 1;
      const double fraction = std::min(1.0, equal / entry.gpus);
      // The published code takes the fraction for the throughput; see docs/systems/muri.md.
      const double rate = options_.published_rate ? fraction : fraction / alone_s;
      entry.isolated_so_far += std::max(0.0, entry.work_before - work) / entry.rate_before;
      entry.work_before = work;
      entry.rate_before = rate;
      fair_.push_back({.gpus = static_cast<double>(entry.gpus),
                       .elapsed_s = seconds(until - spec.submitted),
                       .remaining_s = work * alone_s,
                       .isolated = entry.isolated_so_far + work / rate});
    }
    fair_shares(fair_, gpus, options_.leftover, shares_);
    for (std::size_t i = 0; i < line_.size(); ++i) {
      Entry& entry = line_[i];
      const double share = shares_[i];
      if (options_.by_share) {
        entry.merit = {share, 0, 0};
        continue;
      }
      const double had_s = seconds(view.job(entry.job).attained_at(view.now));
      const double merit = had_s == 0 ? share * 1e9 : share / had_s;
      entry.merit = {merit, entry.owed_s - had_s, share};
      entry.owed_s += share * seconds(view.now - last_rank_);
    }
    last_rank_ = view.now;
    std::ranges::stable_sort(line_, std::ranges::greater{}, &Entry::merit);
  }

  // The published way: chosen by merit, placed from empty, large jobs first.
  void lay_out(const View& view, Packer& packer, Plan& plan) {
    Ledger& ledger = packer.blank();
    ledger.clear();
    for (Entry& entry : line_) {
      entry.runs = packer.place(ledger, view.job(entry.job).shape, devices_);
    }
    std::ranges::stable_sort(line_, std::ranges::greater{}, &Entry::gpus);
    ledger.clear();
    for (Entry& entry : line_) {
      Grant& grant = plan.grant(entry.job);
      entry.runs = entry.runs && packer.place(ledger, view.job(entry.job).shape, grant.devices);
      conclude(view, packer, plan, entry, grant);
    }
  }

  void seat(const View& view, Packer& packer, Plan& plan) {
    seated_.clear();
    const bool counting = packer.counting_is_enough();
    int gpus_free = packer.current().gpus_total();
    for (const Entry& entry : line_) {
      if (counting && entry.gpus > gpus_free) continue;
      gpus_free -= entry.gpus;
      seated_.push_back({.group = grouper_.single(entry.job),
                         .shape = view.job(entry.job).shape,
                         .gpus = entry.gpus});
    }
    seating_.seat(view, packer, seated_);
    place_of_job_.resize(view.jobs.size(), -1);
    for (std::size_t i = 0; i < seated_.size(); ++i) {
      place_of_job_[index(seated_[i].group.jobs[0])] = static_cast<std::int32_t>(i);
    }
    for (Entry& entry : line_) {
      const std::int32_t place = std::exchange(place_of_job_[index(entry.job)], -1);
      entry.runs = place >= 0;
      Grant& grant = plan.grant(entry.job);
      if (entry.runs) grant.devices = seated_[static_cast<std::size_t>(place)].devices;
      conclude(view, packer, plan, entry, grant);
    }
  }

  static void conclude(const View& view, const Packer& packer, Plan& plan, Entry& entry,
                       Grant& grant) {
    const Job& job = view.job(entry.job);
    if (entry.runs) {
      fill_exclusive(grant, *job.spec);
    } else {
      plan.withdraw_last_grant();
      if (job.state == JobState::Running) {
        plan.stop(entry.job, {.code = Reason::Code::Outranked});
      } else if (entry.is_new) {
        plan.wait(entry.job, packer.why_not(packer.current(), job.shape));
      }
    }
    entry.is_new = false;
  }

  void fill_idle(const View& view, Packer& packer, Plan& plan) {
    for (Entry& entry : line_) {
      if (entry.runs || (packer.current().gpus_free() == 0 && !entry.is_new)) continue;
      Grant& grant = plan.grant(entry.job);
      entry.runs = packer.place(packer.current(), view.job(entry.job).shape, grant.devices);
      conclude(view, packer, plan, entry, grant);
    }
  }

  const ThemisOptions options_;
  Grouper grouper_;
  Seating seating_;
  std::vector<Entry> line_;
  std::vector<FairJob> fair_;
  std::vector<double> shares_;
  std::vector<Seated> seated_;
  std::vector<std::int32_t> place_of_job_;
  Devices devices_;
  Time last_rank_{};
  Time lease_ends_{};
  Time last_event_{};
  bool news_ = false;
};

}  // namespace

std::unique_ptr<Policy> make_themis(const ThemisOptions& options) {
  return std::make_unique<Themis>(options);
}

}  // namespace orrery
