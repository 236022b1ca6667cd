#pragma once

#include <functional>

#include "base/result.h"
#include "live/api/api_cluster.h"
#include "live/api/api_jobs.h"
#include "live/api/api_rights.h"
#include "live/api/api_trust.h"

namespace orrery {

struct Nothing {
  bool operator==(const Nothing&) const = default;
};

template <class Answer>
using Reply = std::function<void(Result<Answer>)>;  // called once, on any thread

// Every call is checked for what the caller may do, never blocks, and answers later: a submission
// once it is on disk. May be called from any thread.
class Api {
 public:
  virtual ~Api() = default;
  virtual void submit(const Caller& caller, SubmitRequest request, Reply<SubmitAnswer> reply) = 0;
  virtual void status(const Caller& caller, StatusRequest request, Reply<StatusAnswer> reply) = 0;
  virtual void cancel(const Caller& caller, CancelRequest request, Reply<CancelAnswer> reply) = 0;
  virtual void logs(const Caller& caller, LogsRequest request, Reply<LogsAnswer> reply) = 0;
  virtual void nodes(const Caller& caller, Nothing request, Reply<NodesAnswer> reply) = 0;
  virtual void drain(const Caller& caller, DrainRequest request, Reply<Nothing> reply) = 0;
  virtual void set_policy(const Caller& caller, PolicyRequest request, Reply<Nothing> reply) = 0;
  virtual void set_quota(const Caller& caller, QuotaRequest request, Reply<Nothing> reply) = 0;
  virtual void set_tenant(const Caller& caller, TenantRequest request, Reply<Nothing> reply) = 0;
  virtual void tenants(const Caller& caller, Nothing request, Reply<TenantsAnswer> reply) = 0;
  virtual void set_limits(const Caller& caller, LimitsRequest request, Reply<Nothing> reply) = 0;
  virtual void limits(const Caller& caller, Nothing request, Reply<LimitsAnswer> reply) = 0;
  virtual void quotas(const Caller& caller, Nothing request, Reply<QuotasAnswer> reply) = 0;
  virtual void events(const Caller& caller, EventsRequest request, Reply<EventsAnswer> reply) = 0;
  virtual void what_if(const Caller& caller, WhatIfRequest request, Reply<WhatIfAnswer> reply) = 0;
  virtual void situation(const Caller& caller, Nothing request, Reply<SituationAnswer> reply) = 0;
  virtual void make_token(const Caller& caller, TokenRequest request, Reply<TokenAnswer> reply) = 0;
  virtual void tokens(const Caller& caller, TokensRequest request, Reply<TokensAnswer> reply) = 0;
  virtual void certificates(const Caller& caller, CertificatesRequest request,
                            Reply<CertificatesAnswer> reply) = 0;
  virtual void remove_node(const Caller& caller, RemoveNodeRequest request,
                           Reply<Nothing> reply) = 0;
  virtual void join(const Caller& caller, JoinRequest request, Reply<JoinAnswer> reply) = 0;
};

}  // namespace orrery
