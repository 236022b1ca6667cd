#include <limits>

#include "cloud/market/deadline_guard.h"
#include "cloud/market/spot_outlook.h"
#include "cloud/market/spot_policies.h"

namespace orrery {
namespace {

// Ours. It promises the deadline and keeps it: the guard admits only machines after which on demand
// is still in time, whatever the zones do. Among these it takes the one with the least expected
// cost. Capacity is expected to last the longer the older it is, with rates learned in this plan.
// A spot machine is held until it is lost. Where there is capacity, a later start is weighed too,
// idle or on demand until then: fresh capacity is often lost before it has made up for its
// change-over.
class OrrerySpot final : public SpotPolicy {
 public:
  explicit OrrerySpot(const SpotPlan& plan)
      : job_(plan.job),
        tick_(plan.tick),
        zones_(plan.zones),
        guard_(plan.job, plan.tick),
        outlook_(plan.job, plan.tick, plan.zones) {}

  MachineChoice decide(const SpotView& view) override {
    outlook_.observe(view.zones);
    if (view.held.kind == MachineKind::Spot) return guard_.first_safe(view, {view.held});
    outlook_.update();
    best_ = kOnDemand;
    least_ = std::numeric_limits<double>::infinity();
    const double changeover = hours(job_.changeover);
    const double slack = hours(guard_.slack(view));
    const bool on_demand = view.held == kOnDemand;
    // What a machine on demand still takes to work, and what is left then.
    const double cold = on_demand ? hours(view.changeover_left) : changeover;
    const double cold_cost = job_.prices.on_demand * cold;
    const double work = hours(view.work_left);
    const JobLeft warm = SpotOutlook::next_part({work, slack - cold});
    const JobLeft left = SpotOutlook::next_part({work, slack - changeover});
    weigh(view, kOnDemand, cold_cost + outlook_.on_demand_to_end(warm));
    if (view.zones.empty()) {
      weigh(view, kOnDemand, cold_cost + outlook_.on_demand_in_gap(warm));
      weigh(view, kNoMachine, outlook_.idle_in_gap(left));
    }
    for (int zone = 0; zone < zones_; ++zone) {
      if (!view.zones.has(zone)) continue;
      weigh(view, spot_in(zone), outlook_.spot(zone, 0, left));
      for (double wait = std::max(hours(tick_), kShortestWait_h); wait <= kLongestWait_h;
           wait *= 2) {
        weigh(view, kNoMachine, outlook_.idle_then_spot(zone, wait, left));
        weigh(view, kOnDemand, cold_cost + outlook_.on_demand_then_spot(zone, wait, warm));
      }
    }
    return best_;
  }

 private:
  static constexpr double kShortestWait_h = 1.0 / 16;
  static constexpr double kLongestWait_h = 4;

  static double hours(Duration duration) { return seconds(duration) / 3600; }

  void weigh(const SpotView& view, MachineChoice machine, double cost) {
    if (cost >= least_ || !guard_.keeps_deadline(view, machine)) return;
    least_ = cost;
    best_ = machine;
  }

  SpotJob job_;
  Duration tick_;
  int zones_;
  DeadlineGuard guard_;
  SpotOutlook outlook_;
  MachineChoice best_{};  // of this tick
  double least_ = 0;
};

}  // namespace

const SpotPolicyInfo kOrrerySpotPolicy = {
    "orrery-spot", "ours: the least expected cost by the ages of capacity; the deadline is certain",
    [](const SpotPlan& plan) -> std::unique_ptr<SpotPolicy> {
      return std::make_unique<OrrerySpot>(plan);
    }};

}  // namespace orrery
