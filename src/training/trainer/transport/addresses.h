#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery {

// By which addresses the processes of a run reach each other. A part that runs beside the head may
// listen on all addresses of its machine (0.0.0.0 or ::). Its peers then reach it by the address
// by which they reach the head.

bool is_wildcard(std::string_view address);
bool is_loopback(std::string_view address);

// Where a process on the head's own machine connects to, if the head listens at `head`.
std::string beside_head(std::string_view head);

// The address of a part that listens at `part`, for a peer that reaches the head at `head`.
std::string reachable(const std::string& part, const std::string& head);

// Where a worker that joined from outside listens: it reaches the head from its address `own`, and
// the head listens at `head`. One on the head's machine listens as widely as the head.
std::string joiner_listens(const std::string& own, const std::string& head);

// The first address of a host by its name.
Result<std::string> resolved(const std::string& host);

// "HOST:PORT", and "[::1]:PORT" for an IPv6 address.
struct HostPort {
  std::string host{};
  std::uint16_t port = 0;
};
Result<HostPort> parse_host_port(std::string_view text);

}  // namespace orrery
