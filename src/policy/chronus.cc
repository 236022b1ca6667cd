#include "policy/chronus.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "policy/in_order.h"
#include "policy/leases.h"
#include "policy/seating.h"

namespace orrery {
namespace {

constexpr int kHorizon = 200'000;  // leases; a deadline further away is as good as this

class Chronus final : public Policy {
 public:
  explicit Chronus(const ChronusOptions& options) : options_(options) {}

  void plan(const View& view, Packer& packer, Plan& plan) override {
    gpus_ = packer.current().gpus_total();
    update_line(view);
    if (line_.empty()) return;
    const int lease = index_of(view.now, options_.lease);
    const int slot = options_.slot == Duration::zero() ? 0 : index_of(view.now, options_.slot);
    const bool new_lease = lease != lease_;
    const bool new_slot = options_.slot == Duration::zero() || slot != slot_ || new_lease;
    lease_ = lease;
    slot_ = slot;
    if (new_lease) choose(view);
    if (new_slot) accept_newcomers(view);
    rank(view);
    if (new_lease) {
      seat_all(view, packer, plan);
    } else if (new_slot) {
      fill_idle(view, packer, plan);
    }
    plan.wake(start_of(lease_ + 1, options_.lease));
    if (options_.slot > Duration::zero()) plan.wake(start_of(slot_ + 1, options_.slot));
  }

 private:
  // Who is served first when GPUs are left over. Accepted jobs have their leases.
  enum class Class : std::uint8_t { New, Unaccepted, BestEffort, Lost, Accepted };

  struct Entry {
    JobId job = kNoJob;
    int gpus = 0;
    Class kind = Class::New;
    double reserve_s = 0;  // what is kept for it beyond its work
    Leases leases;         // reserved for it, counted from the beginning of time
    bool has_lease = false;
    bool runs = false;
    bool is_new = true;  // has not been told why it waits
    std::tuple<int, double> key;
  };

  static int index_of(Time time, Duration length) {
    constexpr std::int64_t kMost = 1 << 30;
    return static_cast<int>(std::min(kMost, time.time_since_epoch() / length));
  }
  static Time start_of(int index, Duration length) { return Time(index * length); }

  void update_line(const View& view) {
    std::erase_if(line_, [&](const Entry& one) { return is_final(view.job(one.job).state); });
    for (const JobId job : view.arrived) {
      Entry& one = line_.emplace_back();
      one.job = job;
      one.gpus = view.spec(job).gpus;
    }
    for (Entry& one : line_) one.runs = view.job(one.job).state == JobState::Running;
  }

  static double remaining_s(const View& view, const Entry& one) {
    return view.work_left(one.job) * view.spec(one.job).iteration_s;
  }
  int leases_for(double time_s) const {
    return static_cast<int>(std::min(1e9, std::ceil(time_s / seconds(options_.lease) - 1e-9)));
  }
  // How many whole leases there are from lease `from` to the job's deadline.
  int leases_left(const View& view, JobId job, int from) const {
    return std::clamp(index_of(*view.spec(job).deadline, options_.lease) - from, 0, kHorizon);
  }
  double resume_s(const JobSpec& spec) const {
    if (!options_.resume) return seconds(spec.start_cost);
    return seconds(*options_.resume) * (1 + std::log2(spec.gpus));
  }

  // Reservations of accepted jobs as seen from lease `from` on.
  void collect_demands(const View& view, int from) {
    demands_.clear();
    accepted_.clear();
    for (Entry& one : line_) {
      if (one.kind != Class::Accepted) continue;
      demands_.push_back({.gpus = one.gpus,
                          .needed = static_cast<int>(one.leases.size()),
                          .last = leases_left(view, one.job, from),
                          .runs = one.runs});
      accepted_.push_back(&one);
    }
  }
  void reserve(const std::vector<Leases>& packed, int from) {
    for (std::size_t i = 0; i < accepted_.size(); ++i) {
      accepted_[i]->leases = packed[i];
      for (int& lease : accepted_[i]->leases) lease += from;
    }
  }

