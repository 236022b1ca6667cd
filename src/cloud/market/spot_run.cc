#include "cloud/market/spot_run.h"

#include <algorithm>

#include "base/invariant.h"

namespace orrery {
namespace {

// Holds the machine of a view for one tick, or until the work ends.
void hold(SpotView& view, Duration tick, SpotRun& run) {
  if (view.held.kind == MachineKind::None) {
    view.elapsed += tick;
    return;
  }
  const Duration held = std::min(tick, view.changeover_left + view.work_left);
  const Duration cold = std::min(held, view.changeover_left);
  view.changeover_left -= cold;
  view.work_left -= held - cold;
  view.elapsed += held;
  (view.held.kind == MachineKind::Spot ? run.spot : run.on_demand) += held;
}

}  // namespace

SpotRun run_spot_policy(const SpotMarket& market, const SpotJob& job, std::size_t start,
                        SpotPolicy& policy) {
  SpotRun run;
  SpotView view{.work_left = job.work};
  for (std::size_t tick = start; view.work_left > Duration{}; ++tick) {
    const bool late = view.elapsed >= job.deadline || tick >= market.ticks();
    view.zones = late ? ZoneSet{} : market.zones_with_capacity(tick);
    if (view.held.kind == MachineKind::Spot && !view.zones.has(view.held.zone)) {
      view.held = kNoMachine;
      view.changeover_left = {};
      ++run.revocations;
    }
    const MachineChoice next = late ? kOnDemand : policy.decide(view);
    INVARIANT(next.kind != MachineKind::Spot || view.zones.has(next.zone),
              "a policy starts spot machines only where there is capacity");
    if (next != view.held) {
      view.held = next;
      view.changeover_left = next.kind == MachineKind::None ? Duration{} : job.changeover;
    }
    hold(view, market.tick(), run);
  }
  run.finish = view.elapsed;
  run.met = run.finish <= job.deadline;
  run.cost =
      (job.prices.spot * seconds(run.spot) + job.prices.on_demand * seconds(run.on_demand)) / 3600;
  return run;
}

}  // namespace orrery
