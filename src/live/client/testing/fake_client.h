#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "live/client/command_context.h"

namespace orrery {

// For tests: what a scheduler answers. A call that is not set is one that must not be made.
struct ClientScript {
  std::function<Result<SubmitAnswer>(const SubmitRequest&)> submit{};
  std::function<Result<StatusAnswer>(const StatusRequest&)> status{};
  std::function<Result<CancelAnswer>(const CancelRequest&)> cancel{};
  std::function<Result<LogsAnswer>(const LogsRequest&)> logs{};
  std::function<Result<NodesAnswer>()> nodes{};
  std::function<Status(const DrainRequest&)> drain{};
  std::function<Status(const PolicyRequest&)> set_policy{};
  std::function<Status(const QuotaRequest&)> set_quota{};
  std::function<Result<QuotasAnswer>()> quotas{};
  std::function<Status(const TenantRequest&)> set_tenant{};
  std::function<Result<TenantsAnswer>()> tenants{};
  std::function<Status(const LimitsRequest&)> set_limits{};
  std::function<Result<LimitsAnswer>()> limits{};
  std::function<Result<EventsAnswer>(const EventsRequest&)> events{};
  std::function<Result<WhatIfAnswer>(const WhatIfRequest&)> what_if{};
  std::function<Result<TokenAnswer>(const TokenRequest&)> make_token{};
  std::function<Result<TokensAnswer>(const TokensRequest&)> tokens{};
  std::function<Result<CertificatesAnswer>(const CertificatesRequest&)> certificates{};
  std::function<Status(const RemoveNodeRequest&)> remove_node{};
};

// For tests: a command's context in which time passes only by waiting, and what it printed.
struct FakeCommandContext {
  FakeCommandContext();

  ClientScript script{};
  CommandContext context{};
  Endpoint reached{};
  std::string out{};
  std::string input{};
  Duration now{};
  std::vector<Duration> pauses{};
  std::optional<Duration> interrupt_at{};
  bool catches = false;
  int keys = 0;
  int events_calls = 0;
};

}  // namespace orrery
