#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cloud/gce/gce_provider.h"
#include "cloud/gce/testing/fake_compute.h"
#include "cloud/provider/testing/provider_subject.h"

namespace orrery {

inline constexpr const char* kFakeZone = "us-east1-c";
inline constexpr const char* kFarZone = "us-west1-b";

inline Offer fake_offer(OfferClass offer_class, const std::string& zone = kFakeZone) {
  Offer offer;
  offer.zone = zone;
  offer.machine_type = "n1-standard-4";
  offer.gpu = "k80";
  offer.gpus = 1;
  offer.cpus = 4;
  offer.memory_gib = 15;
  offer.offer_class = offer_class;
  offer.price_usd_per_hour = offer_class == OfferClass::OnDemand ? 0.723 : 0.2556;
  if (offer_class == OfferClass::Flex) offer.life_max = std::chrono::hours(1);
  if (offer_class == OfferClass::Spot) offer.notice = std::chrono::seconds(30);
  return offer;
}

// A provider of Compute Engine before a fake of it, on a clock that jumps.
class GceHarness final : public ProviderSubject {
 public:
  GceHarness() : service(clock) {
    service.in(kFakeZone, [](FakeZone&) {});
    service.in(kFarZone, [](FakeZone&) {});
    restart();
  }

  GceOptions options() {
    GceOptions options;
    options.identity.key =
        parse_service_account("key.json", fake_key_file(service.token_url())).value();
    options.api.url = service.url();
    return options;
  }
  // A new process: it knows nothing of what was before.
  void restart() { restart(options()); }
  void restart(GceOptions options) {
    std::vector<Offer> offers;
    for (const char* zone : {kFakeZone, kFarZone}) {
      for (const OfferClass each : {OfferClass::OnDemand, OfferClass::Spot, OfferClass::Flex}) {
        offers.push_back(fake_offer(each, zone));
      }
    }
    gce = GceProvider::make(std::move(options), offers, clock).value();
  }

  Provider& provider() override { return *gce; }
  void advance(Duration time) override { clock.advance(time); }
  std::optional<Offer> offer(OfferClass offer_class) override { return fake_offer(offer_class); }
  Duration settling() const override { return std::chrono::seconds(45); }
  bool limit(std::size_t servers) override {
    return service.in(kFakeZone, [&](FakeZone& zone) {
      zone.capacity = static_cast<int>(servers);
      return true;
    });
  }
  bool revoke(const std::string& server) override { return gce->rehearse_preemption(server).ok(); }

  FakeGceClock clock;
  FakeCompute service;
  std::unique_ptr<GceProvider> gce;
};

}  // namespace orrery
