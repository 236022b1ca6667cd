// Any bytes as a price file: an error that names the file, or offers that keep their promises.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cloud/provider/prices.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto prices =
      orrery::parse_prices("input", std::string_view(reinterpret_cast<const char*>(data), size));
  if (!prices.ok()) {
    if (prices.error().message.rfind("input:", 0) != 0) std::abort();
    return 0;
  }
  if (prices.value().offers.empty()) std::abort();
  for (const orrery::Offer& offer : prices.value().offers) {
    if (!(offer.price_usd_per_hour >= 0) || offer.gpu.empty() != (offer.gpus == 0)) std::abort();
    const auto found =
        orrery::find_offer(prices.value(), offer.zone, offer.gpu, offer.gpus, offer.offer_class);
    if (!found.ok() || found.value().price_usd_per_hour != offer.price_usd_per_hour) std::abort();
  }
  return 0;
}
