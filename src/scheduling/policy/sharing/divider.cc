#include "scheduling/policy/sharing/divider.h"

#include <algorithm>

#include "base/invariant.h"
#include "scheduling/placement/shape.h"
#include "scheduling/prediction/speed_curve.h"

namespace orrery {

ScalingCurve options_of(const View& view, Packer& packer, JobId job) {
  const JobSpec& spec = view.spec(job);
  std::vector<int> counts = {spec.gpus};
  if (spec.curve != kNoCurve) {
    for (const SpeedCurve::Point& point : view.workload->curves[index(spec.curve)].points) {
      counts.push_back(point.gpus);
    }
  }
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  std::vector<GpuOption> options;
  for (const int gpus : counts) {
    const double speed = speed_on(*view.workload, spec, gpus);
    if (speed <= (options.empty() ? 0 : options.back().speed)) continue;
    const ShapeId shape = packer.intern(shape_on(spec, gpus));
    if (!packer.infeasible(shape)) options.push_back({gpus, gpus, speed, shape});
  }
  INVARIANT(!options.empty(), "a job that was admitted runs on something");
  return ScalingCurve(std::move(options));
}

namespace {

// An exclusive grant of an option.
void fill(Grant& grant, const Packer& packer, const GpuOption& option) {
  grant.cpu_milli = packer.shape(option.shape).cpu_milli;
  grant.memory_bytes = packer.shape(option.shape).memory_bytes;
  grant.iterations_per_s = option.speed;
}

class Divider final : public Policy {
 public:
  Divider(std::unique_ptr<ShareRule> rule, const DividerOptions& options)
      : rule_(std::move(rule)), options_(options) {}

  const Trainer* trainer() const override { return rule_->trainer(); }

  bool adopt(const View& view, Packer& packer, JobId job, Grant& grant) override {
    const ScalingCurve curve = rule_->options(view, packer, job);
    const int held = curve.option_of(gpu_count(grant.devices));
    if (held == 0) return false;
    grant.sharing = Sharing::Exclusive;
    grant.group = kNoGroup;
    grant.position = 0;
    fill(grant, packer, curve[held]);
    return true;
  }

  void plan(const View& view, Packer& packer, Plan& plan) override {
    update_line(view, packer);
    news_ = news_ || !view.arrived.empty() || !view.ended.empty();
    if (line_.empty()) return;
    const bool due = (news_ || options_.periodic) && view.now >= next_;
    if (due || (options_.newcomers_at_once && newcomer_is_kept_out(view, packer))) {
      news_ = false;
      next_ = view.now + options_.quantum;
      for (Sharer& one : line_) rule_->refresh(view, packer, one);
      rule_->divide(line_, packer.current().gpus_total());
      assign(view, packer);
      grant_all(view, packer, plan);
    } else {
      fill_idle(packer, plan);
    }
    if (news_ || options_.periodic) plan.wake(next_);
  }

 private:
  void update_line(const View& view, Packer& packer) {
    std::erase_if(line_, [&](const Sharer& one) { return view.has_ended(one.job); });
    for (const JobId job : view.arrived) {
      line_.push_back({.job = job,
                       .curve = rule_->options(view, packer, job),
                       .start_s = seconds(view.spec(job).start_cost)});
    }
    for (Sharer& one : line_) {
      one.work_left = view.work_left(one.job);
      one.held = option_held(view, one);
      one.option = 0;
      one.age_s = seconds(view.now - view.spec(one.job).submitted);
      if (one.held == 0) continue;
      one.has_run = true;
      one.most_held = std::max(one.most_held, one.curve[one.held].gpus);
    }
  }

  // True if GPUs are missing for a job that has just arrived, and jobs on more than their smallest
  // option hold them.
  bool newcomer_is_kept_out(const View& view, const Packer& packer) const {
    if (view.arrived.empty()) return false;
    int wanted = 0;
    int spare = 0;
    for (const Sharer& one : line_) {
      const int smallest = one.curve[1].gpus;
      if (one.held == 0 && one.is_new) wanted += smallest;
      if (one.held > 0) spare += one.curve[one.held].gpus - smallest;
    }
    return wanted > packer.current().gpus_free() && spare > 0;
  }

