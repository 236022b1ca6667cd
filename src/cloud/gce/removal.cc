#include "cloud/gce/removal.h"

#include <fmt/format.h>

#include <algorithm>

#include "cloud/gce/requests.h"

namespace orrery {
namespace {

// As long as the service remembers the identity of a request, and so may still carry it out.
constexpr Duration kRemembered = std::chrono::hours(2);

}  // namespace

void Removal::condemn(const std::string& request_id, const std::string& zone, bool settled) {
  Request& request = requests_[request_id];
  request.zone = zone;
  request.settled = settled;
  request.empty = false;
  request.since = api_.clock().now();
}

Status Removal::sweep_one(const std::string& request_id, Request& request) {
  request.empty = false;
  TRY_ASSIGN(const auto made, api_.instances(request.zone, fmt::format("labels.{} = \"{}\"",
                                                                       kRequestLabel, request_id)));
  bool all_go = true;
  for (const GceInstance& instance : made) {
    if (instance.labels.find(std::string(kRequestLabel)) == instance.labels.end() ||
        instance.labels.at(std::string(kRequestLabel)) != request_id) {
      continue;  // a service that ignores the filter must not cost another's server
    }
    if (instance.status == GceStatus::Stopping) continue;
    all_go = false;
    const Status removed =
        api_.remove(request.zone, instance.name,
                    uuid_from(fmt::format("remove {} {} {}", request_id, instance.name, ++calls_)));
    if (!removed.ok() && removed.error().code != Code::NotFound) return removed;
  }
  request.empty = all_go;
  return {};
}

Status Removal::sweep() {
  Status first;
  for (auto at = requests_.begin(); at != requests_.end();) {
    const Status swept = sweep_one(at->first, at->second);
    if (!swept.ok() && first.ok()) first = swept;
    const bool old = api_.clock().now() - at->second.since > kRemembered;
    const bool forget = at->second.empty && (at->second.settled || old);
    at = forget ? requests_.erase(at) : std::next(at);
  }
  return first;
}

bool Removal::finish(Duration longest) {
  const Time until = api_.clock().now() + longest;
  Duration pause = std::chrono::seconds(1);
  for (;;) {
    const bool swept = sweep().ok();
    const bool empty = std::all_of(requests_.begin(), requests_.end(),
                                   [](const auto& request) { return request.second.empty; });
    if (swept && empty) return true;
    if (api_.clock().now() + pause > until) return false;
    api_.clock().wait(pause);
    pause = std::min<Duration>(2 * pause, std::chrono::seconds(10));
  }
}

}  // namespace orrery
