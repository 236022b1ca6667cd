#include "cloud/market/deadline_guard.h"
#include "cloud/market/spot_policies.h"

namespace orrery {
namespace {

// After "Can't Be Late" (NSDI'24), section 4.2, with its names: C is the work, R the time, d the
// change-over, c_p the progress, and c_e the progress of a job that works evenly until its
// deadline. Departures: decisions are for whole ticks, and the deadline is guarded for each of
// them. Of several zones it takes the first with capacity, which the paper leaves open.
class UniformProgress final : public SpotPolicy {
 public:
  explicit UniformProgress(const SpotPlan& plan) : job_(plan.job), guard_(plan.job, plan.tick) {}

  MachineChoice decide(const SpotView& view) override {
    if (to_the_end_) return kOnDemand;
    // Exploitation: a spot machine is held until it is lost.
    if (view.held.kind == MachineKind::Spot) return guard_.first_safe(view, {view.held});
    // Safety net: idle and R(t) < C(t) + 2d.
    if (view.held == kNoMachine && guard_.slack(view) < 2 * job_.changeover) {
      to_the_end_ = true;
      return kOnDemand;
    }
    const MachineChoice spot = view.zones.empty() ? kNoMachine : spot_in(view.zones.first());
    // Hysteresis: on demand until c_p(t) >= c_e(t + 2d).
    if (view.held == kOnDemand && progress(view) < even(view.elapsed + 2 * job_.changeover)) {
      return kOnDemand;
    }
    // Taking risks: spot whenever there is some, even behind.
    if (spot != kNoMachine) return guard_.first_safe(view, {spot, kNoMachine});
    if (progress(view) < even(view.elapsed)) return kOnDemand;
    return guard_.first_safe(view, {kNoMachine});
  }

 private:
  double progress(const SpotView& view) const { return seconds(job_.work - view.work_left); }
  double even(Duration elapsed) const {
    return seconds(elapsed) * seconds(job_.work) / seconds(job_.deadline);
  }

  SpotJob job_;
  DeadlineGuard guard_;
  bool to_the_end_ = false;
};

}  // namespace

const SpotPolicyInfo kUniformProgressSpotPolicy = {
    "uniform-progress", "on demand where the job is behind even progress (NSDI'24)",
    [](const SpotPlan& plan) -> std::unique_ptr<SpotPolicy> {
      return std::make_unique<UniformProgress>(plan);
    }};

}  // namespace orrery
