#pragma once

#include <cstddef>
#include <vector>

#include "cloud/market/spot_policy.h"
#include "cloud/market/spot_value.h"

namespace orrery {

// What is expected before anything was seen, fitted to a part of the published traces
// (docs/systems/spot-deadlines.md).
struct AvailabilityPrior {
  // Capacity of age a is lost at the rate shape / (a + offset); a gap of age a ends at such a rate.
  double loss_shape = 1.3;
  double loss_offset_h = 0.75;
  double return_shape = 1.3;
  double return_offset_h = 0.5;
  double gap_h = 1.5;        // mean length of a gap
  double share_up = 0.6;     // part of the time in which a zone has capacity
  double first_age_h = 1;    // of what there is when the plan starts
  double mature_h = 1;       // capacity of this age counts as mature
  double horizon_h = 6;      // age up to which mature capacity is held, in the mean
  double weight = 3;         // of the prior, in losses and gaps for a shape of 1
  double zone_weight = 3;    // of the mean of all zones in the shape of one
  double chance_weight = 2;  // of the prior of means and chances, in gaps and losses
  double memory_h = 48;      // what is older by this counts for 1/e
};

// How long capacity and gaps last, learned from the views of one plan. Capacity that has lasted
// long goes on longer than fresh capacity, and so do gaps, in which no zone has any. So ages and
// not only means decide. Times are in hours.
class AvailabilityModel {
 public:
  AvailabilityModel(int zones, Duration tick, const AvailabilityPrior& prior = {});

  // Once for each tick, in order.
  void observe(ZoneSet zones);

  // The chance that the capacity of a zone, when it is older by `later`, goes on for `hours`.
  double survival(int zone, double later, double hours) const;
  // The same of the gap that there is.
  double gap_survival(double later, double hours) const;

  // The rates of what lies beyond the present capacity or gap.
  SpotRates rates() const;

 private:
  struct Zone {
    bool up = false;
    double age_h = 0;
    double up_h = 0;
    double exposure = 0;  // integral of dt / (age + offset) over the time with capacity
    double losses = 0;
  };

  void forget();
  void observe_gap(bool gap);
  double shape(const Zone& zone) const;
  double best_shape() const;
  double return_shape() const;

  AvailabilityPrior prior_;
  double tick_h_;
  double decay_;  // of counts, in a tick
  std::vector<Zone> zones_;
  bool first_ = true;
  double gap_age_h_ = 0;  // 0: no gap
  double gap_h_ = 0;
  double gap_exposure_ = 0;
  double returns_ = 0;
  double losses_ = 0;
  double losses_beside_mature_ = 0;  // while another zone had mature capacity
  double losses_beside_fresh_ = 0;   // while others had fresh capacity only
};

}  // namespace orrery
