#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "cloud/market/spot_job.h"

namespace orrery {

// Rates per hour, and chances, that a SpotValue takes for constant.
struct SpotRates {
  double fresh_loss = 0;     // of fresh capacity
  double mature_loss = 0;    // of mature capacity
  double maturing = 1;       // of fresh capacity
  double mature_chance = 0;  // that there is mature capacity elsewhere when one is lost
  double fresh_chance = 0;   // that there is only fresh capacity elsewhere
  double returns = 0;        // of fresh capacity, in a gap
};

// The least expected cost of the work that is left, if capacity comes and goes at constant rates: a
// dynamic program over work, slack and state. Slack is what is free, beyond the change-over that a
// start on demand takes; on demand it is all. All times are in hours.
class SpotValue {
 public:
  enum State {
    HeldFresh,  // a spot machine that works
    HeldMature,
    Fresh,  // no machine; there is capacity
    Mature,
    Gap,  // no machine and no capacity
    OnDemandFresh,
    OnDemandMature,
    OnDemandGap,
    States
  };

  SpotValue(const SpotJob& job, std::size_t work_steps, std::size_t slack_steps);

  void solve(const SpotRates& rates);

  // Between the points of the table by lines, at its borders as there. Nothing before solve().
  double at(State state, double work, double slack) const;

  double work_step() const { return work_step_; }
  double slack_step() const { return slack_step_; }

 private:
  struct Steps;  // the rates in one step
  using Row = std::array<double*, States>;

  void solve_held(const Steps& steps, const Row& now, const Row& before) const;
  void solve_others(const Steps& steps, const Row& now, const Row& before) const;
  // A row at `slack_lost` steps of slack less; infinite where there are not as many.
  double lower(const double* row, std::size_t slack, double slack_lost) const;

  HourlyPrices prices_;
  double changeover_;
  std::size_t work_steps_;
  std::size_t slack_steps_;
  double work_step_;
  double slack_step_;
  std::array<std::vector<double>, States> tables_{};
};

}  // namespace orrery
