#include "service/remote_client.h"

#include "door/client.h"
#include "rpc/client.h"
#include "rpc/fetch_authority.h"
#include "trust/certificates.h"
#include "trust/credentials.h"
#include "trust/tokens.h"

namespace orrery {
namespace {

class RemoteClient final : public Client {
 public:
  explicit RemoteClient(ClientOptions options) : client_(std::move(options)) {}

  Result<SubmitAnswer> submit(const SubmitRequest& request) override {
    return client_.submit(request);
  }
  Result<StatusAnswer> status(const StatusRequest& request) override {
    return client_.status(request);
  }
  Result<CancelAnswer> cancel(const CancelRequest& request) override {
    return client_.cancel(request);
  }
  Result<LogsAnswer> logs(const LogsRequest& request) override { return client_.logs(request); }
  Result<NodesAnswer> nodes() override { return client_.nodes(); }
  Status drain(const DrainRequest& request) override { return client_.drain(request); }
  Status set_policy(const PolicyRequest& request) override { return client_.set_policy(request); }
  Status set_quota(const QuotaRequest& request) override { return client_.set_quota(request); }
  Result<QuotasAnswer> quotas() override { return client_.quotas(); }
  Result<EventsAnswer> events(const EventsRequest& request) override {
    return client_.events(request);
  }
  Result<WhatIfAnswer> what_if(const WhatIfRequest& request) override {
    return client_.what_if(request);
  }
  Result<SituationAnswer> situation() override { return client_.situation(); }
  Result<TokenAnswer> make_token(const TokenRequest& request) override {
    return client_.make_token(request);
  }
  Result<JoinAnswer> join(const JoinRequest& request) override { return client_.join(request); }

 private:
  RpcClient client_;
};

}  // namespace

Result<std::unique_ptr<Client>> connect_remote(const Endpoint& endpoint) {
  if (!endpoint.door.empty()) {
    auto door = std::make_unique<DoorClient>(DoorClientOptions{.path = endpoint.door});
    if (door->connect().ok()) return std::unique_ptr<Client>(std::move(door));
  }
  TRY_ASSIGN(const Credentials own, load_credentials(endpoint.credentials, endpoint.certificate));
  return std::unique_ptr<Client>(std::make_unique<RemoteClient>(
      ClientOptions{.address = endpoint.address,
                    .tls = TlsMaterial{.certificate = own.certificate_pem,
                                       .key = own.key_pem.reveal(),
                                       .authority = own.ca_pem}}));
}

Status join_remote(const JoinOrder& order) {
  const Secret token(order.token);
  TRY_ASSIGN(const std::string authority, fetch_authority(order.server));
  TRY(check_authority(token, authority));
  TRY_ASSIGN(const KeyAndRequest made, make_key_and_request());
  RpcClient client({.address = order.server, .tls = TlsMaterial{.authority = authority}});
  TRY_ASSIGN(const JoinAnswer answer, client.join({.token = token.reveal(),
                                                   .name = order.name,
                                                   .certificate_request = made.request_pem}));
  return save_credentials(
      order.credentials, order.certificate,
      {.ca_pem = answer.authority, .certificate_pem = answer.certificate, .key_pem = made.key_pem});
}

}  // namespace orrery
