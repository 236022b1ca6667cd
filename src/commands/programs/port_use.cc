#include "commands/programs/port_use.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <sstream>

#include "base/files.h"
#include "live/rpc/access.h"

namespace orrery {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses addresses_of(const ListenAddress& place) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int failed =
      ::getaddrinfo(place.host.c_str(), std::to_string(place.port).c_str(), &hints, &found);
  return {failed == 0 ? found : nullptr, ::freeaddrinfo};
}

// A socket that could listen but for others on the port; its error number, or 0.
int bind_error(const addrinfo& address) {
  const Fd probe(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!probe.ok()) return errno;
  const int yes = 1;
  ::setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  return ::bind(probe.get(), address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
}

// A listener that accepts nothing lets a connection wait, which shows it as well.
bool has_listener(const addrinfo& address) {
  const Fd probe(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe.ok()) return false;
  if (::connect(probe.get(), address.ai_addr, address.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS) return false;
  pollfd answered{.fd = probe.get(), .events = POLLOUT, .revents = 0};
  if (::poll(&answered, 1, 1000) == 0) return true;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(probe.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

}  // namespace

PortUse port_use(const std::string& address) {
  const auto place = read_listen_address(address, true);
  if (!place.ok()) return PortUse::Unknown;
  const Addresses found = addresses_of(place.value());
  if (found == nullptr) return PortUse::Unknown;
  const int error = bind_error(*found);
  if (error == 0) return PortUse::None;
  if (error != EADDRINUSE) return PortUse::Unknown;
  return has_listener(*found) ? PortUse::Listener : PortUse::Connection;
}

bool is_given_to_connections(int port) {
  std::istringstream range(read_word("/proc/sys/net/ipv4/ip_local_port_range"));
  int low = 0;
  int high = 0;
  return range >> low >> high && low <= port && port <= high;
}

}  // namespace orrery
