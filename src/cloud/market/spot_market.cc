#include "cloud/market/spot_market.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

Result<SpotMarket> SpotMarket::join(const std::vector<SpotTrace>& traces, std::int32_t machines) {
  if (traces.empty()) return invalid("there is no zone; name at least one trace");
  if (traces.size() > kMostZones) {
    return invalid(
        fmt::format("{} zones are too many; name at most {} traces", traces.size(), kMostZones));
  }
  SpotMarket market;
  market.tick_ = traces[0].tick;
  std::size_t ticks = traces[0].capacity.size();
  for (const SpotTrace& trace : traces) {
    if (trace.tick != market.tick_) {
      return invalid(
          fmt::format("{} has ticks of {} s and {} of {} s; plan over traces with equal ticks",
                      traces[0].name, seconds(market.tick_), trace.name, seconds(trace.tick)));
    }
    ticks = std::min(ticks, trace.capacity.size());
    market.names_.push_back(trace.name);
  }
  market.capacity_.resize(ticks);
  for (std::size_t zone = 0; zone < traces.size(); ++zone) {
    for (std::size_t tick = 0; tick < ticks; ++tick) {
      if (traces[zone].capacity[tick] >= machines) {
        market.capacity_[tick].add(static_cast<int>(zone));
      }
    }
  }
  return market;
}

}  // namespace orrery
