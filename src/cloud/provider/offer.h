#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/time.h"

namespace orrery {

// On-demand servers live until they are stopped. Spot servers may be revoked at any time. Flex
// servers are queued, start together, are not revoked, and end after a fixed life.
enum class OfferClass : std::uint8_t { OnDemand, Spot, Flex };

// A machine that can be had in one zone at one price.
struct Offer {
  std::string zone{};
  std::string machine_type{};
  std::string gpu{};  // empty: none
  int gpus = 0;
  int cpus = 0;
  double memory_gib = 0;
  OfferClass offer_class = OfferClass::OnDemand;
  double price_usd_per_hour = 0;
  std::optional<Duration> life_max{};  // the provider ends the server after it
  Duration notice{};                   // from the notice of a revocation to the end
};

// "us-east1" of "us-east1-c".
std::string_view region_of(std::string_view zone);

std::string_view text_of(OfferClass offer_class);
// The inverse; nothing for another word.
std::optional<OfferClass> offer_class_of(std::string_view word);

}  // namespace orrery
