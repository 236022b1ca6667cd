#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/job_request.h"

// What clients can ask about nodes, policy, quotas, events and what would be; and who they are.

namespace orrery {

// Who asks, as the connection has proved it.
struct Caller {
  enum class Role : std::uint8_t { User, Operator, Agent, Admin };
  Role role = Role::User;
  std::string name{};
};

struct NodeStatus {
  std::string name{};
  std::string state{};  // up, draining, drained, lost
  std::string address{};
  int gpus = 0;
  int gpus_free = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::string gpu_type{};
  double seen_s = 0;  // last report, seconds since 1970
  std::vector<JobNumber> jobs{};
};
struct NodesAnswer {
  std::vector<NodeStatus> nodes{};
};

struct DrainRequest {
  std::string node{};
  bool resume = false;  // takes jobs again
  bool now = false;     // its jobs move away; else they run to their end
};

struct PolicyRequest {
  std::string policy{};
  std::map<std::string, std::string> options{};
};

// GPUs that a tenant can count on; more only while others leave them idle.
struct QuotaRequest {
  std::string tenant{};
  std::optional<int> gpus{};  // none: the quota is taken away
  bool borrows = true;
};
struct QuotaStatus {
  std::string tenant{};
  int gpus = 0;
  int held = 0;
  bool borrows = true;
};
struct QuotasAnswer {
  std::vector<QuotaStatus> quotas{};
};

struct EventsRequest {
  std::int64_t from = 0;  // a sequence number; 0: the first kept; negative: that many from the end
  std::int64_t most = 1000;
  Duration wait{};
};
struct EventsAnswer {
  std::vector<std::string> lines{};  // JSON, one event each
  std::int64_t next = 0;
};

struct WhatIfRequest {
  std::optional<JobRequest> job{};
  int nodes_more = 0;  // like the largest there is
  std::string policy{};
};
struct WhatIfAnswer {
  std::string text{};
  std::string json{};
};

// For record and for forecasts: the state as the snapshot format has it.
struct SituationAnswer {
  std::string json{};
};

struct TokenRequest {
  Caller::Role role = Caller::Role::Agent;
  std::string name{};  // empty: whoever comes
  Duration valid = std::chrono::hours(1);
  int uses = 1;
};
struct TokenAnswer {
  std::string token{};
};
// The one call that needs no certificate.
struct JoinRequest {
  std::string token{};
  std::string name{};
  std::string certificate_request{};
};
struct JoinAnswer {
  std::string certificate{};
  std::string authority{};
};

}  // namespace orrery
