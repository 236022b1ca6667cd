#include "live/rpc/server.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <orrery/v1/scheduler.grpc.pb.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "live/codec/wire.h"
#include "live/rpc/agent_service.h"
#include "live/rpc/grpc_words.h"
#include "live/rpc/http_tls.h"
#include "live/rpc/server_credentials.h"

namespace orrery {
namespace {

using Context = grpc::CallbackServerContext;
using Reactor = grpc::ServerUnaryReactor;

// The call ends with its reply or when its caller goes, whichever is first.
// The reply may come after the call has gone, so it holds this and not the call.
using Once = std::atomic_flag;

class UnaryCall final : public Reactor {
 public:
  explicit UnaryCall(Gate* gate) : gate_(gate) {}

  std::shared_ptr<Once> once() const { return ended_; }
  void OnCancel() override {
    if (!ended_->test_and_set()) Finish(grpc::Status::CANCELLED);
  }
  void OnDone() override {
    if (gate_ != nullptr) gate_->leave();
    delete this;
  }

 private:
  Gate* gate_;  // null: the caller did not get in
  std::shared_ptr<Once> ended_ = std::make_shared<Once>();
};

Reactor* refuse(UnaryCall* call, const Error& error) {
  if (!call->once()->test_and_set()) call->Finish(grpc_status(error));
  return call;
}

void bound_wait(auto&) {}
void bound_wait(LogsRequest& request) { request.wait = std::min(request.wait, kWaitMax); }
void bound_wait(EventsRequest& request) { request.wait = std::min(request.wait, kWaitMax); }

class SchedulerService final : public v1::Scheduler::CallbackService {
 public:
  SchedulerService(Api& api, Gate& gate) : api_(api), gate_(gate) {}

  Reactor* Submit(Context* c, const v1::SubmitRequest* in, v1::SubmitAnswer* out) override {
    return answer(c, in, out, &Api::submit);
  }
  Reactor* Status(Context* c, const v1::StatusRequest* in, v1::StatusAnswer* out) override {
    return answer(c, in, out, &Api::status);
  }
  Reactor* Cancel(Context* c, const v1::CancelRequest* in, v1::CancelAnswer* out) override {
    return answer(c, in, out, &Api::cancel);
  }
  Reactor* Logs(Context* c, const v1::LogsRequest* in, v1::LogsAnswer* out) override {
    return answer(c, in, out, &Api::logs);
  }
  Reactor* Nodes(Context* c, const v1::Nothing* in, v1::NodesAnswer* out) override {
    return answer(c, in, out, &Api::nodes);
  }
  Reactor* Drain(Context* c, const v1::DrainRequest* in, v1::Nothing* out) override {
    return answer(c, in, out, &Api::drain);
  }
  Reactor* SetPolicy(Context* c, const v1::PolicyRequest* in, v1::Nothing* out) override {
    return answer(c, in, out, &Api::set_policy);
  }
  Reactor* SetQuota(Context* c, const v1::QuotaRequest* in, v1::Nothing* out) override {
    return answer(c, in, out, &Api::set_quota);
  }
  Reactor* Quotas(Context* c, const v1::Nothing* in, v1::QuotasAnswer* out) override {
    return answer(c, in, out, &Api::quotas);
  }
  Reactor* SetTenant(Context* c, const v1::TenantRequest* in, v1::Nothing* out) override {
    return answer(c, in, out, &Api::set_tenant);
  }
  Reactor* Tenants(Context* c, const v1::Nothing* in, v1::TenantsAnswer* out) override {
    return answer(c, in, out, &Api::tenants);
  }
  Reactor* SetLimits(Context* c, const v1::LimitsRequest* in, v1::Nothing* out) override {
    return answer(c, in, out, &Api::set_limits);
  }
  Reactor* Limits(Context* c, const v1::Nothing* in, v1::LimitsAnswer* out) override {
    return answer(c, in, out, &Api::limits);
  }
  Reactor* Events(Context* c, const v1::EventsRequest* in, v1::EventsAnswer* out) override {
    return answer(c, in, out, &Api::events);
  }
  Reactor* WhatIf(Context* c, const v1::WhatIfRequest* in, v1::WhatIfAnswer* out) override {
    return answer(c, in, out, &Api::what_if);
  }
  Reactor* Situation(Context* c, const v1::Nothing* in, v1::SituationAnswer* out) override {
    return answer(c, in, out, &Api::situation);
  }
  Reactor* MakeToken(Context* c, const v1::TokenRequest* in, v1::TokenAnswer* out) override {
    return answer(c, in, out, &Api::make_token);
  }
  Reactor* Tokens(Context* c, const v1::TokensRequest* in, v1::TokensAnswer* out) override {
    return answer(c, in, out, &Api::tokens);
  }
  Reactor* Certificates(Context* c, const v1::CertificatesRequest* in,
                        v1::CertificatesAnswer* out) override {
    return answer(c, in, out, &Api::certificates);
  }
  Reactor* RemoveNode(Context* c, const v1::RemoveNodeRequest* in, v1::Nothing* out) override {
    return answer(c, in, out, &Api::remove_node);
  }
  Reactor* Join(Context* c, const v1::JoinRequest* in, v1::JoinAnswer* out) override {
    return answer(c, in, out, &Api::join);
  }