  static int option_held(const View& view, const Sharer& one) {
    const Job& job = view.job(one.job);
    if (job.state != JobState::Running) return 0;
    const int held = one.curve.option_of(gpu_count(job.held.devices));
    INVARIANT(held > 0, "a job holds what it was given");
    return held;
  }

  // Shares were counted in GPUs. Where the devices, CPUs or memory left are not of a kind that
  // makes a share, it becomes smaller; large ones are placed first, so that few do.
  void assign(const View& view, Packer& packer) {
    by_size_.clear();
    for (Sharer& one : line_) {
      if (one.option > 0) by_size_.push_back(&one);
    }
    std::ranges::stable_sort(by_size_, std::ranges::greater{}, &Sharer::gpus);
    Ledger& ledger = packer.blank();
    ledger.clear();
    for (Sharer* one : by_size_) {
      while (one->option > 0 && !packer.place(ledger, one->curve[one->option].shape, devices_)) {
        --one->option;
      }
    }
    assigned_.clear();
    for (const Sharer* one : by_size_) {
      if (one->option == 0) continue;
      AssignedGroup& assigned = assigned_.emplace_back();
      assigned.group.jobs[0] = one->job;
      assigned.group.size = 1;
      assigned.shape = one->curve[one->option].shape;
      assigned.gpus = one->gpus();
    }
    assignment_.assign(view, packer, assigned_);
  }

  void grant_all(const View& view, Packer& packer, Plan& plan) {
    place_of_.assign(view.jobs.size(), -1);
    for (std::size_t i = 0; i < assigned_.size(); ++i) {
      place_of_[index(assigned_[i].group.jobs[0])] = static_cast<std::int32_t>(i);
    }
    for (Sharer& one : line_) {
      const std::int32_t place = place_of_[index(one.job)];
      if (place >= 0) {
        const Devices& devices = assigned_[static_cast<std::size_t>(place)].devices;
        one.is_new = false;
        if (one.held > 0 && view.job(one.job).held.devices == devices) continue;
        Grant& grant = plan.grant(one.job);
        fill(grant, packer, one.curve[one.option]);
        grant.devices = devices;
        one.restarts += one.has_run ? 1 : 0;
      } else if (one.held > 0) {
        plan.stop(one.job, {.code = Reason::Code::Outranked});
      } else {
        report_wait(packer, plan, one);
      }
    }
  }

  void fill_idle(Packer& packer, Plan& plan) {
    for (Sharer& one : line_) {
      if (one.held > 0) continue;
      Grant& grant = plan.grant(one.job);
      if (packer.place(packer.current(), one.curve[1].shape, grant.devices)) {
        fill(grant, packer, one.curve[1]);
        one.is_new = false;
      } else {
        plan.withdraw_last_grant();
        report_wait(packer, plan, one);
      }
    }
  }

  static void report_wait(const Packer& packer, Plan& plan, Sharer& one) {
    if (one.is_new) plan.wait(one.job, packer.why_not(packer.current(), one.curve[1].shape));
    one.is_new = false;
  }

  const std::unique_ptr<ShareRule> rule_;
  const DividerOptions options_;
  std::vector<Sharer> line_;  // in order of arrival
  std::vector<Sharer*> by_size_;
  std::vector<AssignedGroup> assigned_;
  std::vector<std::int32_t> place_of_;
  DeviceAssignment assignment_;
  Devices devices_;
  Time next_{};
  bool news_ = false;
};

}  // namespace

std::unique_ptr<Policy> make_divider(std::unique_ptr<ShareRule> rule,
                                     const DividerOptions& options) {
  return std::make_unique<Divider>(std::move(rule), options);
}

}  // namespace orrery
