#include "live/unix_socket/calls.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <orrery/v1/scheduler.pb.h>

#include <algorithm>
#include <utility>

#include "live/codec/wire.h"

namespace orrery {
namespace {

template <class In, class Out, class Request, class Answer>
void ask(Api& api, const Caller& caller, const Frame& frame, Answered done,
         void (Api::*method)(const Caller&, Request, Reply<Answer>)) {
  In in;
  if (!in.ParseFromString(frame.body)) {
    return done(error_frame(invalid("the body is not the message of this call")));
  }
  auto read = read_wire<Request>(in);
  if (!read.ok()) return done(error_frame(read.error()));
  Request request = std::move(read).value();
  if constexpr (requires { request.wait; })
    request.wait = std::min(request.wait, kUnixSocketWaitMax);
  (api.*method)(caller, std::move(request), [done = std::move(done)](Result<Answer> answer) {
    if (!answer.ok()) return done(error_frame(answer.error()));
    Out out;
    write_wire(answer.value(), out);
    std::string bytes = open_frame(0);
    out.AppendToString(&bytes);
    close_frame(bytes);
    done(std::move(bytes));
  });
}

}  // namespace

std::string error_frame(const Error& error) {
  std::string bytes = open_frame(static_cast<std::uint8_t>(error.code));
  bytes += error.message;
  close_frame(bytes);
  return bytes;
}

void answer_frame(Api& api, const Caller& caller, const Frame& request, Answered done) {
  // What is wrong with a body goes to its sender and not to our log, which it could fill.
  static const bool quiet = (google::protobuf::SetLogHandler(nullptr), true);
  static_cast<void>(quiet);
  const auto call = [&]<class In, class Out>(auto method) {
    ask<In, Out>(api, caller, request, std::move(done), method);
  };
  switch (static_cast<UnixSocketCall>(request.word)) {
    case UnixSocketCall::Submit:
      return call.operator()<v1::SubmitRequest, v1::SubmitAnswer>(&Api::submit);
    case UnixSocketCall::ShowStatus:
      return call.operator()<v1::StatusRequest, v1::StatusAnswer>(&Api::status);
    case UnixSocketCall::Cancel:
      return call.operator()<v1::CancelRequest, v1::CancelAnswer>(&Api::cancel);
    case UnixSocketCall::Logs:
      return call.operator()<v1::LogsRequest, v1::LogsAnswer>(&Api::logs);
    case UnixSocketCall::Nodes:
      return call.operator()<v1::Nothing, v1::NodesAnswer>(&Api::nodes);
    case UnixSocketCall::Drain:
      return call.operator()<v1::DrainRequest, v1::Nothing>(&Api::drain);
    case UnixSocketCall::SetPolicy:
      return call.operator()<v1::PolicyRequest, v1::Nothing>(&Api::set_policy);
    case UnixSocketCall::SetQuota:
      return call.operator()<v1::QuotaRequest, v1::Nothing>(&Api::set_quota);
    case UnixSocketCall::Quotas:
      return call.operator()<v1::Nothing, v1::QuotasAnswer>(&Api::quotas);
    case UnixSocketCall::Events:
      return call.operator()<v1::EventsRequest, v1::EventsAnswer>(&Api::events);
    case UnixSocketCall::WhatIf:
      return call.operator()<v1::WhatIfRequest, v1::WhatIfAnswer>(&Api::what_if);
    case UnixSocketCall::Situation:
      return call.operator()<v1::Nothing, v1::SituationAnswer>(&Api::situation);
    case UnixSocketCall::SetTenant:
      return call.operator()<v1::TenantRequest, v1::Nothing>(&Api::set_tenant);
    case UnixSocketCall::Tenants:
      return call.operator()<v1::Nothing, v1::TenantsAnswer>(&Api::tenants);
    case UnixSocketCall::SetLimits:
      return call.operator()<v1::LimitsRequest, v1::Nothing>(&Api::set_limits);
    case UnixSocketCall::Limits:
      return call.operator()<v1::Nothing, v1::LimitsAnswer>(&Api::limits);
    case UnixSocketCall::MakeToken:
      return call.operator()<v1::TokenRequest, v1::TokenAnswer>(&Api::make_token);
    case UnixSocketCall::Tokens:
      return call.operator()<v1::TokensRequest, v1::TokensAnswer>(&Api::tokens);
    case UnixSocketCall::Certificates:
      return call.operator()<v1::CertificatesRequest, v1::CertificatesAnswer>(&Api::certificates);
    case UnixSocketCall::RemoveNode:
      return call.operator()<v1::RemoveNodeRequest, v1::Nothing>(&Api::remove_node);
  }
  done(error_frame({Code::Unimplemented, fmt::format("there is no call {}", request.word)}));
}

}  // namespace orrery
