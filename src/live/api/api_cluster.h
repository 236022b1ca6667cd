#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "live/api/caller.h"
#include "live/api/job_request.h"

// What clients can ask about nodes, policy, quotas, events and what would be.

namespace orrery {

struct NodeStatus {
  std::string name{};
  std::string state{};  // up, draining, drained, lost, left, refusing
  std::string address{};
  int gpus = 0;
  int gpus_free = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::string gpu_type{};
  double seen_s = 0;  // last report, seconds since 1970
  std::vector<JobNumber> jobs{};
  std::string note{};  // what is wrong with the node, and what helps
  std::string zone{};
  double losses_per_day = 0;  // as its agent reports; 0: not known
  bool operator==(const NodeStatus&) const = default;
};
struct NodesAnswer {
  std::vector<NodeStatus> nodes{};
  bool operator==(const NodesAnswer&) const = default;
};

struct DrainRequest {
  std::string node{};
  bool resume = false;       // takes jobs again
  bool now = false;          // its jobs move away; else they run to their end
  bool lost = false;         // the machine is off: its jobs start elsewhere at once
  bool replace_log = false;  // the agent stops the jobs of another log and obeys this scheduler
  bool operator==(const DrainRequest&) const = default;
};

struct PolicyRequest {
  std::string policy{};
  std::map<std::string, std::string> options{};
  bool operator==(const PolicyRequest&) const = default;
};

// GPUs that a tenant can count on; more only while others leave them idle.
struct QuotaRequest {
  std::string tenant{};
  std::optional<int> gpus{};  // none: the quota is taken away
  bool borrows = true;
  bool operator==(const QuotaRequest&) const = default;
};
struct QuotaStatus {
  std::string tenant{};
  int gpus = 0;
  int held = 0;
  bool borrows = false;
  bool operator==(const QuotaStatus&) const = default;
};
struct QuotasAnswer {
  std::vector<QuotaStatus> quotas{};
  bool operator==(const QuotasAnswer&) const = default;
};

struct EventsRequest {
  std::int64_t from = 0;  // a sequence number; 0: the first kept; negative: that many from the end
  std::int64_t most = 1000;
  Duration wait{};
  bool record = false;  // for a record that replays; needs the right to take one
  bool operator==(const EventsRequest&) const = default;
};
struct EventsAnswer {
  std::vector<std::string> lines{};  // JSON, one event each
  std::int64_t next = 0;
  bool operator==(const EventsAnswer&) const = default;
};

struct WhatIfRequest {
  std::optional<JobRequest> job{};
  int nodes_more = 0;  // like the largest there is
  std::string policy{};
  bool operator==(const WhatIfRequest&) const = default;
};
struct WhatIfAnswer {
  std::string text{};
  std::string json{};
  bool operator==(const WhatIfAnswer&) const = default;
};

// The state as the snapshot format has it, as far as the caller may see it. Forecasts from it are
// those that an admin gets.
struct SituationAnswer {
  std::string json{};
  bool operator==(const SituationAnswer&) const = default;
};

}  // namespace orrery
