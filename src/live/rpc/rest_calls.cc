#include "live/rpc/rest_calls.h"

#include <fmt/format.h>
#include <orrery/v1/scheduler.pb.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "live/codec/wire.h"
#include "live/rpc/rest_json.h"
#include "live/rpc/server.h"

namespace orrery {
namespace {

struct HttpCode {
  Code code{};
  int status = 500;
  const char* name = "";
};
constexpr HttpCode kHttpCodes[] = {
    {Code::Cancelled, 499, "Cancelled"},
    {Code::InvalidArgument, 400, "InvalidArgument"},
    {Code::DeadlineExceeded, 504, "DeadlineExceeded"},
    {Code::NotFound, 404, "NotFound"},
    {Code::AlreadyExists, 409, "AlreadyExists"},
    {Code::PermissionDenied, 403, "PermissionDenied"},
    {Code::ResourceExhausted, 429, "ResourceExhausted"},
    {Code::FailedPrecondition, 409, "FailedPrecondition"},
    {Code::Aborted, 409, "Aborted"},
    {Code::Unimplemented, 501, "Unimplemented"},
    {Code::Internal, 500, "Internal"},
    {Code::Unavailable, 503, "Unavailable"},
    {Code::DataLoss, 500, "DataLoss"},
    {Code::Unauthenticated, 401, "Unauthenticated"},
};

HttpAnswer http_error(int status, std::string_view code, std::string_view message) {
  const nlohmann::json body = {{"error", {{"code", code}, {"message", message}}}};
  return {.status = status,
          .body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

std::string role_name(const Caller& caller) {
  return v1::Caller::Role_Name(static_cast<v1::Caller::Role>(caller.role));
}

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> parts;
  std::size_t begin = 1;
  while (begin <= path.size() && parts.size() < 8) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Result<JobNumber> job_number(const std::string& text) {
  JobNumber number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && rest == text.data() + text.size() && number > 0) return number;
  return invalid(fmt::format("'{}' is no job's number", text.substr(0, 40)));
}

Error no_such_path() { return {Code::NotFound, "there is nothing here; docs/formats/api.md"}; }

// What there is, and how it may be asked. A star stands for one name.
struct Resource {
  std::vector<std::string_view> path{};
  std::vector<std::string_view> methods{};
};
const std::vector<Resource>& resources() {
  static const std::vector<Resource> all = {
      {{"v1", "jobs"}, {"GET", "POST"}},
      {{"v1", "jobs", "*"}, {"GET", "DELETE"}},
      {{"v1", "jobs", "*", "logs"}, {"GET"}},
      {{"v1", "nodes"}, {"GET"}},
      {{"v1", "nodes", "*"}, {"DELETE"}},
      {{"v1", "nodes", "*", "drain"}, {"POST"}},
      {{"v1", "nodes", "*", "resume"}, {"POST"}},
      {{"v1", "quotas"}, {"GET", "PUT"}},
      {{"v1", "tenants"}, {"GET", "PUT"}},
      {{"v1", "limits"}, {"GET", "PUT"}},
      {{"v1", "policy"}, {"PUT"}},
      {{"v1", "events"}, {"GET"}},
      {{"v1", "whatif"}, {"POST"}},
      {{"v1", "tokens"}, {"GET", "POST"}},
      {{"v1", "tokens", "*"}, {"DELETE"}},
      {{"v1", "certificates"}, {"GET"}},
      {{"v1", "certificates", "revoke"}, {"POST"}},
  };
  return all;
}

const Resource* find_resource(const std::vector<std::string>& path) {
  const auto fits = [&](const Resource& resource) {
    return std::ranges::equal(resource.path, path,
                              [](std::string_view part, std::string_view asked) {
                                return part == "*" ? !asked.empty() : part == asked;
                              });
  };
  const auto found = std::ranges::find_if(resources(), fits);
  return found == resources().end() ? nullptr : &*found;
}

template <class Message>
Result<Message> from_body(const HttpRequest& request) {
  Message message;
  TRY(read_json(request.body, message));
  return message;
}
template <class Message>
Result<Message> from_query(const HttpRequest& request) {
  Message message;
  TRY(read_query(request.query, message));
  return message;
}

// A page from elsewhere that a browser shows may send plain forms to this machine, and may come
// under a name that only looks like ours. Neither can bring JSON and the right name along.
Status check_origin(const HttpRequest& request, bool tls) {
  const bool with_body = request.method == "POST" || request.method == "PUT";
  if (with_body && !request.content_type.starts_with("application/json")) {
    return invalid("send JSON, with the header `Content-Type: application/json`");
  }
  if (tls || request.host.empty()) return {};
  const bool with_port = request.host.find(':') != std::string::npos;
  if (read_listen_address(request.host + (with_port ? "" : ":80"), false).ok()) return {};
  return Error{Code::PermissionDenied, "call this server by an address of this machine"};
}

}  // namespace

std::vector<RestPath> rest_paths() {
  std::vector<RestPath> paths;
  for (const Resource& resource : resources()) {
    for (const std::string_view method : resource.methods) {
      paths.push_back({.method = std::string(method),
                       .path = fmt::format("/{}", fmt::join(resource.path, "/"))});
    }
  }
  paths.push_back({.method = "GET", .path = "/metrics"});
  return paths;
}

HttpAnswer http_error(const Error& error) {
  for (const HttpCode& known : kHttpCodes) {
    if (known.code == error.code) return http_error(known.status, known.name, error.message);
  }
  return http_error(500, "Internal", error.message);
}

Code code_named(std::string_view name) {
  for (const HttpCode& known : kHttpCodes) {
    if (known.name == name) return known.code;
  }
  return Code::Internal;
}

RestCalls::RestCalls(const RestOptions& options, Api& api)
    : options_(options),
      api_(api),
      gate_(options.access, options.http.tls.has_value(), 2 * options.http.threads),
      waits_max_(options.http.threads / 2) {}

template <class Request, class Answer>
Result<Answer> RestCalls::reply_to(const Caller& caller, Request request,
                                   void (Api::*method)(const Caller&, Request, Reply<Answer>)) {
  Duration longest = options_.deadline;
  bool waits = false;
  if constexpr (requires { request.wait; }) {
    waits = ++waits_ <= waits_max_;
    if (!waits) --waits_;
    request.wait = waits ? std::min(request.wait, kWaitMax) : Duration(0);
    longest += request.wait;
  }
  auto result = std::make_shared<std::optional<Result<Answer>>>();
  (api_.*method)(caller, std::move(request), [result, bell = bell_](Result<Answer> reply) {
    const std::lock_guard lock(bell->mutex);
    result->emplace(std::move(reply));
    bell->answered.notify_all();
  });
  std::unique_lock lock(bell_->mutex);
  bell_->answered.wait_for(lock, longest, [&] { return result->has_value() || bell_->stopping; });
  if (waits) --waits_;
  if (result->has_value()) return std::move(**result);
  if (bell_->stopping) return Error{Code::Unavailable, "the scheduler is stopping"};
  return Error{Code::DeadlineExceeded, "the scheduler has no answer yet; try again"};
}

template <class In, class Out, class Request, class Answer>
Result<std::string> RestCalls::ask(const Caller& caller, const In& message,
                                   void (Api::*method)(const Caller&, Request, Reply<Answer>)) {
  TRY_ASSIGN(Request request, read_wire<Request>(message));
  TRY_ASSIGN(const Answer answer, reply_to(caller, std::move(request), method));
  Out out;
  write_wire(answer, out);
  return write_json(out);
}

Result<std::string> RestCalls::jobs(const HttpRequest& request, const Path& path,
                                    const Caller& caller) {
  if (path.size() == 2 && request.method == "POST") {
    TRY_ASSIGN(const auto message, from_body<v1::SubmitRequest>(request));
    return ask<v1::SubmitRequest, v1::SubmitAnswer>(caller, message, &Api::submit);
  }
  if (path.size() == 2) {
    TRY_ASSIGN(const auto message, from_query<v1::StatusRequest>(request));
    return ask<v1::StatusRequest, v1::StatusAnswer>(caller, message, &Api::status);
  }
  TRY_ASSIGN(const JobNumber id, job_number(path[2]));
  if (path.size() == 4) {
    TRY_ASSIGN(auto message, from_query<v1::LogsRequest>(request));
    message.set_id(id);
    return ask<v1::LogsRequest, v1::LogsAnswer>(caller, message, &Api::logs);
  }
  if (request.method == "DELETE") {
    v1::CancelRequest message;
    message.add_ids(id);
    return ask<v1::CancelRequest, v1::CancelAnswer>(caller, message, &Api::cancel);
  }
  TRY_ASSIGN(auto message, from_query<v1::StatusRequest>(request));
  message.clear_ids();
  message.add_ids(id);
  return ask<v1::StatusRequest, v1::StatusAnswer>(caller, message, &Api::status);
}

Result<std::string> RestCalls::nodes(const HttpRequest& request, const Path& path,
                                     const Caller& caller) {
  if (path.size() == 2) return ask<v1::Nothing, v1::NodesAnswer>(caller, {}, &Api::nodes);
  if (path.size() == 3) {
    v1::RemoveNodeRequest removed;
    removed.set_node(path[2]);
    return ask<v1::RemoveNodeRequest, v1::Nothing>(caller, removed, &Api::remove_node);
  }
  v1::DrainRequest message;
  if (!request.body.empty()) {
    TRY_ASSIGN(message, from_body<v1::DrainRequest>(request));
  }
  message.set_node(path[2]);
  message.set_resume(path[3] == "resume");
  return ask<v1::DrainRequest, v1::Nothing>(caller, message, &Api::drain);
}

Result<std::string> RestCalls::trust(const HttpRequest& request, const Path& path,
                                     const Caller& caller) {
  if (path[1] == "certificates") {
    v1::CertificatesRequest message;
    if (request.method == "POST") {
      TRY_ASSIGN(message, from_body<v1::CertificatesRequest>(request));
    }
    return ask<v1::CertificatesRequest, v1::CertificatesAnswer>(caller, message,
                                                                &Api::certificates);
  }
  if (request.method == "POST") {
    TRY_ASSIGN(const auto message, from_body<v1::TokenRequest>(request));
    return ask<v1::TokenRequest, v1::TokenAnswer>(caller, message, &Api::make_token);
  }
  v1::TokensRequest message;
  if (path.size() == 3) message.set_withdraw(path[2]);
  return ask<v1::TokensRequest, v1::TokensAnswer>(caller, message, &Api::tokens);
}

// GET shows what there is, PUT changes it.
template <class In, class Out, class Request, class Answer>
Result<std::string> RestCalls::show_or_set(const HttpRequest& request, const Caller& caller,
                                           void (Api::*show)(const Caller&, Nothing, Reply<Answer>),
                                           void (Api::*set)(const Caller&, Request,
                                                            Reply<Nothing>)) {
  if (request.method == "GET") return ask<v1::Nothing, Out>(caller, {}, show);
  TRY_ASSIGN(const auto message, from_body<In>(request));
  return ask<In, v1::Nothing>(caller, message, set);
}

Result<std::string> RestCalls::known_path(const HttpRequest& request, const Path& path,
                                          const Caller& caller) {
  if (path[1] == "jobs") return jobs(request, path, caller);
  if (path[1] == "nodes") return nodes(request, path, caller);
  if (path[1] == "tokens" || path[1] == "certificates") return trust(request, path, caller);
  if (path[1] == "quotas") {
    return show_or_set<v1::QuotaRequest, v1::QuotasAnswer>(request, caller, &Api::quotas,
                                                           &Api::set_quota);
  }
  if (path[1] == "tenants") {
    return show_or_set<v1::TenantRequest, v1::TenantsAnswer>(request, caller, &Api::tenants,
                                                             &Api::set_tenant);
  }
  if (path[1] == "limits") {
    return show_or_set<v1::LimitsRequest, v1::LimitsAnswer>(request, caller, &Api::limits,
                                                            &Api::set_limits);
  }
  if (path[1] == "policy") {
    TRY_ASSIGN(const auto message, from_body<v1::PolicyRequest>(request));
    return ask<v1::PolicyRequest, v1::Nothing>(caller, message, &Api::set_policy);
  }
  if (path[1] == "events") {
    TRY_ASSIGN(const auto message, from_query<v1::EventsRequest>(request));
    return ask<v1::EventsRequest, v1::EventsAnswer>(caller, message, &Api::events);
  }
  TRY_ASSIGN(const auto message, from_body<v1::WhatIfRequest>(request));
  return ask<v1::WhatIfRequest, v1::WhatIfAnswer>(caller, message, &Api::what_if);
}

// The caller needs no certificate: a token is enough.
HttpAnswer RestCalls::join(const HttpRequest& request) {
  if (request.method != "POST") {
    return http_error(405, "Unimplemented", "only POST is taken here");
  }
  const auto caller = gate_.enter_to_join(request.certificate_pem);
  if (!caller.ok()) return http_error(caller.error());
  auto message = from_body<v1::JoinRequest>(request);
  auto body = message.ok() ? ask<v1::JoinRequest, v1::JoinAnswer>(caller.value(), message.value(),
                                                                  &Api::join)
                           : Result<std::string>(message.error());
  gate_.leave();
  if (!body.ok()) return http_error(body.error());
  return {.body = std::move(body).value()};
}

HttpAnswer RestCalls::answer_known(const HttpRequest& request, const Caller& caller) {
  if (request.path == "/v1/me") {
    return {.body = nlohmann::json{{"name", caller.name}, {"role", role_name(caller)}}.dump()};
  }
  if (options_.join_only) {
    return http_error(Error{Code::NotFound, "this port serves `orrery join` alone (--rest off)"});
  }
  if (request.path == "/metrics" && options_.metrics) {
    auto text = options_.metrics(caller);
    if (!text.ok()) return http_error(text.error());
    return {.body = std::move(text).value(), .content_type = "text/plain; version=0.0.4"};
  }
  const Path path = split_path(request.path);
  const Resource* const resource = find_resource(path);
  if (resource == nullptr) return http_error(no_such_path());
  if (std::ranges::find(resource->methods, request.method) == resource->methods.end()) {
    return http_error(405, "Unimplemented",
                      fmt::format("{} is not taken here; use {}", request.method.substr(0, 20),
                                  fmt::join(resource->methods, " or ")));
  }
  auto body = known_path(request, path, caller);
  if (!body.ok()) return http_error(body.error());
  return {.body = std::move(body).value()};
}

HttpAnswer RestCalls::answer(const HttpRequest& request) {
  if (request.path == "/healthz") return {.body = "ok\n", .content_type = "text/plain"};
  if (const Status fits = check_origin(request, options_.http.tls.has_value()); !fits.ok()) {
    return http_error(fits.error());
  }
  if (request.path == "/v1/join") return join(request);
  const auto caller = gate_.enter(request.certificate_pem);
  if (!caller.ok()) return http_error(caller.error());
  HttpAnswer answer = answer_known(request, caller.value());
  gate_.leave();
  return answer;
}

void RestCalls::stop() {
  const std::lock_guard lock(bell_->mutex);
  bell_->stopping = true;
  bell_->answered.notify_all();
}

}  // namespace orrery
