#include "live/agent/master_ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

namespace orrery {
namespace {

constexpr int kFirst = 20000;
constexpr int kCount = 32768 - kFirst;

// Without SO_REUSEADDR, so a port that was used a moment ago counts as taken.
bool can_bind(int family, int port) {
  const Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.ok()) return true;  // a machine without this family
  if (family == AF_INET) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ||
           errno != EADDRINUSE;
  }
  const int only = 1;
  ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<std::uint16_t>(port));
  return ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ||
         errno != EADDRINUSE;
}

// No descriptor where another agent holds the name.
Fd hold_name(int port) {
  Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "orrery-master-port-" + std::to_string(port);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (!socket.ok() || ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) {
    return Fd();
  }
  return socket;
}

}  // namespace

bool is_port_free(int port) { return can_bind(AF_INET, port) && can_bind(AF_INET6, port); }

Result<int> MasterPorts::take(const Run& run) {
  if (const auto known = held_.find(run); known != held_.end()) return known->second.port;
  // Neighbours begin at neighbouring ports, and a job's next run at another one.
  const auto begin = static_cast<int>((run.first * 7 + run.second) % kCount);
  for (int i = 0; i < kCount; ++i) {
    const int port = kFirst + (begin + i) % kCount;
    Fd name = hold_name(port);
    if (!name.ok() || !is_port_free(port)) continue;
    held_[run] = {.port = port, .name = std::move(name)};
    return port;
  }
  return Error{Code::ResourceExhausted, "every port from " + std::to_string(kFirst) + " to " +
                                            std::to_string(kFirst + kCount - 1) +
                                            " is in use, and a job needs one for its ranks"};
}

void MasterPorts::keep(const Run& run, int port) {
  held_[run] = {.port = port, .name = hold_name(port)};
}

}  // namespace orrery