  // Which of the accepted jobs hold GPUs in the lease that begins. All of them that can if
  // everybody was accepted; otherwise only those that must, for the sake of the others.
  void choose(const View& view) {
    for (Entry& one : line_) {
      one.has_lease = false;
      if (one.kind == Class::Accepted) settle_account(view, one);
    }
    const bool all_accepted =
        std::ranges::none_of(line_, [](const Entry& one) { return one.kind == Class::Unaccepted; });
    collect_demands(view, lease_);
    const auto wanted =
        all_accepted && options_.adaptive ? FirstLease::Busiest : FirstLease::Idlest;
    if (wanted == FirstLease::Busiest || !only_forced_ones_begin()) {
      const auto packed = pack_best(demands_, gpus_, wanted);
      if (packed) reserve(*packed, lease_);
    }
    for (Entry* one : accepted_) {
      if (one->leases.empty() || one->leases.front() != lease_) continue;
      one->has_lease = true;
      one->leases.erase(one->leases.begin());
    }
  }

  // Whether nobody has this lease who could do with later ones, so that there is nothing to put
  // off.
  bool only_forced_ones_begin() const {
    for (std::size_t i = 0; i < accepted_.size(); ++i) {
      if (accepted_[i]->leases.front() == lease_ && demands_[i].slack() > 0) return false;
    }
    return true;
  }

  // What is over goes back, the earliest leases first. Who has used up its leases and is not done
  // has lost its claim.
  void settle_account(const View& view, Entry& one) const {
    const auto past = std::ranges::find_if(one.leases, [&](int l) { return l >= lease_; });
    one.leases.erase(one.leases.begin(), past);
    const auto needed = leases_for(remaining_s(view, one) + one.reserve_s);
    const auto over = static_cast<std::ptrdiff_t>(one.leases.size()) - std::max(needed, 1);
    if (over > 0) one.leases.erase(one.leases.begin(), one.leases.begin() + over);
    if (one.leases.empty()) one.kind = Class::Unaccepted;
  }

  void accept_newcomers(const View& view) {
    for (Entry& one : line_) {
      if (one.kind != Class::New) continue;
      const JobSpec& spec = view.spec(one.job);
      if (!spec.deadline) {
        one.kind = Class::BestEffort;
        continue;
      }
      const double work_s = spec.duration_s();
      const double coefficient = 1 + resume_s(spec) / seconds(options_.lease);
      one.reserve_s = work_s * (coefficient * options_.margin - 1);
      one.kind = accept(view, one) ? Class::Accepted : Class::Unaccepted;
    }
  }

  // Leases begin with the next one: who runs in this one is settled.
  bool accept(const View& view, Entry& one) {
    const int from = lease_ + 1;
    const LeaseDemand own{.gpus = one.gpus,
                          .needed = leases_for(view.spec(one.job).duration_s() + one.reserve_s),
                          .last = leases_left(view, one.job, from)};
    if (own.needed > own.last) return false;
    if (add_to_reserved(own, from, one.leases)) return true;
    collect_demands(view, from);
    demands_.push_back(own);
    accepted_.push_back(&one);
    const auto packed = pack_best(demands_, gpus_, FirstLease::Any);
    packed ? reserve(*packed, from) : one.leases.clear();
    return packed.has_value();
  }

  // The latest leases that others have left.
  bool add_to_reserved(const LeaseDemand& own, int from, Leases& leases) const {
    std::vector<int> free(static_cast<std::size_t>(own.last), gpus_);
    for (const Entry& other : line_) {
      if (other.kind != Class::Accepted) continue;
      for (const int lease : other.leases) {
        if (lease - from < own.last) free[static_cast<std::size_t>(lease - from)] -= other.gpus;
      }
    }
    leases.clear();
    for (int lease = own.last - 1; lease >= 0; --lease) {
      if (static_cast<int>(leases.size()) == own.needed) break;
      if (free[static_cast<std::size_t>(lease)] >= own.gpus) leases.push_back(from + lease);
    }
    std::ranges::reverse(leases);
    return static_cast<int>(leases.size()) == own.needed;
  }

