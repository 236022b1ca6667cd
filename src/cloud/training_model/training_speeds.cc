#include "cloud/training_model/training_speeds.h"

#include <cmath>

namespace orrery {
namespace {

constexpr std::chrono::hours kDay(24);

// A GPU's Weibull lifetime, censored at a day, and the shares that zones revoked within the day.
struct PublishedLifetime {
  const char* gpu;
  Weibull weibull;
  std::vector<std::pair<const char*, double>> revoked_by_zone;
};

// Maximum likelihood over 64 to 348 servers each; the reference has them as `lifetime_fit` and
// `lifetime_zone`. A zone that revoked none of n servers counts as 1 of 2n.
const std::vector<PublishedLifetime>& published_lifetimes() {
  static const std::vector<PublishedLifetime> lifetimes = {
      {"K80",
       {.shape = 0.6010301304, .scale_h = 102.8770016},
       {{"us-central1-c", 14 / 16.0},
        {"us-central1-a", 13 / 32.0},
        {"europe-west1-b", 6 / 16.0},
        {"us-west1-b", 11 / 48.0},
        {"us-east1-c", 1 / 32.0}}},
      {"P100",
       {.shape = 0.861075928, .scale_h = 133.2963476},
       {{"us-west1-b", 4 / 10.0},
        {"europe-west1-b", 3 / 10.0},
        {"us-east1-c", 1 / 10.0},
        {"us-central1-c", 1 / 20.0}}},
      {"V100",
       {.shape = 0.6504107645, .scale_h = 716.0543887},
       {{"asia-east1-c", 3 / 19.0}, {"europe-west4-a", 2 / 19.0}, {"us-central1-a", 1 / 20.0}}},
      {"", {.shape = 0.5011258138, .scale_h = 628.6059626}, {}},
  };
  return lifetimes;
}

}  // namespace

TrainingSpeeds resnet32_speeds() {
  // The speeds of single servers, the fit of the caps without the mixed and 4-server runs of P100
  // and V100, and one parameter fitted to the six cross-region runs.
  return {.steps_per_s = {{"K80", 4.545130}, {"P100", 11.814336}, {"V100", 14.426803}},
          .caps = {42.77, 78.12},
          .sharpness = 6.65,
          .remote_step_s = 0.176};
}

SpeedCap server_cap(const TrainingSpeeds& speeds, std::size_t servers) {
  if (servers == 0 || speeds.caps.empty()) return {};
  const std::size_t known = speeds.caps.size();
  const double cap = servers <= known ? speeds.caps[servers - 1]
                                      : speeds.caps.back() * static_cast<double>(servers) /
                                            static_cast<double>(known);
  return {.steps_per_s = cap, .sharpness = speeds.sharpness};
}

double worker_speed(const TrainingSpeeds& speeds, const Offer& offer, std::string_view home) {
  const auto found = speeds.steps_per_s.find(offer.gpu);
  if (found == speeds.steps_per_s.end() || !(found->second > 0)) return 0;
  const bool remote = !home.empty() && region_of(home) != region_of(offer.zone);
  return 1 / (1 / found->second + (remote ? speeds.remote_step_s : 0));
}

LifetimeTable LifetimeTable::published() {
  LifetimeTable table;
  for (const PublishedLifetime& entry : published_lifetimes()) {
    table.set(entry.gpu, "", Lifetime::weibull(entry.weibull).with_limit(kDay));
    for (const auto& [zone, revoked] : entry.revoked_by_zone) {
      // The scale at which this share is revoked within a day.
      const double scale_h = 24 / std::pow(-std::log1p(-revoked), 1 / entry.weibull.shape);
      table.set(
          entry.gpu, zone,
          Lifetime::weibull({.shape = entry.weibull.shape, .scale_h = scale_h}).with_limit(kDay));
    }
  }
  return table;
}

void LifetimeTable::set(const std::string& gpu, const std::string& zone, Lifetime lifetime) {
  lifetimes_.insert_or_assign({gpu, zone}, std::move(lifetime));
}

const Lifetime& LifetimeTable::of(const Offer& offer) const {
  if (offer.offer_class != OfferClass::Spot) return never_;
  for (const auto& key : {std::pair{offer.gpu, offer.zone}, std::pair{offer.gpu, std::string()},
                          std::pair{std::string(), std::string()}}) {
    const auto found = lifetimes_.find(key);
    if (found != lifetimes_.end()) return found->second;
  }
  return never_;
}

}  // namespace orrery
