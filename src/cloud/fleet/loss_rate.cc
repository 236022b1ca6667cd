#include "cloud/fleet/loss_rate.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr double kDay_s = 86400;

struct Lives {
  double days = 0;
  double losses = 0;

  void add(const Server& server, Time now) {
    if (server.running == kNever) return;
    const Time end = server.ended == kNever ? now : server.ended;
    days += std::max(0.0, seconds(end - server.running)) / kDay_s;
    losses += server.end_reason == EndReason::Revoked || server.end_reason == EndReason::HostError;
  }
};

}  // namespace

double losses_per_day(std::span<const Server> servers, const Offer& offer, Time now) {
  Lives in_class;
  Lives in_zone;
  if (offer.offer_class == OfferClass::Spot) in_class = {.days = 1, .losses = 1};
  for (const Server& server : servers) {
    if (server.spec.offer.offer_class != offer.offer_class) continue;
    in_class.add(server, now);
    if (server.spec.offer.zone == offer.zone) in_zone.add(server, now);
  }
  if (!(in_class.losses > 0 && in_class.days > 0)) return 0;
  const double usual = in_class.losses / in_class.days;
  return (in_zone.losses + 1) / (in_zone.days + 1 / usual);
}

}  // namespace orrery