  // Those with a lease, wide ones first; then whoever is done for the least GPU time, those apart
  // whose deadline is lost; accepted jobs ahead of their time at the very end.
  void rank(const View& view) {
    for (Entry& one : line_) {
      const double left_s = remaining_s(view, one);
      const auto& deadline = view.spec(one.job).deadline;
      if (one.kind == Class::Unaccepted && *deadline < view.now + from_seconds(left_s)) {
        one.kind = Class::Lost;
      }
      if (one.has_lease) {
        one.key = {0, -one.gpus};
      } else {
        const int lost = options_.lost_first ? 1 : 3;
        const int group = one.kind == Class::Accepted ? 4 : one.kind == Class::Lost ? lost : 2;
        one.key = {group, left_s * one.gpus};
      }
    }
    std::ranges::stable_sort(line_, {},
                             [](const Entry& one) { return std::tuple(one.key, one.job); });
  }

  bool may_run(const Entry& one) const {
    if (one.kind == Class::New) return false;
    return one.has_lease || one.kind != Class::Accepted || options_.early;
  }

  void seat_all(const View& view, Packer& packer, Plan& plan) {
    seated_.clear();
    for (const Entry& one : line_) {
      if (!may_run(one)) continue;
      Seated& seated = seated_.emplace_back();
      seated.group.jobs[0] = one.job;
      seated.group.size = 1;
      seated.shape = view.job(one.job).shape;
      seated.gpus = one.gpus;
    }
    seating_.seat(view, packer, seated_);
    std::ranges::sort(seated_, {}, [](const Seated& s) { return s.group.jobs[0]; });
    for (Entry& one : line_) {
      const auto seat = std::ranges::lower_bound(seated_, one.job, {},
                                                 [](const Seated& s) { return s.group.jobs[0]; });
      if (seat != seated_.end() && seat->group.jobs[0] == one.job) {
        Grant& grant = plan.grant(one.job);
        fill_exclusive(grant, view.spec(one.job));
        grant.devices = seat->devices;
        one.is_new = false;
      } else if (one.runs) {
        plan.stop(one.job, why(one, {.code = Reason::Code::Outranked}));
      } else {
        tell_why(view, packer, plan, one);
      }
    }
  }

  void fill_idle(const View& view, Packer& packer, Plan& plan) {
    for (Entry& one : line_) {
      if (one.runs) continue;
      Grant& grant = plan.grant(one.job);
      if (may_run(one) && packer.place(packer.current(), view.job(one.job).shape, grant.devices)) {
        fill_exclusive(grant, view.spec(one.job));
        one.is_new = false;
      } else {
        plan.withdraw_last_grant();
        tell_why(view, packer, plan, one);
      }
    }
  }

  Reason why(const Entry& one, const Reason& otherwise) const {
    if (one.kind != Class::Accepted || one.leases.empty()) return otherwise;
    return {.code = Reason::Code::Later, .from = start_of(one.leases.front(), options_.lease)};
  }
  void tell_why(const View& view, const Packer& packer, Plan& plan, Entry& one) const {
    if (!one.is_new || one.kind == Class::New) return;
    const Reason busy = packer.why_not(packer.current(), view.job(one.job).shape);
    plan.wait(one.job, why(one, busy));
    one.is_new = false;
  }

  const ChronusOptions options_;
  int gpus_ = 0;
  int lease_ = -1;
  int slot_ = -1;
  std::vector<Entry> line_;
  std::vector<LeaseDemand> demands_;
  std::vector<Entry*> accepted_;
  std::vector<Seated> seated_;
  Seating seating_;
};

}  // namespace

std::unique_ptr<Policy> make_chronus(const ChronusOptions& options) {
  return std::make_unique<Chronus>(options);
}

}  // namespace orrery
