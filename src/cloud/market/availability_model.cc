#include "cloud/market/availability_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace orrery {
namespace {

// The integral of dt / (t + offset) over ages.
double exposure(double from, double to, double offset) {
  return std::log((to + offset) / (from + offset));
}

}  // namespace

AvailabilityModel::AvailabilityModel(int zones, Duration tick, const AvailabilityPrior& prior)
    : prior_(prior),
      tick_h_(seconds(tick) / 3600),
      decay_(std::exp(-tick_h_ / prior.memory_h)),
      zones_(static_cast<std::size_t>(zones)) {}

void AvailabilityModel::forget() {
  for (double* count : {&gap_h_, &gap_exposure_, &returns_, &losses_, &losses_beside_mature_,
                        &losses_beside_fresh_}) {
    *count *= decay_;
  }
  for (Zone& zone : zones_) {
    for (double* count : {&zone.up_h, &zone.exposure, &zone.losses}) *count *= decay_;
  }
}

void AvailabilityModel::observe(ZoneSet zones) {
  forget();
  double losses = 0;
  bool mature = false;
  for (std::size_t i = 0; i < zones_.size(); ++i) {
    Zone& zone = zones_[i];
    const bool up = zones.has(static_cast<int>(i));
    if (zone.up) {
      zone.exposure += exposure(zone.age_h, zone.age_h + tick_h_, prior_.loss_offset_h);
      zone.up_h += tick_h_;
      zone.age_h = up ? zone.age_h + tick_h_ : 0;
      zone.losses += up ? 0 : 1;
      losses += up ? 0 : 1;
    } else if (up) {
      zone.age_h = first_ ? prior_.first_age_h : 0;
    }
    zone.up = up;
    mature = mature || (up && zone.age_h >= prior_.mature_h);
  }
  losses_ += losses;
  if (mature) {
    losses_beside_mature_ += losses;
  } else if (!zones.empty()) {
    losses_beside_fresh_ += losses;
  }
  observe_gap(zones.empty());
  first_ = false;
}

void AvailabilityModel::observe_gap(bool gap) {
  if (gap_age_h_ > 0) {
    gap_h_ += tick_h_;
    gap_exposure_ +=
        exposure(gap_age_h_ - std::min(tick_h_, gap_age_h_), gap_age_h_, prior_.return_offset_h);
    returns_ += gap ? 0 : 1;
  }
  if (!gap) {
    gap_age_h_ = 0;
  } else {
    gap_age_h_ = first_ ? prior_.first_age_h : gap_age_h_ + tick_h_;
  }
}

double AvailabilityModel::shape(const Zone& zone) const {
  double losses = prior_.loss_shape * prior_.weight;
  double all = prior_.weight;
  for (const Zone& other : zones_) {
    losses += other.losses;
    all += other.exposure;
  }
  return (zone.losses + losses / all * prior_.zone_weight) / (zone.exposure + prior_.zone_weight);
}

double AvailabilityModel::best_shape() const {
  constexpr double kWeight_h = 4;
  std::vector<std::pair<double, double>> zones;  // shape, time with capacity
  double longest = 0;
  for (const Zone& zone : zones_) {
    zones.push_back({shape(zone), zone.up_h});
    longest = std::max(longest, zone.up_h);
  }
  std::ranges::sort(zones);
  // Each zone is held while none before it has capacity.
  double mean = 0;
  double left = 1;
  for (const auto& [zone_shape, up_h] : zones) {
    const double share = (up_h + kWeight_h * prior_.share_up) / (longest + kWeight_h);
    mean += left * share * zone_shape;
    left *= 1 - share;
  }
  return mean / (1 - left);
}

double AvailabilityModel::return_shape() const {
  return (returns_ + prior_.return_shape * prior_.weight) / (gap_exposure_ + prior_.weight);
}

double AvailabilityModel::survival(int zone, double later, double hours) const {
  const Zone& of = zones_[static_cast<std::size_t>(zone)];
  const double age = of.age_h + later;
  return std::exp(-shape(of) * exposure(age, age + hours, prior_.loss_offset_h));
}

double AvailabilityModel::gap_survival(double later, double hours) const {
  const double age = gap_age_h_ + later;
  return std::exp(-return_shape() * exposure(age, age + hours, prior_.return_offset_h));
}

SpotRates AvailabilityModel::rates() const {
  const double offset = prior_.loss_offset_h;
  const double mature = prior_.mature_h;
  const double horizon = prior_.horizon_h;
  const double losses_shape = best_shape();
  // Of the other zones at a loss, before anything was seen.
  const double others = static_cast<double>(zones_.size()) - 1;
  constexpr double kMatureShare = 0.8;
  const double none = std::pow(1 - prior_.share_up, others);
  const double none_mature = std::pow(1 - kMatureShare * prior_.share_up, others);
  const double weight = prior_.chance_weight;
  return {
      .fresh_loss = losses_shape * exposure(0, mature, offset) / mature,
      .mature_loss = losses_shape * exposure(mature, horizon, offset) / (horizon - mature),
      .maturing = 1 / mature,
      .mature_chance = (losses_beside_mature_ + weight * (1 - none_mature)) / (losses_ + weight),
      .fresh_chance = (losses_beside_fresh_ + weight * (none_mature - none)) / (losses_ + weight),
      .returns = (returns_ + weight) / (gap_h_ + weight * prior_.gap_h)};
}

}  // namespace orrery
