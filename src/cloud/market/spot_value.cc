#include "cloud/market/spot_value.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kLeastSlack_h = 1e-6;

double stays(double rate, double step) { return std::exp(-rate * step); }

}  // namespace

// While a step of work is done, and while a step of slack passes idle.
struct SpotValue::Steps {
  double fresh_stays, mature_stays, matures, gap_stays;
  double idle_fresh_stays, idle_matures, idle_gap_stays;
  double mature_chance, fresh_chance;
  double changeover;  // in steps of slack

  double lost(double mature, double fresh, double gap) const {
    return mature_chance * mature + fresh_chance * fresh + (1 - mature_chance - fresh_chance) * gap;
  }
};

SpotValue::SpotValue(const SpotJob& job, std::size_t work_steps, std::size_t slack_steps)
    : prices_(job.prices),
      changeover_(seconds(job.changeover) / 3600),
      work_steps_(work_steps),
      slack_steps_(slack_steps),
      work_step_(seconds(job.work) / 3600 / static_cast<double>(work_steps)),
      slack_step_(std::max(seconds(job.deadline - job.earliest_end()) / 3600, kLeastSlack_h) /
                  static_cast<double>(slack_steps)) {
  for (std::vector<double>& table : tables_) table.assign((work_steps + 1) * (slack_steps + 1), 0);
}

double SpotValue::at(State state, double work, double slack) const {
  const double x = std::clamp(work / work_step_, 0.0, static_cast<double>(work_steps_));
  const double y = std::clamp(slack / slack_step_, 0.0, static_cast<double>(slack_steps_));
  const auto i = std::min(static_cast<std::size_t>(x), work_steps_ - 1);
  const auto j = std::min(static_cast<std::size_t>(y), slack_steps_ - 1);
  const double part_x = x - static_cast<double>(i);
  const double part_y = y - static_cast<double>(j);
  const double* const less = tables_[state].data() + i * (slack_steps_ + 1) + j;
  const double* const more = less + slack_steps_ + 1;
  return (1 - part_x) * ((1 - part_y) * less[0] + part_y * less[1]) +
         part_x * ((1 - part_y) * more[0] + part_y * more[1]);
}

double SpotValue::lower(const double* row, std::size_t slack, double slack_lost) const {
  const double place = static_cast<double>(slack) - slack_lost;
  if (place < -1e-9) return kNone;
  const double kept = std::max(place, 0.0);
  const auto below = static_cast<std::size_t>(kept);
  const double part = kept - static_cast<double>(below);
  return part > 0 ? (1 - part) * row[below] + part * row[below + 1] : row[below];
}

void SpotValue::solve_held(const Steps& steps, const Row& now, const Row& before) const {
  const double cost = prices_.spot * work_step_;
  for (std::size_t j = 0; j <= slack_steps_; ++j) {
    const double lost = steps.lost(before[Mature][j], before[Fresh][j], before[Gap][j]);
    const double fresh =
        steps.matures * before[HeldMature][j] + (1 - steps.matures) * before[HeldFresh][j];
    now[HeldMature][j] =
        cost + steps.mature_stays * before[HeldMature][j] + (1 - steps.mature_stays) * lost;
    now[HeldFresh][j] = cost + steps.fresh_stays * fresh + (1 - steps.fresh_stays) * lost;
  }
}

void SpotValue::solve_others(const Steps& steps, const Row& now, const Row& before) const {
  const double cost = prices_.on_demand * work_step_;
  const double start_spot = prices_.spot * changeover_;
  const double start_on_demand = prices_.on_demand * changeover_;
  const double once = steps.changeover;
  for (std::size_t j = 0; j <= slack_steps_; ++j) {
    const double lost =
        steps.lost(before[OnDemandMature][j], before[OnDemandFresh][j], before[OnDemandGap][j]);
    const double fresh =
        steps.matures * before[OnDemandMature][j] + (1 - steps.matures) * before[OnDemandFresh][j];
    // A start of spot from on demand gives up the machine that a start on demand would buy
    // again: two change-overs of slack.
    now[OnDemandMature][j] = std::min(
        cost + steps.mature_stays * before[OnDemandMature][j] + (1 - steps.mature_stays) * lost,
        start_spot + lower(now[HeldMature], j, 2 * once));
    now[OnDemandFresh][j] =
        std::min(cost + steps.fresh_stays * fresh + (1 - steps.fresh_stays) * lost,
                 start_spot + lower(now[HeldFresh], j, 2 * once));
    now[OnDemandGap][j] = cost + steps.gap_stays * before[OnDemandGap][j] +
                          (1 - steps.gap_stays) * before[OnDemandFresh][j];
    now[Mature][j] = std::min(start_spot + lower(now[HeldMature], j, once),
                              start_on_demand + now[OnDemandMature][j]);
    now[Fresh][j] = std::min(start_spot + lower(now[HeldFresh], j, once),
                             start_on_demand + now[OnDemandFresh][j]);
    now[Gap][j] = start_on_demand + now[OnDemandGap][j];
    if (j > 0) {
      const double idle_lost = steps.lost(now[Mature][j - 1], now[Fresh][j - 1], now[Gap][j - 1]);
      const double idle_fresh =
          steps.idle_matures * now[Mature][j - 1] + (1 - steps.idle_matures) * now[Fresh][j - 1];
      now[Fresh][j] = std::min(now[Fresh][j], steps.idle_fresh_stays * idle_fresh +
                                                  (1 - steps.idle_fresh_stays) * idle_lost);
      now[Gap][j] = std::min(now[Gap][j], steps.idle_gap_stays * now[Gap][j - 1] +
                                              (1 - steps.idle_gap_stays) * now[Fresh][j - 1]);
    }
    if (once >= 1) now[OnDemandGap][j] = std::min(now[OnDemandGap][j], lower(now[Gap], j, once));
  }
}

void SpotValue::solve(const SpotRates& rates) {
  const Steps steps{.fresh_stays = stays(rates.fresh_loss, work_step_),
                    .mature_stays = stays(rates.mature_loss, work_step_),
                    .matures = 1 - stays(rates.maturing, work_step_),
                    .gap_stays = stays(rates.returns, work_step_),
                    .idle_fresh_stays = stays(rates.fresh_loss, slack_step_),
                    .idle_matures = 1 - stays(rates.maturing, slack_step_),
                    .idle_gap_stays = stays(rates.returns, slack_step_),
                    .mature_chance = rates.mature_chance,
                    .fresh_chance = rates.fresh_chance,
                    .changeover = changeover_ / slack_step_};
  for (std::size_t i = 1; i <= work_steps_; ++i) {
    Row now, before;
    for (std::size_t state = 0; state < States; ++state) {
      now[state] = tables_[state].data() + i * (slack_steps_ + 1);
      before[state] = now[state] - (slack_steps_ + 1);
    }
    solve_held(steps, now, before);
    solve_others(steps, now, before);
  }
}

}  // namespace orrery
