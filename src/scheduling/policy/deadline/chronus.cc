#include "scheduling/policy/deadline/chronus.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduling/policy/deadline/lease_book.h"
#include "scheduling/policy/grouping/device_assignment.h"
#include "scheduling/policy/order/in_order.h"

namespace orrery {
namespace {

class Chronus final : public Policy {
 public:
  explicit Chronus(const ChronusOptions& options) : options_(options) {}

  void plan(const View& view, Packer& packer, Plan& plan) override {
    update_line(view);
    if (line_.empty()) return;
    book_.set_gpus(packer.current().gpus_total());
    const bool at_once = options_.slot == Duration::zero();
    const int lease = index_of(view.now, options_.lease);
    const int slot = at_once ? 0 : index_of(view.now, options_.slot);
    const bool new_lease = std::exchange(lease_, lease) != lease;
    const bool new_slot = std::exchange(slot_, slot) != slot || at_once || new_lease;
    if (new_lease) begin_lease(view);
    if (new_slot) accept_newcomers(view);
    rank(view);
    if (new_lease) {
      assign_all(view, packer, plan);
    } else if (new_slot) {
      fill_idle(view, packer, plan);
    }
    plan.wake(start_of(lease_ + 1, options_.lease));
    if (!at_once) plan.wake(start_of(slot_ + 1, options_.slot));
  }

 private:
  // The order in which jobs get GPUs that are left over. Accepted jobs have their leases.
  enum class Class : std::uint8_t { New, Unaccepted, BestEffort, Lost, Accepted };

  struct Entry {
    JobId job = kNoJob;
    int gpus = 0;
    Class kind = Class::New;
    double reserve_s = 0;  // what is kept for it beyond its work
    bool has_lease = false;
    bool runs = false;
    bool is_new = true;  // the reason why it waits was not reported yet
    std::tuple<int, double> key;
  };

  static int index_of(Time time, Duration length) {
    constexpr std::int64_t kMost = 1 << 30;
    return static_cast<int>(std::min(kMost, time.time_since_epoch() / length));
  }
  static Time start_of(int index, Duration length) { return Time(index * length); }

  void update_line(const View& view) {
    for (const JobId job : view.ended) book_.drop(job);
    std::erase_if(line_, [&](const Entry& one) { return view.has_ended(one.job); });
    for (const JobId job : view.arrived) {
      Entry& one = line_.emplace_back();
      one.job = job;
      one.gpus = view.spec(job).gpus;
    }
    for (Entry& one : line_) one.runs = view.job(one.job).state == JobState::Running;
  }

  Entry& entry(JobId job) { return *std::ranges::find(line_, job, &Entry::job); }
  static double remaining_s(const View& view, JobId job) {
    return view.work_left(job) * view.spec(job).iteration_s;
  }
  int leases_for(double time_s) const {
    return static_cast<int>(std::min(1e9, std::ceil(time_s / seconds(options_.lease) - 1e-9)));
  }

  // All accepted jobs that can hold the lease that begins, if all jobs were accepted; otherwise
  // only those that must, for the sake of the others. A job that has used up its leases loses its
  // claim.
  void begin_lease(const View& view) {
    jobs_.clear();
    book_.settle(
        lease_,
        [&](JobId job) { return leases_for(remaining_s(view, job) + entry(job).reserve_s); },
        [&](JobId job) { return entry(job).runs; }, jobs_);
    for (const JobId job : jobs_) entry(job).kind = Class::Unaccepted;
    for (Entry& one : line_) one.has_lease = false;
    const bool all_accepted =
        std::ranges::none_of(line_, [](const Entry& one) { return one.kind == Class::Unaccepted; });
    jobs_.clear();
    const bool at_once = all_accepted && options_.adaptive;
    book_.begin(lease_, at_once ? FirstLease::Busiest : FirstLease::Idlest, jobs_);
    for (const JobId job : jobs_) entry(job).has_lease = true;
    // A job that ran before this policy took over goes on to the end of the lease.
    for (Entry& one : line_) one.has_lease = one.has_lease || (one.kind == Class::New && one.runs);
  }

  // Their leases begin with the next one: this one is settled.
  void accept_newcomers(const View& view) {
    for (Entry& one : line_) {
      if (one.kind != Class::New) continue;
      const JobSpec& spec = view.spec(one.job);
      one.kind = Class::BestEffort;
      if (!spec.deadline) continue;
      const double resume_s = options_.resume
                                  ? seconds(*options_.resume) * (1 + std::log2(spec.gpus))
                                  : seconds(spec.start_cost);
      const double each = options_.margin * (1 + resume_s / seconds(options_.lease));
      const double left_s = remaining_s(view, one.job);
      one.reserve_s = left_s * (each - 1);
      const int end = index_of(*spec.deadline, options_.lease);
      const int needed = leases_for(left_s * each);
      const bool accepted =
          book_.reserve({.job = one.job, .gpus = one.gpus, .end = end}, needed, lease_ + 1);
      one.kind = accepted ? Class::Accepted : Class::Unaccepted;
    }
  }

  // Jobs with a lease, wide ones first; then by the GPU time left, those apart whose deadline is
  // lost; accepted jobs ahead of their time at the very end.
  void rank(const View& view) {
    for (Entry& one : line_) {
      const double left_s = remaining_s(view, one.job);
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

  void assign_all(const View& view, Packer& packer, Plan& plan) {
    assigned_.clear();
    for (const Entry& one : line_) {
      if (!may_run(one)) continue;
      AssignedGroup& assigned = assigned_.emplace_back();
      assigned.group.jobs[0] = one.job;
      assigned.group.size = 1;
      assigned.shape = view.job(one.job).shape;
      assigned.gpus = one.gpus;
    }
    assignment_.assign(view, packer, assigned_);
    const auto job_of = [](const AssignedGroup& assigned) { return assigned.group.jobs[0]; };
    std::ranges::sort(assigned_, {}, job_of);
    for (Entry& one : line_) {
      const auto found = std::ranges::lower_bound(assigned_, one.job, {}, job_of);
      if (found != assigned_.end() && job_of(*found) == one.job) {
        Grant& grant = plan.grant(one.job);
        fill_exclusive(grant, view.spec(one.job));
        grant.devices = found->devices;
        one.is_new = false;
      } else if (one.runs) {
        plan.stop(one.job, why(one, {.code = Reason::Code::Outranked}));
      } else {
        report_wait(view, packer, plan, one);
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
        report_wait(view, packer, plan, one);
      }
    }
  }

  Reason why(const Entry& one, const Reason& otherwise) const {
    const LeaseBook::Claim* claim = book_.find(one.job);
    if (claim == nullptr || claim->leases.empty()) return otherwise;
    return {.code = Reason::Code::Later, .from = start_of(claim->leases.front(), options_.lease)};
  }
  void report_wait(const View& view, const Packer& packer, Plan& plan, Entry& one) const {
    if (!one.is_new || one.kind == Class::New) return;
    plan.wait(one.job, why(one, packer.why_not(packer.current(), view.job(one.job).shape)));
    one.is_new = false;
  }

  const ChronusOptions options_;
  LeaseBook book_;
  int lease_ = -1;
  int slot_ = -1;
  std::vector<Entry> line_;
  std::vector<JobId> jobs_;
  std::vector<AssignedGroup> assigned_;
  DeviceAssignment assignment_;
};

}  // namespace

std::unique_ptr<Policy> make_chronus(const ChronusOptions& options) {
  return std::make_unique<Chronus>(options);
}

}  // namespace orrery
