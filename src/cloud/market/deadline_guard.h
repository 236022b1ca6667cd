#pragma once

#include <algorithm>

#include "cloud/market/spot_job.h"
#include "cloud/market/spot_policy.h"

namespace orrery {

// Says which machines keep the deadline, whatever the zones do after the tick that begins. Where
// the deadline could be kept at the start, there is such a machine at every tick as long as only
// such machines are chosen: in doubt, on demand.
class DeadlineGuard {
 public:
  DeadlineGuard(const SpotJob& job, Duration tick) : job_(job), tick_(tick) {}

  Duration slack(const SpotView& view) const {
    return job_.deadline - view.elapsed - view.work_left;
  }

  bool keeps_deadline(const SpotView& view, MachineChoice next) const {
    const bool started = next.kind != MachineKind::None && next != view.held;
    const Duration cold = started ? job_.changeover : view.changeover_left;
    const Duration time_left = job_.deadline - view.elapsed;
    if (next.kind == MachineKind::None) return slack(view) - tick_ >= job_.changeover;
    if (cold + view.work_left <= std::min(tick_, time_left)) return true;  // it ends in this tick
    const Duration slack_after = slack(view) - std::min(cold, tick_);
    if (next.kind == MachineKind::OnDemand) return slack_after >= cold - std::min(cold, tick_);
    return slack_after >= job_.changeover;
  }

  // The first choice that keeps the deadline.
  MachineChoice first_safe(const SpotView& view,
                           std::initializer_list<MachineChoice> choices) const {
    for (const MachineChoice& choice : choices) {
      if (keeps_deadline(view, choice)) return choice;
    }
    return kOnDemand;
  }

 private:
  SpotJob job_;
  Duration tick_;
};

}  // namespace orrery
