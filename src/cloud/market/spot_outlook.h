#pragma once

#include "cloud/market/availability_model.h"
#include "cloud/market/spot_value.h"

namespace orrery {

// What a job still needs, in hours. Slack is free slack, as in SpotValue.
struct JobLeft {
  double work = 0;
  double slack = 0;

  JobLeft after_work(double hours) const { return {work - hours, slack}; }
  JobLeft after_idle(double hours) const { return {work, slack - hours}; }
};

// The expected costs of the choices that there are now: the age of each zone's capacity until it is
// lost, and a SpotValue for what comes after that.
class SpotOutlook {
 public:
  SpotOutlook(const SpotJob& job, Duration tick, int zones);

  // Once for each tick, in order.
  void observe(ZoneSet zones) { model_.observe(zones); }
  // Before the costs are asked for, in the same tick.
  void update();
  // The part of a long job that is planned now: some days of work, and as large a part of the
  // slack. The costs below are those of that part.
  static JobLeft next_part(JobLeft left);

  // Of a spot machine that starts when the zone's capacity is older by `later`. Infinite where the
  // slack does not suffice.
  double spot(int zone, double later, JobLeft left) const;
  // Idle for `hours` while the zone has capacity, then a spot machine there.
  double idle_then_spot(int zone, double hours, JobLeft left) const;
  // Idle in a gap until there is capacity, or on demand once that is cheaper.
  double idle_in_gap(JobLeft left) const;
  // With a machine on demand that works: to the end; while there is no capacity; for `hours`, then
  // a spot machine. Its slack is all slack.
  double on_demand_to_end(JobLeft left) const { return job_.prices.on_demand * left.work; }
  double on_demand_in_gap(JobLeft left) const;
  double on_demand_then_spot(int zone, double hours, JobLeft left) const;

 private:
  double lost(JobLeft left) const;
  double lost_on_demand(JobLeft left) const;

  SpotJob job_;
  double tick_h_;
  double changeover_h_;
  AvailabilityModel model_;
  SpotValue value_;
  SpotRates rates_{};
  bool solved_ = false;
};

}  // namespace orrery
