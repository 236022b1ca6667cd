#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/provider/server.h"

namespace orrery {

// The servers of a provider and what happened to them. An event that cannot follow a server's state
// is left out, so readers see legal orders only, however often a thing is reported. An instant
// before the server's last event counts as that event's.
class ServerBook {
 public:
  // Its first event. `name` of the spec is not in the book yet.
  void accept(const ServerSpec& spec, Time at);
  void see_running(const std::string& name, Time at, const std::string& address);
  void see_notice(const std::string& name, Time at, Time deadline, const std::string& detail);
  // `kind` is Revoked, Stopped or Failed.
  void see_end(const std::string& name, ServerEvent::Kind kind, Time at, EndReason reason,
               const std::string& detail);

  const Server* find(std::string_view name) const;
  // In the order of their acceptance. All jobs if `job` is empty.
  std::vector<Server> servers(std::string_view job) const;
  std::vector<ServerEvent> after(std::int64_t sequence) const;

 private:
  void add(const std::string& name, ServerEvent event);

  std::map<std::string, Server, std::less<>> servers_;
  std::map<std::string, Time, std::less<>> last_;
  std::vector<std::string> order_;
  std::vector<ServerEvent> events_;
};

}  // namespace orrery
