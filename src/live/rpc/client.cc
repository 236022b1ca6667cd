#include "live/rpc/client.h"

#include <orrery/v1/scheduler.grpc.pb.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "live/codec/wire.h"
#include "live/rpc/channel.h"
#include "live/rpc/diagnosis.h"

namespace orrery {
namespace {

using Stub = v1::Scheduler::Stub;

Duration wait_of(const auto&) { return {}; }
Duration wait_of(const LogsRequest& request) { return request.wait; }
Duration wait_of(const EventsRequest& request) { return request.wait; }

std::chrono::system_clock::time_point deadline_in(Duration longest) {
  const auto bounded = std::clamp<Duration>(longest, Duration(0), std::chrono::hours(24));
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(bounded);
}

Status without_answer(const Result<Nothing>& result) {
  if (!result.ok()) return result.error();
  return {};
}

}  // namespace

struct RpcClient::Parts {
  struct Submission {
    grpc::ClientContext context{};
    v1::SubmitRequest in{};
    v1::SubmitAnswer out{};
  };

  explicit Parts(ClientOptions given)
      : options(std::move(given)),
        channel(open_channel(options)),
        stub(v1::Scheduler::NewStub(channel)) {}
  ~Parts() {
    std::unique_lock lock(mutex);
    all_ended.wait(lock, [this] { return under_way == 0; });
  }

  template <class Answer, class Request, class In, class Out>
  Result<Answer> call(grpc::Status (Stub::*method)(grpc::ClientContext*, const In&, Out*),
                      const Request& request) {
    wait_for_reconnection();
    grpc::ClientContext context;
    context.set_deadline(deadline_in(options.deadline + wait_of(request)));
    In in;
    Out out;
    write_wire(request, in);
    const grpc::Status status = ((*stub).*method)(&context, in, &out);
    if (!status.ok()) return error_with_reason(status);
    return read_wire<Answer>(out);
  }

  // After a failed connection the library makes the next one only while a call polls, and a call
  // fails at once meanwhile. Without this a client that asks now and then connects after 5 s.
  void wait_for_reconnection() {
    if (channel->GetState(false) != GRPC_CHANNEL_TRANSIENT_FAILURE) return;
    channel->WaitForConnected(deadline_in(options.reconnect_most));
  }

  Error error_with_reason(const grpc::Status& status) const {
    Error error = error_of(status, options.address);
    if (error.code != Code::Unavailable) return error;
    return diagnose(options, std::move(error));
  }

  // A context holds the connection. The library cannot bear that the last one goes on its own
  // thread, so they are handed back and go on ours.
  void ended(std::shared_ptr<Submission> submission) {
    const std::lock_guard lock(mutex);
    done.push_back(std::move(submission));
    --under_way;
    all_ended.notify_all();
  }
  std::vector<std::shared_ptr<Submission>> begin() {
    const std::lock_guard lock(mutex);
    ++under_way;
    return std::exchange(done, {});
  }

  ClientOptions options;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<Stub> stub;
  std::mutex mutex;
  std::condition_variable all_ended;
  int under_way = 0;
  std::vector<std::shared_ptr<Submission>> done;
};

RpcClient::RpcClient(ClientOptions options) : parts_(std::make_unique<Parts>(std::move(options))) {}
RpcClient::~RpcClient() = default;

Result<SubmitAnswer> RpcClient::submit(const SubmitRequest& request) {
  return parts_->call<SubmitAnswer>(&Stub::Submit, request);
}
Result<StatusAnswer> RpcClient::status(const StatusRequest& request) {
  return parts_->call<StatusAnswer>(&Stub::Status, request);
}
Result<CancelAnswer> RpcClient::cancel(const CancelRequest& request) {
  return parts_->call<CancelAnswer>(&Stub::Cancel, request);
}
Result<LogsAnswer> RpcClient::logs(const LogsRequest& request) {
  return parts_->call<LogsAnswer>(&Stub::Logs, request);
}
Result<NodesAnswer> RpcClient::nodes() {
  return parts_->call<NodesAnswer>(&Stub::Nodes, Nothing{});
}
Status RpcClient::drain(const DrainRequest& request) {
  return without_answer(parts_->call<Nothing>(&Stub::Drain, request));
}
Status RpcClient::set_policy(const PolicyRequest& request) {
  return without_answer(parts_->call<Nothing>(&Stub::SetPolicy, request));
}
Status RpcClient::set_quota(const QuotaRequest& request) {
  return without_answer(parts_->call<Nothing>(&Stub::SetQuota, request));
}
Result<QuotasAnswer> RpcClient::quotas() {
  return parts_->call<QuotasAnswer>(&Stub::Quotas, Nothing{});
}
Status RpcClient::set_tenant(const TenantRequest& request) {
  return without_answer(parts_->call<Nothing>(&Stub::SetTenant, request));
}
Result<TenantsAnswer> RpcClient::tenants() {
  return parts_->call<TenantsAnswer>(&Stub::Tenants, Nothing{});
}
Status RpcClient::set_limits(const LimitsRequest& request) {
  return without_answer(parts_->call<Nothing>(&Stub::SetLimits, request));
}
Result<LimitsAnswer> RpcClient::limits() {
  return parts_->call<LimitsAnswer>(&Stub::Limits, Nothing{});
}
Result<EventsAnswer> RpcClient::events(const EventsRequest& request) {
  return parts_->call<EventsAnswer>(&Stub::Events, request);
}
Result<WhatIfAnswer> RpcClient::what_if(const WhatIfRequest& request) {
  return parts_->call<WhatIfAnswer>(&Stub::WhatIf, request);
}
Result<SituationAnswer> RpcClient::situation() {
  return parts_->call<SituationAnswer>(&Stub::Situation, Nothing{});
}
Result<TokenAnswer> RpcClient::make_token(const TokenRequest& request) {
  return parts_->call<TokenAnswer>(&Stub::MakeToken, request);
}
Result<TokensAnswer> RpcClient::tokens(const TokensRequest& request) {
  return parts_->call<TokensAnswer>(&Stub::Tokens, request);
}
Result<CertificatesAnswer> RpcClient::certificates(const CertificatesRequest& request) {
  return parts_->call<CertificatesAnswer>(&Stub::Certificates, request);
}
Status RpcClient::remove_node(const RemoveNodeRequest& request) {
  return without_answer(parts_->call<Nothing>(&Stub::RemoveNode, request));
}
Result<JoinAnswer> RpcClient::join(const JoinRequest& request) {
  return parts_->call<JoinAnswer>(&Stub::Join, request);
}

void RpcClient::submit(const SubmitRequest& request, Reply<SubmitAnswer> reply) {
  parts_->begin();
  auto submission = std::make_shared<Parts::Submission>();
  Parts::Submission& held = *submission;
  held.context.set_deadline(deadline_in(parts_->options.deadline));
  write_wire(request, held.in);
  parts_->stub->async()->Submit(&held.context, &held.in, &held.out,
                                [submission = std::move(submission), reply = std::move(reply),
                                 parts = parts_.get()](const grpc::Status& status) mutable {
                                  if (status.ok()) {
                                    reply(read_wire<SubmitAnswer>(submission->out));
                                  } else {
                                    reply(error_of(status, parts->options.address));
                                  }
                                  parts->ended(std::move(submission));
                                });
}

}  // namespace orrery
