#include "cloud/market/spot_outlook.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr std::size_t kWorkSteps = 64;
constexpr std::size_t kSlackSteps = 32;
constexpr double kUnlikely = 1e-3;
// Idle time beside capacity costs this part of the spot price. The model does not know that whole
// days can turn bad, so slack is worth more than it says.
constexpr double kIdlePrice = 0.3;

// Work that is planned at once. The steps of a table for more would be too long for lifetimes.
constexpr double kHorizon_h = 72;

// A job whose table holds every part of `job`, and slack that grows to twice its part.
SpotJob longest_part(const SpotJob& job) {
  const double work = seconds(job.work) / 3600;
  if (work <= kHorizon_h) return job;
  SpotJob part = job;
  part.work = from_seconds(kHorizon_h * 3600);
  const double slack = seconds(job.deadline - job.earliest_end());
  part.deadline = part.earliest_end() + from_seconds(slack * std::min(1.0, 2 * kHorizon_h / work));
  return part;
}

bool close(double a, double b) { return std::abs(a - b) <= 0.05 * std::abs(b) + 5e-3; }

bool close(const SpotRates& a, const SpotRates& b) {
  return close(a.fresh_loss, b.fresh_loss) && close(a.mature_loss, b.mature_loss) &&
         close(a.mature_chance, b.mature_chance) && close(a.fresh_chance, b.fresh_chance) &&
         close(a.returns, b.returns);
}

}  // namespace

SpotOutlook::SpotOutlook(const SpotJob& job, Duration tick, int zones)
    : job_(job),
      tick_h_(seconds(tick) / 3600),
      changeover_h_(seconds(job.changeover) / 3600),
      model_(zones, tick),
      value_(longest_part(job), kWorkSteps, kSlackSteps) {}

JobLeft SpotOutlook::next_part(JobLeft left) {
  const double part = std::min(1.0, kHorizon_h / left.work);
  return {left.work * part, left.slack * part};
}

void SpotOutlook::update() {
  const SpotRates rates = model_.rates();
  if (solved_ && close(rates, rates_)) return;
  rates_ = rates;
  value_.solve(rates);
  solved_ = true;
}

double SpotOutlook::lost(JobLeft left) const {
  const double none = 1 - rates_.mature_chance - rates_.fresh_chance;
  return rates_.mature_chance * value_.at(SpotValue::Mature, left.work, left.slack) +
         rates_.fresh_chance * value_.at(SpotValue::Fresh, left.work, left.slack) +
         none * value_.at(SpotValue::Gap, left.work, left.slack);
}

double SpotOutlook::lost_on_demand(JobLeft left) const {
  const double none = 1 - rates_.mature_chance - rates_.fresh_chance;
  return rates_.mature_chance * value_.at(SpotValue::OnDemandMature, left.work, left.slack) +
         rates_.fresh_chance * value_.at(SpotValue::OnDemandFresh, left.work, left.slack) +
         none * value_.at(SpotValue::OnDemandGap, left.work, left.slack);
}

double SpotOutlook::spot(int zone, double later, JobLeft left) const {
  left = left.after_idle(changeover_h_);
  if (left.slack < 0) return kNone;
  double alive = model_.survival(zone, later, changeover_h_);
  double cost = job_.prices.spot * changeover_h_ + (1 - alive) * lost(left);
  later += changeover_h_;
  while (left.work > 0 && alive > kUnlikely) {
    const double step = std::min(left.work, value_.work_step());
    const double survives = model_.survival(zone, later, step);
    cost += alive * job_.prices.spot * step;
    left = left.after_work(step);
    if (left.work <= 0) return cost;
    cost += alive * (1 - survives) * lost(left);
    alive *= survives;
    later += step;
  }
  return cost + alive * value_.at(SpotValue::HeldMature, left.work, left.slack);
}

double SpotOutlook::idle_then_spot(int zone, double hours, JobLeft left) const {
  left = left.after_idle(hours);
  if (left.slack < 0) return kNone;
  const double survives = model_.survival(zone, 0, hours);
  return kIdlePrice * job_.prices.spot * hours + survives * spot(zone, hours, left) +
         (1 - survives) * lost(left);
}

double SpotOutlook::idle_in_gap(JobLeft left) const {
  double best = kNone;
  double cost = 0;
  double alive = 1;
  double passed = 0;
  while (alive > kUnlikely) {
    const double step = passed > 0 ? std::max(tick_h_, value_.slack_step()) : tick_h_;
    if (left.slack < step) break;
    const double survives = model_.gap_survival(passed, step);
    left = left.after_idle(step);
    cost += alive * (1 - survives) * value_.at(SpotValue::Fresh, left.work, left.slack);
    alive *= survives;
    passed += step;
    const double start = job_.prices.on_demand * changeover_h_;
    best = std::min(best, cost + alive * (start + on_demand_in_gap(left)));
  }
  return best;
}

double SpotOutlook::on_demand_in_gap(JobLeft left) const {
  return value_.at(SpotValue::OnDemandGap, left.work, left.slack);
}

double SpotOutlook::on_demand_then_spot(int zone, double hours, JobLeft left) const {
  if (left.work <= hours) return kNone;
  left = left.after_work(hours);
  const double survives = model_.survival(zone, 0, hours);
  return job_.prices.on_demand * hours +
         survives * spot(zone, hours, left.after_idle(changeover_h_)) +
         (1 - survives) * lost_on_demand(left);
}

}  // namespace orrery
