#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cloud/provider/provider.h"

namespace orrery {

// A provider whose servers do what the test says. Its clock moves when the test moves it.
class FakeProvider final : public Provider {
 public:
  Time time{};
  std::vector<Offer> offered{};
  int capacity = 1000;         // of all zones together
  bool reply_is_lost = false;  // the next creation works, and its answer is lost
  std::vector<Server> servers{};
  std::vector<std::pair<std::string, EndReason>> stopped{};

  Time now() const override { return time; }
  Result<std::vector<Offer>> offers() override { return offered; }

  Result<std::vector<Server>> create_all(const std::vector<ServerSpec>& specs,
                                         std::size_t min) override {
    const auto alive =
        std::ranges::count_if(servers, [](const Server& s) { return !has_ended(s); });
    const auto free = static_cast<std::size_t>(std::max<std::int64_t>(capacity - alive, 0));
    if (free < min) return Error{Code::ResourceExhausted, "the zone has no capacity"};
    std::vector<Server> created;
    for (std::size_t i = 0; i < std::min(specs.size(), free); ++i) {
      created.push_back({.spec = specs[i], .requested = time});
    }
    servers.insert(servers.end(), created.begin(), created.end());
    for (const Server& server : created) add(ServerEvent::Kind::Requested, server.spec.name);
    if (std::exchange(reply_is_lost, false)) return Error{Code::Unavailable, "no answer"};
    return created;
  }
  Result<std::vector<Server>> list(std::string_view /*job*/) override { return servers; }
  Status stop(std::string_view server, EndReason reason) override {
    stopped.emplace_back(server, reason);
    happen(ServerEvent::Kind::Stopped, std::string(server), reason);
    return {};
  }
  Result<std::vector<ServerEvent>> events_after(std::int64_t sequence) override {
    return std::vector(events_.begin() + sequence, events_.end());
  }

  // What happens to a server now.
  void happen(ServerEvent::Kind kind, const std::string& server,
              EndReason reason = EndReason::None) {
    add(kind, server, reason);
    for (Server& known : servers) {
      if (known.spec.name == server) (void)apply(known, events_.back());
    }
  }

 private:
  void add(ServerEvent::Kind kind, const std::string& server, EndReason reason = EndReason::None) {
    ServerEvent event{.sequence = static_cast<std::int64_t>(events_.size()) + 1, .at = time};
    event.kind = kind;
    event.server = server;
    event.reason = reason;
    events_.push_back(event);
  }

  std::vector<ServerEvent> events_;
};

}  // namespace orrery
