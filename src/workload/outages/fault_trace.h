#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "model/node_change.h"

namespace orrery {

// When the servers of a cluster were down, as docs/formats/faults.md describes it.
struct FaultTrace {
  struct Fault {
    std::size_t server = 0;  // in `servers`
    Time from{};
    Time to = kNever;
    std::string cause{};
    std::int64_t line = 0;
  };

  std::string name{};                  // of the file, for messages
  std::vector<std::string> servers{};  // that ever failed: by name, ascending
  std::vector<Fault> faults{};         // of one server no two overlap
  // True if the servers are nodes of the user's cluster, by name or number. Otherwise they are
  // those of another cluster, and only their number counts.
  bool own = false;
  std::int64_t fleet = 0;        // servers of that cluster, those without a fault included
  std::int64_t overlapping = 0;  // faults that began while the server was down, joined to others
  Time end{};                    // of the record
};

// Reads the published list of fault events in JSON, or our table in CSV; the first byte says which.
// Bad input is InvalidArgument with the file, the line and what is wrong.
Result<FaultTrace> read_fault_trace(const std::string& path);
// The same from a stream; `name` stands where the path would in messages.
Result<FaultTrace> parse_fault_trace(std::string_view name, std::istream& in);

// The outages of the cluster's nodes. Node i of the cluster is server i modulo `fleet`, so a
// smaller cluster has the first servers, and a larger one repeats them. Servers that failed are
// spread evenly over the fleet in the order of their names. `fleet` 0: as the trace has it.
Result<std::vector<Outage>> outages_on(const FaultTrace& trace, const Cluster& cluster,
                                       std::int64_t fleet = 0);

}  // namespace orrery
