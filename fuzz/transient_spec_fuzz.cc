// Any bytes as a cluster file: an error that names the file, or a description whose counts fit.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cloud/transient_run/local_setup.h"
#include "cloud/transient_run/transient_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto spec = orrery::parse_transient_spec(
      "input", std::string_view(reinterpret_cast<const char*>(data), size));
  if (!spec.ok()) {
    if (spec.error().message.rfind("input:", 0) != 0) std::abort();
    return 0;
  }
  if (spec.value().workers.count < 0 || !(spec.value().local.compression > 0)) std::abort();
  for (const std::string& text : spec.value().local.lifetimes) {
    if (text.find("empirical") != std::string::npos) return 0;  // it names a file
  }
  (void)orrery::expected_lifetimes(spec.value().local).ok();
  orrery::PriceList prices;
  prices.offers = {{.zone = "a", .offer_class = orrery::OfferClass::OnDemand}};
  const auto places = orrery::server_places(spec.value(), prices);
  if (places.ok() && places.value().size() < 3) std::abort();
  return 0;
}