 private:
  template <class Request, class Answer>
  using Method = void (Api::*)(const Caller&, Request, Reply<Answer>);

  template <class In, class Out, class Request, class Answer>
  Reactor* answer(Context* context, const In* in, Out* out, Method<Request, Answer> method) {
    return ask(gate_.enter(peer_certificate(*context)), in, out, method);
  }

  template <class In, class Out, class Request, class Answer>
  Reactor* ask(Result<Caller> caller, const In* in, Out* out, Method<Request, Answer> method) {
    auto* const call = new UnaryCall(caller.ok() ? &gate_ : nullptr);
    if (!caller.ok()) return refuse(call, caller.error());
    auto request = read_wire<Request>(*in);
    if (!request.ok()) return refuse(call, request.error());
    Request asked = std::move(request).value();
    bound_wait(asked);
    (api_.*method)(caller.value(), std::move(asked),
                   [call, out, once = call->once()](Result<Answer> result) {
                     if (once->test_and_set()) return;
                     if (!result.ok()) return call->Finish(grpc_status(result.error()));
                     write_wire(result.value(), *out);
                     call->Finish(grpc::Status::OK);
                   });
    return call;
  }

  Api& api_;
  Gate& gate_;
};

std::shared_ptr<grpc::ServerCredentials> credentials(const RpcServerOptions& options) {
  if (!options.tls) return grpc::InsecureServerCredentials();
  return demanding_credentials(*options.tls, options.access);
}

void set_limits(grpc::ServerBuilder& builder, const RpcServerOptions& options) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.message_bytes_max));
  builder.SetMaxSendMessageSize(-1);
  // Else a second server could listen on the same port, and each would get half of the calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 1000);  // of one connection
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 16 << 10);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_CHANNELZ, 0);  // a page that is not served
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  // A machine that went away without a word is noticed within half a minute.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
}

}  // namespace

struct RpcServer::Parts {
  Parts(const RpcServerOptions& options, Api& api, AgentHost& host)
      : gate(options.access, options.tls.has_value(), options.calls_max),
        agent_gate(options.access, options.tls.has_value(), options.agents_max),
        scheduler(std::make_unique<SchedulerService>(api, gate)),
        agents(host, agent_gate) {}

  Gate gate;
  Gate agent_gate;
  std::unique_ptr<grpc::Service> scheduler;
  AgentService agents;
  int port = 0;
  std::unique_ptr<grpc::Server> server;
};

Result<std::unique_ptr<RpcServer>> RpcServer::start(const RpcServerOptions& options, Api& api,
                                                    AgentHost& host) {
  INVARIANT(options.access.identify, "a server identifies its callers");
  TRY(read_listen_address(options.address, options.tls.has_value()));
  if (options.tls && !fits_together(*options.tls)) {
    return invalid(options.address + ": certificate, key and authority do not fit together");
  }
  quiet_grpc();
  auto parts = std::make_unique<Parts>(options, api, host);
  grpc::ServerBuilder builder;
  set_limits(builder, options);
  builder.AddListeningPort(options.address, credentials(options), &parts->port);
  builder.RegisterService(parts->scheduler.get());
  builder.RegisterService(&parts->agents);
  parts->server = builder.BuildAndStart();
  if (parts->server == nullptr || parts->port == 0) {
    return Error{
        Code::Unavailable,
        fmt::format("{}: cannot listen there; see whether another program does and whether "
                    "this machine has the address",
                    options.address)};
  }
  return std::unique_ptr<RpcServer>(new RpcServer(std::move(parts)));
}

RpcServer::RpcServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
RpcServer::~RpcServer() { stop(); }

int RpcServer::port() const { return parts_->port; }

void RpcServer::check_agents_again() { parts_->agents.check_again(); }
void RpcServer::let_agents_reconnect() { parts_->agents.let_reconnect(); }

void RpcServer::stop() {
  if (parts_->server == nullptr) return;
  // A deadline that has passed: calls that wait are cancelled now.
  parts_->server->Shutdown(std::chrono::system_clock::now());
  parts_->server->Wait();
  parts_->server.reset();
}

}  // namespace orrery
