#include "live/auth/listen.h"

#include <arpa/inet.h>
#include <ifaddrs.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "live/auth/limits.h"

namespace orrery {
namespace {

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Without the port and without brackets; nothing where they do not fit together.
std::optional<std::string> host_of(std::string_view address) {
  if (address.starts_with('[')) {
    const std::size_t end = address.find(']');
    if (end == address.npos) return std::nullopt;
    const std::string_view rest = address.substr(end + 1);
    if (!rest.empty() && !(rest.front() == ':' && is_port(rest.substr(1)))) return std::nullopt;
    return std::string(address.substr(1, end - 1));
  }
  const std::size_t colon = address.find(':');
  if (colon == address.npos || address.find(':', colon + 1) != address.npos) {
    return std::string(address);  // no colon: no port; several: an IPv6 address without one
  }
  if (!is_port(address.substr(colon + 1))) return std::nullopt;
  return std::string(address.substr(0, colon));
}

bool is_loopback(const in6_addr& address) {
  if (IN6_IS_ADDR_LOOPBACK(&address)) return true;
  return IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == 127;
}

// Without those of a link, which need the name of an interface beside them.
std::vector<std::string> interface_addresses() {
  std::vector<std::string> found;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return found;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    char text[INET6_ADDRSTRLEN];
    const void* bytes = nullptr;
    if (one->ifa_addr == nullptr) continue;
    const int family = one->ifa_addr->sa_family;
    if (family == AF_INET) {
      bytes = &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr;
    } else if (family == AF_INET6) {
      const auto* six = &reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
      if (!IN6_IS_ADDR_LINKLOCAL(six)) bytes = six;
    }
    if (bytes != nullptr && ::inet_ntop(family, bytes, text, sizeof text) != nullptr) {
      found.emplace_back(text);
    }
  }
  ::freeifaddrs(first);
  return found;
}

}  // namespace

bool is_loopback(std::string_view address) {
  // A zero byte would end the text for the system before it ends for us.
  if (address.find('\0') != address.npos) return false;
  if (address.starts_with("unix:")) return address.size() > std::strlen("unix:");
  const auto host = host_of(address);
  if (!host) return false;
  if (*host == "localhost") return true;
  in_addr four{};
  if (::inet_pton(AF_INET, host->c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  in6_addr six{};
  return ::inet_pton(AF_INET6, host->c_str(), &six) == 1 && is_loopback(six);
}

std::vector<std::string> certificate_hosts(std::vector<std::string> hosts,
                                           std::initializer_list<std::string_view> addresses) {
  const auto add = [&](const std::string& host) {
    if (hosts.size() < kHostsMax && std::ranges::find(hosts, host) == hosts.end()) {
      hosts.push_back(host);
    }
  };
  for (const std::string_view address : addresses) {
    const auto host = host_of(address);
    if (!host || host->empty()) continue;
    if (*host == "0.0.0.0" || *host == "::") {
      for (const std::string& one : interface_addresses()) add(one);
    } else {
      add(*host);
    }
  }
  return hosts;
}

}  // namespace orrery
