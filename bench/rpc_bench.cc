#include <benchmark/benchmark.h>

#include <atomic>
#include <memory>
#include <semaphore>

#include "live/rpc/client.h"
#include "live/rpc/server.h"
#include "live/rpc/test_authority.h"

// What a call costs beside the work it is for: submissions that are answered at once, over mutual
// TLS on loopback, client and server in this process.

namespace {

using namespace orrery;

class QuickApi final : public Api {
 public:
  void submit(const Caller&, SubmitRequest, Reply<SubmitAnswer> f) override {
    f(SubmitAnswer{.first = ++jobs_, .count = 1});
  }
  void status(const Caller&, StatusRequest, Reply<StatusAnswer> f) override { f(StatusAnswer{}); }
  void cancel(const Caller&, CancelRequest, Reply<CancelAnswer> f) override { f(CancelAnswer{}); }
  void logs(const Caller&, LogsRequest, Reply<LogsAnswer> f) override { f(LogsAnswer{}); }
  void nodes(const Caller&, Nothing, Reply<NodesAnswer> f) override { f(NodesAnswer{}); }
  void drain(const Caller&, DrainRequest, Reply<Nothing> f) override { f(Nothing{}); }
  void set_policy(const Caller&, PolicyRequest, Reply<Nothing> f) override { f(Nothing{}); }
  void set_quota(const Caller&, QuotaRequest, Reply<Nothing> f) override { f(Nothing{}); }
  void quotas(const Caller&, Nothing, Reply<QuotasAnswer> f) override { f(QuotasAnswer{}); }
  void set_tenant(const Caller&, TenantRequest, Reply<Nothing> f) override { f(Nothing{}); }
  void tenants(const Caller&, Nothing, Reply<TenantsAnswer> f) override { f(TenantsAnswer{}); }
  void set_limits(const Caller&, LimitsRequest, Reply<Nothing> f) override { f(Nothing{}); }
  void limits(const Caller&, Nothing, Reply<LimitsAnswer> f) override { f(LimitsAnswer{}); }
  void events(const Caller&, EventsRequest, Reply<EventsAnswer> f) override { f(EventsAnswer{}); }
  void what_if(const Caller&, WhatIfRequest, Reply<WhatIfAnswer> f) override { f(WhatIfAnswer{}); }
  void situation(const Caller&, Nothing, Reply<SituationAnswer> f) override {
    f(SituationAnswer{});
  }
  void tokens(const Caller&, TokensRequest, Reply<TokensAnswer> f) override { f(TokensAnswer{}); }
  void certificates(const Caller&, CertificatesRequest, Reply<CertificatesAnswer> f) override {
    f(CertificatesAnswer{});
  }
  void remove_node(const Caller&, RemoveNodeRequest, Reply<Nothing> f) override { f(Nothing{}); }
  void make_token(const Caller&, TokenRequest, Reply<TokenAnswer> f) override { f(TokenAnswer{}); }
  void join(const Caller&, JoinRequest, Reply<JoinAnswer> f) override { f(JoinAnswer{}); }

 private:
  std::atomic<JobNumber> jobs_{0};
};

class NoHost final : public AgentHost {
 public:
  std::int64_t connected(const Caller&, std::shared_ptr<AgentLink>) override { return 0; }
  void reported(std::int64_t, Report) override {}
  void gone(std::int64_t) override {}
};

struct Service {
  Service() {
    RpcServerOptions options{.tls = authority.issue("server")};
    options.access.identify = [](const std::string&) { return Caller{.name = "ann"}; };
    auto started = RpcServer::start(options, api, host);
    INVARIANT(started.ok(), started.error().message.c_str());
    server = std::move(started).value();
  }
  ClientOptions client() {
    return {.address = "127.0.0.1:" + std::to_string(server->port()), .tls = tls};
  }

  TestAuthority authority;
  TlsMaterial tls = authority.issue("ann");
  QuickApi api;
  NoHost host;
  std::unique_ptr<RpcServer> server;
};

Service& service() {
  static Service one;
  return one;
}

SubmitRequest small_job() { return {.job = {.argv = {"train", "--epochs", "3"}, .gpus = 2}}; }

// Every caller with a connection of its own.
void blocking_submissions(benchmark::State& state) {
  RpcClient client(service().client());
  const SubmitRequest request = small_job();
  for (auto _ : state) {
    if (!client.submit(request).ok()) state.SkipWithError("refused");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(blocking_submissions)->Threads(1)->Threads(64)->UseRealTime();

// One connection with state.range(0) calls under way at a time.
void submissions_in_flight(benchmark::State& state) {
  RpcClient client(service().client());
  const SubmitRequest request = small_job();
  std::counting_semaphore<> places(state.range(0));
  for (auto _ : state) {
    places.acquire();
    client.submit(request, [&](const Result<SubmitAnswer>&) { places.release(); });
  }
  for (std::int64_t i = 0; i < state.range(0); ++i) places.acquire();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(submissions_in_flight)->Arg(64)->UseRealTime();

}  // namespace
