#pragma once

#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"
#include "live/api/client.h"
#include "live/unix_socket/calls.h"

namespace orrery {

struct UnixSocketClientOptions {
  std::string path{};                            // of the socket
  Duration deadline = std::chrono::seconds(30);  // of a call; calls that wait have their wait more
  std::size_t answer_bytes_max = std::size_t{256} << 20;
};

// Asks a scheduler on this machine. It connects when needed, and again after a connection
// broke. For one thread at a time.
class UnixSocketClient final : public Client {
 public:
  explicit UnixSocketClient(UnixSocketClientOptions options) : options_(std::move(options)) {}

  // Sends no call yet. Unavailable: no process listens there, or one whose user is neither root nor
  // the owner of the folder, and which could be any user's.
  Status connect();

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
  // Joining is for those who have no way in here.
  Result<JoinAnswer> join(const JoinRequest& request) override;

 private:
  template <class Answer, class Request>
  Result<Answer> call(UnixSocketCall which, const Request& request);
  Result<Frame> exchange(std::string_view bytes, Duration longest);
  Status wait_for(short events, Duration until);
  Error lost(std::string_view why);

  UnixSocketClientOptions options_;
  Fd fd_{};
};

}  // namespace orrery
