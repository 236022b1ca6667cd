#include "cloud/gce/server_book.h"

#include <algorithm>
#include <utility>

namespace orrery {

void ServerBook::accept(const ServerSpec& spec, Time at) {
  const auto [place, is_new] = servers_.try_emplace(spec.name);
  if (!is_new) return;
  place->second.spec = spec;
  order_.push_back(spec.name);
  last_[spec.name] = at;
  add(spec.name, {.at = at, .kind = ServerEvent::Kind::Requested});
}

void ServerBook::see_running(const std::string& name, Time at, const std::string& address) {
  add(name, {.at = at, .kind = ServerEvent::Kind::Running});
  const auto found = servers_.find(name);
  if (found != servers_.end() && !address.empty()) found->second.address = address;
}

void ServerBook::see_notice(const std::string& name, Time at, Time deadline,
                            const std::string& detail) {
  add(name, {.at = at, .kind = ServerEvent::Kind::Notice, .deadline = deadline, .detail = detail});
}

void ServerBook::see_end(const std::string& name, ServerEvent::Kind kind, Time at, EndReason reason,
                         const std::string& detail) {
  add(name, {.at = at, .kind = kind, .reason = reason, .detail = detail});
}

void ServerBook::add(const std::string& name, ServerEvent event) {
  const auto found = servers_.find(name);
  if (found == servers_.end()) return;
  event.server = name;
  event.at = std::max(event.at, last_[name]);
  event.sequence = static_cast<std::int64_t>(events_.size()) + 1;
  if (!apply(found->second, event).ok()) return;
  last_[name] = event.at;
  events_.push_back(std::move(event));
}

const Server* ServerBook::find(std::string_view name) const {
  const auto found = servers_.find(name);
  return found == servers_.end() ? nullptr : &found->second;
}

std::vector<Server> ServerBook::servers(std::string_view job) const {
  std::vector<Server> matching;
  for (const std::string& name : order_) {
    const Server& server = servers_.at(name);
    if (job.empty() || server.spec.job == job) matching.push_back(server);
  }
  return matching;
}

std::vector<ServerEvent> ServerBook::after(std::int64_t sequence) const {
  const auto size = static_cast<std::int64_t>(events_.size());
  const std::int64_t first = std::clamp<std::int64_t>(sequence, 0, size);
  return {events_.begin() + first, events_.end()};
}

}  // namespace orrery
