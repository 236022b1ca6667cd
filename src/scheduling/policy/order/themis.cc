#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "scheduling/policy/families.h"
#include "scheduling/policy/grouping/seating.h"
#include "scheduling/policy/order/fair_shares.h"
#include "scheduling/policy/order/in_order.h"

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
    const bool waits = runs_count_ < line_.size();
    const bool ranks_again = news_ || (options_.by_share && lease_ends_ > view.now);
    if (ranks_again && waits) plan.wake(lease_ends_);
  }

 private:
  // What it needs of a job stands here, since thousands of jobs that wait are looked at in every
  // lease. Only of a job that runs does work or time held change.
  struct Entry {
    JobId job = kNoJob;
    int gpus = 0;
    ShapeId shape{};
    double alone_s = 0;  // an iteration
    Time submitted{};
    double work = 0;             // left
    double had_s = 0;            // time held
    double isolated_so_far = 0;  // of the work done, in a share of its own
    double work_before = 0;
    double rate_before = 1;
    double owed_s = 0;
    bool runs = false;
    bool is_new = true;
  };
  struct Merit {
    double share_of_had = 0;
    double owed_s = 0;
    double share = 0;
    std::uint32_t place = 0;  // in the line before; equals stay in this order

    bool operator<(const Merit& other) const {
      if (share_of_had != other.share_of_had) return share_of_had > other.share_of_had;
      if (owed_s != other.owed_s) return owed_s > other.owed_s;
      if (share != other.share) return share > other.share;
      return place < other.place;
    }
  };

  void update_line(const View& view) {
    // Those that ran until now or until the last plan; what is known of all others still holds.
    std::size_t kept = 0;
    for (const JobId job : running_) {
      Entry* entry = entry_of(job);
      if (entry == nullptr) continue;
      refresh(view, *entry);
      if (entry->runs) running_[kept++] = job;
    }
    running_.resize(kept);
    for (const JobId job : view.ended) {
      if (Entry* entry = entry_of(job)) {
        entry->job = kNoJob;
        place_of_job_[index(job)] = -1;
      }
    }
    if (!view.ended.empty()) {
      std::erase_if(running_, [&](JobId job) { return entry_of(job) == nullptr; });
      std::erase_if(line_, [](const Entry& entry) { return entry.job == kNoJob; });
      number_places(view);
    }
    for (const JobId job : view.arrived) join(view, job);
    runs_count_ = running_.size();
  }

  void join(const View& view, JobId job) {
    const JobSpec& spec = view.spec(job);
    place_of_job_.resize(view.jobs.size(), -1);
    place_of_job_[index(job)] = static_cast<std::int32_t>(line_.size());
    Entry& entry = line_.emplace_back();
    entry.job = job;
    entry.gpus = spec.gpus;
    entry.shape = view.job(job).shape;
    entry.alone_s = spec.iteration_s * options_.contention.factor(1);
    entry.submitted = spec.submitted;
    refresh(view, entry);
    entry.work_before = entry.work;
    if (entry.runs) running_.push_back(job);
  }

  Entry* entry_of(JobId job) {
    const std::int32_t place =
        index(job) < place_of_job_.size() ? place_of_job_[index(job)] : std::int32_t{-1};
    return place < 0 ? nullptr : &line_[static_cast<std::size_t>(place)];
  }

  void number_places(const View& view) {
    place_of_job_.resize(view.jobs.size(), -1);
    for (std::size_t i = 0; i < line_.size(); ++i) {
      place_of_job_[index(line_[i].job)] = static_cast<std::int32_t>(i);
    }
  }

  static void refresh(const View& view, Entry& entry) {
    const Job& job = view.job(entry.job);
    entry.runs = job.state == JobState::Running;
    entry.work = view.work_left(entry.job);
    entry.had_s = seconds(job.attained_at(view.now));
  }

  void set_runs(Entry& entry, bool runs) {
    if (runs && !entry.runs) running_.push_back(entry.job);
    runs_count_ += runs ? 1 : 0;
    runs_count_ -= entry.runs ? 1 : 0;
    entry.runs = runs;
  }

  void rank(const View& view, int gpus) {
    fair_.clear();
    const Time until = options_.by_share ? last_event_ : view.now;
    const double equal = std::ceil(static_cast<double>(gpus) / static_cast<double>(line_.size()));
    for (Entry& entry : line_) {
      // One that takes longer than anybody expected is always about to end.
      const double work = entry.work > 0 ? entry.work : 1;
      const double fraction = std::min(1.0, equal / entry.gpus);
      // The published code takes the fraction for the throughput; see docs/systems/muri.md.
      const double rate = options_.published_rate ? fraction : fraction / entry.alone_s;
      entry.isolated_so_far += std::max(0.0, entry.work_before - work) / entry.rate_before;
      entry.work_before = work;
      entry.rate_before = rate;
      fair_.push_back({.gpus = static_cast<double>(entry.gpus),
                       .elapsed_s = seconds(until - entry.submitted),
                       .remaining_s = work * entry.alone_s,
                       .isolated = entry.isolated_so_far + work / rate});
    }
    fair_shares(fair_, gpus, options_.leftover, shares_);
    merits_.clear();
    for (std::size_t i = 0; i < line_.size(); ++i) {
      Entry& entry = line_[i];
      const double share = shares_[i];
      const auto place = static_cast<std::uint32_t>(i);
      if (options_.by_share) {
        merits_.push_back({share, 0, 0, place});
        continue;
      }
      const double merit = entry.had_s == 0 ? share * 1e9 : share / entry.had_s;
      merits_.push_back({merit, entry.owed_s - entry.had_s, share, place});
      entry.owed_s += share * seconds(view.now - last_rank_);
    }
    last_rank_ = view.now;
    put_in_order(view);
  }

  void put_in_order(const View& view) {
    if (std::ranges::is_sorted(merits_, std::less<>())) return;
    // By merging: what was laid out last is some sorted stretches, on which quicksort does badly.
    std::stable_sort(merits_.begin(), merits_.end());
    sorted_.clear();
    for (const Merit& merit : merits_) sorted_.push_back(line_[merit.place]);
    line_.swap(sorted_);
    number_places(view);
  }

  // The published way: chosen by merit, placed from empty, large jobs first.
  void lay_out(const View& view, Packer& packer, Plan& plan) {
    Ledger& ledger = packer.blank();
    ledger.clear();
    chosen_.assign(line_.size(), 0);
    for (std::size_t i = 0; i < line_.size(); ++i) {
      chosen_[i] = packer.place(ledger, line_[i].shape, devices_) ? 1 : 0;
    }
    for (std::size_t i = 0; i < line_.size(); ++i) {
      merits_[i] = {static_cast<double>(line_[i].gpus), 0, 0, static_cast<std::uint32_t>(i)};
    }
    std::stable_sort(merits_.begin(), merits_.end());
    ledger.clear();
    for (const Merit& merit : merits_) {
      Entry& entry = line_[merit.place];
      Grant& grant = plan.grant(entry.job);
      const bool runs =
          chosen_[merit.place] != 0 && packer.place(ledger, entry.shape, grant.devices);
      conclude(view, packer, plan, entry, runs, grant);
    }
    sorted_.clear();
    for (const Merit& merit : merits_) sorted_.push_back(line_[merit.place]);
    line_.swap(sorted_);
    number_places(view);
  }

  void seat(const View& view, Packer& packer, Plan& plan) {
    seated_.clear();
    const bool counting = packer.counting_is_enough();
    int gpus_free = packer.current().gpus_total();
    for (const Entry& entry : line_) {
      if (counting && entry.gpus > gpus_free) continue;
      gpus_free -= entry.gpus;
      seated_.push_back(
          {.group = grouper_.single(entry.job), .shape = entry.shape, .gpus = entry.gpus});
    }
    seating_.seat(view, packer, seated_);
    seat_of_place_.assign(line_.size(), -1);
    for (std::size_t i = 0; i < seated_.size(); ++i) {
      const std::int32_t place = place_of_job_[index(seated_[i].group.jobs[0])];
      seat_of_place_[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(i);
    }
    for (std::size_t place = 0; place < line_.size(); ++place) {
      Entry& entry = line_[place];
      const std::int32_t seat = seat_of_place_[place];
      if (seat < 0 && !entry.runs && !entry.is_new) continue;
      Grant& grant = plan.grant(entry.job);
      if (seat >= 0) grant.devices = seated_[static_cast<std::size_t>(seat)].devices;
      conclude(view, packer, plan, entry, seat >= 0, grant);
    }
  }

  // Keeps the last grant of the plan, or withdraws it if the job does not run.
  void conclude(const View& view, const Packer& packer, Plan& plan, Entry& entry, bool runs,
                Grant& grant) {
    const bool ran = entry.runs;
    set_runs(entry, runs);
    if (runs) {
      fill_exclusive(grant, view.spec(entry.job));
    } else {
      plan.withdraw_last_grant();
      if (ran) {
        plan.stop(entry.job, {.code = Reason::Code::Outranked});
      } else if (entry.is_new) {
        plan.wait(entry.job, packer.why_not(packer.current(), entry.shape));
      }
    }
    entry.is_new = false;
  }

  void fill_idle(const View& view, Packer& packer, Plan& plan) {
    const bool arrived = !view.arrived.empty();
    if (packer.current().gpus_free() == 0 && !arrived) return;
    for (Entry& entry : line_) {
      if (entry.runs || (entry.gpus > packer.current().gpus_free() && !entry.is_new)) continue;
      Grant& grant = plan.grant(entry.job);
      const bool runs = packer.place(packer.current(), entry.shape, grant.devices);
      conclude(view, packer, plan, entry, runs, grant);
    }
  }

  const ThemisOptions options_;
  Grouper grouper_;
  Seating seating_;
  std::vector<Entry> line_;
  std::vector<FairJob> fair_;
  std::vector<double> shares_;
  std::vector<Merit> merits_;
  std::vector<Entry> sorted_;
  std::vector<char> chosen_;
  std::vector<Seated> seated_;
  std::vector<std::int32_t> seat_of_place_;
  std::vector<std::int32_t> place_of_job_;  // in the line; -1: it is not there
  std::vector<JobId> running_;              // all with `runs`, and those stopped by the last plan
  std::size_t runs_count_ = 0;
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
