#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "live/api/api.h"
#include "live/api/client.h"
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
class RpcClient final : public Client {
 public:
  explicit RpcClient(ClientOptions options);
  ~RpcClient() override;
  RpcClient(const RpcClient&) = delete;
  RpcClient& operator=(const RpcClient&) = delete;

  Result<SubmitAnswer> submit(const SubmitRequest& request) override;
  Result<StatusAnswer> status(const StatusRequest& request) override;
  Result<CancelAnswer> cancel(const CancelRequest& request) override;
  Result<LogsAnswer> logs(const LogsRequest& request) override;
  Result<NodesAnswer> nodes() override;
  Status drain(const DrainRequest& request) override;
  Status set_policy(const PolicyRequest& request) override;
  Status set_quota(const QuotaRequest& request) override;
  Result<QuotasAnswer> quotas() override;
  Status set_tenant(const TenantRequest& request) override;
  Result<TenantsAnswer> tenants() override;
  Status set_limits(const LimitsRequest& request) override;
  Result<LimitsAnswer> limits() override;
  Result<EventsAnswer> events(const EventsRequest& request) override;
  Result<WhatIfAnswer> what_if(const WhatIfRequest& request) override;
  Result<SituationAnswer> situation() override;
  Result<TokenAnswer> make_token(const TokenRequest& request) override;
  Result<TokensAnswer> tokens(const TokensRequest& request) override;
  Result<CertificatesAnswer> certificates(const CertificatesRequest& request) override;
  Status remove_node(const RemoveNodeRequest& request) override;
  Result<JoinAnswer> join(const JoinRequest& request) override;

  // Does not block: many submissions can be under way at a time. The reply comes on a thread of the
  // library. The destructor waits for those that are still to come, so no reply may destroy it.
  void submit(const SubmitRequest& request, Reply<SubmitAnswer> reply);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace orrery
