#include "cloud/market/deadline_guard.h"
#include "cloud/market/spot_policies.h"

namespace orrery {
namespace {

// After "Can't Be Late" (NSDI'24), section 4.1: spot machines whenever there are some, otherwise
// idle, until the slack is used up; from then on demand to the end.
class Greedy final : public SpotPolicy {
 public:
  explicit Greedy(const SpotPlan& plan) : guard_(plan.job, plan.tick) {}

  MachineChoice decide(const SpotView& view) override {
    if (view.held == kOnDemand) return kOnDemand;
    MachineChoice wanted = view.held;
    if (wanted == kNoMachine && !view.zones.empty()) wanted = spot_in(view.zones.first());
    return guard_.first_safe(view, {wanted, kNoMachine});
  }

 private:
  DeadlineGuard guard_;
};

}  // namespace

const SpotPolicyInfo kGreedySpotPolicy = {
    "greedy", "spot or idle until the slack is used up, then on demand (NSDI'24)",
    [](const SpotPlan& plan) -> std::unique_ptr<SpotPolicy> {
      return std::make_unique<Greedy>(plan);
    }};

}  // namespace orrery
