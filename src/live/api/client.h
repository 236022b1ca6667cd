#pragma once

#include "base/result.h"
#include "live/api/api_cluster.h"
#include "live/api/api_jobs.h"
#include "live/api/api_rights.h"
#include "live/api/api_trust.h"

namespace orrery {

// A scheduler that can be asked: the calls of live/api/api.h, each of which blocks until it is
// answered. Unavailable: no answer came, and it is not known whether the call arrived.
class Client {
 public:
  virtual ~Client() = default;
  virtual Result<SubmitAnswer> submit(const SubmitRequest& request) = 0;
  virtual Result<StatusAnswer> status(const StatusRequest& request) = 0;
  virtual Result<CancelAnswer> cancel(const CancelRequest& request) = 0;
  virtual Result<LogsAnswer> logs(const LogsRequest& request) = 0;
  virtual Result<NodesAnswer> nodes() = 0;
  virtual Status drain(const DrainRequest& request) = 0;
  virtual Status set_policy(const PolicyRequest& request) = 0;
  virtual Status set_quota(const QuotaRequest& request) = 0;
  virtual Result<QuotasAnswer> quotas() = 0;
  virtual Status set_tenant(const TenantRequest& request) = 0;
  virtual Result<TenantsAnswer> tenants() = 0;
  virtual Status set_limits(const LimitsRequest& request) = 0;
  virtual Result<LimitsAnswer> limits() = 0;
  virtual Result<EventsAnswer> events(const EventsRequest& request) = 0;
  virtual Result<WhatIfAnswer> what_if(const WhatIfRequest& request) = 0;
  virtual Result<SituationAnswer> situation() = 0;
  virtual Result<TokenAnswer> make_token(const TokenRequest& request) = 0;
  virtual Result<TokensAnswer> tokens(const TokensRequest& request) = 0;
  virtual Result<CertificatesAnswer> certificates(const CertificatesRequest& request) = 0;
  virtual Status remove_node(const RemoveNodeRequest& request) = 0;
  virtual Result<JoinAnswer> join(const JoinRequest& request) = 0;
};

}  // namespace orrery
