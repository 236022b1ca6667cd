#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace orrery {

struct LinkBytes {
  double in_bytes = 0, out_bytes = 0;
};

// One means of giving every server a link of its own. What it makes goes with it.
class LinkLimits {
 public:
  virtual ~LinkLimits() = default;
  virtual std::string means() const = 0;
  virtual std::vector<std::string> inside(int server, std::vector<std::string> command) const = 0;
  virtual std::string address(int server) const = 0;
  virtual std::string outside_address() const = 0;
  virtual Status set(int server, double bytes_per_s) = 0;  // 0: no limit
  virtual double transport_bytes_per_s(int server) const = 0;
  virtual Result<LinkBytes> use(int server) = 0;
};

// A network namespace for each server, joined by a bridge, with a token bucket filter of the kernel
// either way. Needs root, and iproute2's `ip` and `tc`.
Result<std::unique_ptr<LinkLimits>> make_namespace_links(const std::string& tag,
                                                         const std::vector<double>& bytes_per_s);
// Removes the namespaces and interfaces of runs that were killed.
void remove_left_namespaces();

// All on the loopback; the transport is to keep to the rates by itself.
std::unique_ptr<LinkLimits> make_transport_links(std::vector<double> bytes_per_s);
std::unique_ptr<LinkLimits> make_no_link_limits();

}  // namespace orrery
