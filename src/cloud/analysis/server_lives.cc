#include "cloud/analysis/server_lives.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace orrery {

std::vector<ServerLives> server_lives(const ConfigFacts& config) {
  std::vector<ServerLives> all;
  for (const RunFacts& run : config.runs) {
    ServerLives lives{.run = fmt::format("{}{}run {}", run.run->key.zone,
                                         run.run->key.zone.empty() ? "" : " ", run.run->key.run)};
    for (const MeasuredServer& server : config.training->folder.servers) {
      if (server.key != run.run->key) continue;
      const bool revoked = was_revoked(server);
      const bool known = revoked && server.uptime_s && run.master_uptime_s.value_or(0) > 0;
      lives.parts.push_back(known ? *server.uptime_s / *run.master_uptime_s : 1);
      lives.revoked += revoked;
    }
    if (lives.parts.empty()) continue;
    std::ranges::sort(lives.parts);
    all.push_back(std::move(lives));
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &ServerLives::revoked);
  return all;
}

}  // namespace orrery
