#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "live/api/api.h"
#include "live/rpc/access.h"

namespace orrery {

struct ClientOptions {
  std::string address{};             // HOST:PORT of the scheduler
  std::optional<TlsMaterial> tls{};  // none: plain
  std::string server_name{};         // in the server's certificate; empty: the host
  int https_port = 0;                // where a refused caller asks for the reason; 0: not known
  Duration deadline = std::chrono::seconds(30);  // of a call; calls that wait have their wait more
  Duration reconnect_most = std::chrono::seconds(1);  // from one attempt to connect to the next
};

// Asks a scheduler. Every call blocks until it is answered or its deadline has passed; several
// threads may call at a time. An error has the code the scheduler gave; Unavailable says which
// address did not answer.
class RpcClient {
 public:
  explicit RpcClient(ClientOptions options);
  ~RpcClient();
  RpcClient(const RpcClient&) = delete;
  RpcClient& operator=(const RpcClient&) = delete;

  Result<SubmitAnswer> submit(const SubmitRequest& request);
  Result<StatusAnswer> status(const StatusRequest& request);
  Result<CancelAnswer> cancel(const CancelRequest& request);
  Result<LogsAnswer> logs(const LogsRequest& request);
  Result<NodesAnswer> nodes();
  Status drain(const DrainRequest& request);
  Status set_policy(const PolicyRequest& request);
  Status set_quota(const QuotaRequest& request);
  Result<QuotasAnswer> quotas();
  Status set_tenant(const TenantRequest& request);
  Result<TenantsAnswer> tenants();
  Status set_limits(const LimitsRequest& request);
  Result<LimitsAnswer> limits();
  Result<EventsAnswer> events(const EventsRequest& request);
  Result<WhatIfAnswer> what_if(const WhatIfRequest& request);
  Result<SituationAnswer> situation();
  Result<TokenAnswer> make_token(const TokenRequest& request);
  Result<TokensAnswer> tokens(const TokensRequest& request);
  Result<CertificatesAnswer> certificates(const CertificatesRequest& request);
  Status remove_node(const RemoveNodeRequest& request);
  Result<JoinAnswer> join(const JoinRequest& request);

  // Does not block: many submissions can be under way at a time. The reply comes on a thread of the
  // library. The destructor waits for those that are still to come, so no reply may destroy it.
  void submit(const SubmitRequest& request, Reply<SubmitAnswer> reply);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace orrery
