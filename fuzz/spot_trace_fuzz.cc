#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "cloud/market/spot_market.h"

using namespace orrery;

// Whatever the bytes are, they are a trace or refused; a trace can be planned over.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto trace =
      parse_spot_trace(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.json");
  if (!trace.ok()) {
    INVARIANT(trace.error().code == Code::InvalidArgument, trace.error().message.c_str());
    return 0;
  }
  INVARIANT(trace.value().tick > Duration{}, "a tick takes time");
  for (const std::int32_t count : trace.value().capacity) INVARIANT(count >= 0, "counts count");
  const auto market = SpotMarket::join({trace.value(), trace.value()}, 2);
  INVARIANT(market.ok(), "equal traces join");
  INVARIANT(market.value().ticks() == trace.value().capacity.size(), "no tick is lost");
  return 0;
}
