#include <cmath>

#include "base/random.h"
#include "cloud/market/deadline_guard.h"
#include "cloud/market/spot_policies.h"

namespace orrery {
namespace {

// After ROSS (2601.14612) with its names: K is the price of on demand over that of spot, L the
// work, D the deadline, phi the progress. While (D - t) / (L - phi) is above the critical ratio
// (1 + 2 sqrt K) / (1 + sqrt K) the warm-up is greedy, and nothing is at stake. Then an interval of
// length delta = (L - phi) / (1 + sqrt K) is drawn in which the job also runs on demand. It lies
// where the work left after it fits before the deadline: at the critical ratio in the next L - phi.
// Departures: the paper has no change-over, so the guard decides where one could miss the deadline;
// below the critical ratio at the start the interval is drawn at once. Of several zones it takes
// the first with capacity.
class Ross final : public SpotPolicy {
 public:
  explicit Ross(const SpotPlan& plan)
      : job_(plan.job), guard_(plan.job, plan.tick), random_(plan.seed) {}

  MachineChoice decide(const SpotView& view) override {
    if (!drawn_) draw_interval(view);
    if (view.held.kind == MachineKind::Spot) return guard_.first_safe(view, {view.held});
    const bool injected = drawn_ && view.elapsed >= begin_ && view.elapsed < end_;
    const MachineChoice spot = view.zones.empty() ? kNoMachine : spot_in(view.zones.first());
    if (injected) return guard_.first_safe(view, {spot == kNoMachine ? kOnDemand : spot});
    if (spot == kNoMachine) return guard_.first_safe(view, {kNoMachine});
    return guard_.first_safe(view, {spot, view.held, kNoMachine});
  }

 private:
  void draw_interval(const SpotView& view) {
    const double root = std::sqrt(job_.prices.on_demand / job_.prices.spot);
    const double left = seconds(view.work_left);
    const double time_left = seconds(job_.deadline - view.elapsed);
    if (time_left > left * (1 + 2 * root) / (1 + root)) return;
    const double delta = left / (1 + root);
    const double latest = time_left - left;
    begin_ = view.elapsed + from_seconds(latest * random_.uniform());
    end_ = begin_ + from_seconds(delta);
    drawn_ = true;
  }

  SpotJob job_;
  DeadlineGuard guard_;
  Random random_;
  bool drawn_ = false;
  Duration begin_{};
  Duration end_{};
};

}  // namespace

const SpotPolicyInfo kRossSpotPolicy = {
    "ross", "on demand in a drawn interval, spot otherwise, within sqrt K of the best (2601.14612)",
    [](const SpotPlan& plan) -> std::unique_ptr<SpotPolicy> {
      return std::make_unique<Ross>(plan);
    }};

}  // namespace orrery
