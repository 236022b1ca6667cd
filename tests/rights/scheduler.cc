#include "rights/scheduler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <condition_variable>
#include <optional>

#include "base/invariant.h"
#include "commands/programs/remote_client.h"
#include "live/auth/certificates.h"
#include "live/auth/credentials.h"
#include "live/daemon/server/clock.h"
#include "live/forecast/what_if.h"
#include "live/rpc/scheduler_link.h"
#include "live/unix_socket/client.h"

namespace orrery {
namespace {

std::chrono::sys_seconds now() {
  return std::chrono::floor<std::chrono::seconds>(
      std::chrono::sys_time<Duration>(Duration(Clock::unix_ns())));
}

template <class Value>
Value must(Result<Value> result) {
  INVARIANT(result.ok(), result.ok() ? "" : result.error().message.c_str());
  return std::move(result).value();
}

}  // namespace

Caller caller_for(const Identity& identity) {
  return {.role = static_cast<Caller::Role>(identity.role), .name = identity.name};
}

TestScheduler::TestScheduler() {
  const std::string& path = folder_.path();
  trust_ = std::make_unique<LocalTrust>(must(load_or_make_local(path + "/trust", {}, now())));
  callers_ = std::make_unique<Callers>(
      CallersOptions{.limits = {.per_second = 1'000'000, .burst = 1'000'000},
                     .ca_pem = trust_->server.ca_pem,
                     .now = now});
  server_ = must(SchedulerServer::start(
      {.state = path,
       .gatekeeper = {.trust = trust_.get(), .ports = [this] { return ports_; }},
       .ask_what_if = [](const std::string& situation, const WhatIfRequest& request) {
         return what_if_live(situation, request);
       }}));
  const TlsMaterial tls{.certificate = trust_->server.certificate_pem + trust_->server.ca_pem,
                        .key = trust_->server.key_pem.reveal(),
                        .authority = trust_->server.ca_pem};
  rpc_ = must(RpcServer::start({.tls = tls, .access = callers_->access()}, *server_, *server_));
  RestOptions rest{.access = callers_->access(),
                   .metrics = [this](const Caller& caller) { return server_->metrics(caller); }};
  rest.http.tls = tls;
  rest_ = must(RestServer::start(rest, *server_));
  ports_ = {.grpc = rpc_->port(), .https = rest_->port()};
  unix_socket_ = must(UnixSocketServer::start({.path = path + "/socket",
                                               .identify =
                                                   [this](uid_t) {
                                                     const std::lock_guard lock(mutex_);
                                                     return Result<Caller>(at_socket_);
                                                   }},
                                              *server_));
}

TestScheduler::~TestScheduler() {
  unix_socket_->stop();
  rest_->stop();
  rpc_->stop();
  EXPECT_TRUE(server_->stop().ok());
}

std::string TestScheduler::credentials_of(const Identity& caller) {
  const std::string folder = folder_ / fmt::format("{}-{}", to_string(caller.role), caller.name);
  if (std::filesystem::exists(folder)) return folder;
  const KeyAndRequest made = must(make_key_and_request());
  const std::string certificate =
      must(trust_->authority.issue(made.request_pem, caller, std::chrono::hours(1), now()));
  const Status saved = save_credentials(folder, "caller",
                                        {.ca_pem = trust_->authority.certificate_pem(),
                                         .certificate_pem = certificate,
                                         .key_pem = made.key_pem});
  INVARIANT(saved.ok(), "the temporary folder can be written");
  return folder;
}

std::unique_ptr<Client> TestScheduler::by_socket(const Identity& caller) {
  const std::lock_guard lock(mutex_);
  at_socket_ = caller_for(caller);
  return std::make_unique<UnixSocketClient>(UnixSocketClientOptions{.path = folder_ / "socket"});
}

std::unique_ptr<Client> TestScheduler::by_grpc(const Identity& caller) {
  return must(connect_remote({.address = fmt::format("127.0.0.1:{}", rpc_->port()),
                              .credentials = credentials_of(caller),
                              .certificate = "caller"}));
}

TestScheduler::HttpReply TestScheduler::by_rest(const Identity& caller, const std::string& method,
                                                const std::string& path, const std::string& body) {
  const std::string folder = credentials_of(caller);
  httplib::SSLClient http("127.0.0.1", rest_->port(), folder + "/caller.pem",
                          folder + "/caller.key");
  http.set_ca_cert_path((folder + "/ca.pem").c_str());
  http.enable_server_certificate_verification(true);
  const auto reply = method == "GET"      ? http.Get(path.c_str())
                     : method == "DELETE" ? http.Delete(path.c_str())
                     : method == "PUT"    ? http.Put(path.c_str(), body, "application/json")
                                          : http.Post(path.c_str(), body, "application/json");
  INVARIANT(reply, httplib::to_string(reply.error()).c_str());
  return {.status = reply->status, .body = reply->body};
}

Result<Orders> TestScheduler::attend(const Identity& caller, const std::string& node) {
  const Credentials own = must(load_credentials(credentials_of(caller), "caller"));
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Result<Orders>> heard;
  const auto keep = [&](Result<Orders> what) {
    const std::lock_guard lock(mutex);
    if (!heard) heard.emplace(std::move(what));
    changed.notify_all();
  };
  RpcSchedulerLink link({.client = {.address = fmt::format("127.0.0.1:{}", rpc_->port()),
                                    .tls = TlsMaterial{.certificate = own.certificate_pem,
                                                       .key = own.key_pem.reveal(),
                                                       .authority = own.ca_pem}},
                         .on_lost = [&](const Error& error) { keep(error); }},
                        [&](Orders orders) { keep(std::move(orders)); });
  link.send({.offer = {.name = node}, .instance = "i-" + node, .number = 1});
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return heard.has_value(); });
  return *heard;
}

JobNumber TestScheduler::submit(const JobRequest& request) {
  return must(by_socket(kAdmin)->submit({.job = request})).first;
}

}  // namespace orrery
