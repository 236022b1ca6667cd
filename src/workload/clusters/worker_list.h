#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"

namespace orrery {

// Where one server of the cluster is reached, and where its devices begin.
struct Worker {
  std::string address;  // a host name, an IPv4 address, or an IPv6 address without brackets
  int port = 0;
  int first_gpu = 0;  // number of its first GPU on that machine
  int first_cpu = 0;
  bool numa_aware = false;  // CPUs are chosen by NUMA node instead of in a row

  bool operator==(const Worker&) const = default;
};

// Reads the connection list of Synergy's live system, docs/formats/worker-list.md: a line for each
// server, in the order of the cluster's nodes. Bad input is InvalidArgument with file and line.
Result<std::vector<Worker>> read_workers(const std::string& path);

// The same from a stream; `name` stands where the path would in messages.
Result<std::vector<Worker>> parse_workers(std::string_view name, std::istream& in);

// Fails if a node has no worker. `name` names the list in the message.
Status check_workers(std::string_view name, const std::vector<Worker>& workers,
                     const Cluster& cluster);

}  // namespace orrery
