#include "live/rpc/server.h"

#include <arpa/inet.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>

#include "base/files.h"
#include "live/api/fake_api.h"
#include "live/rpc/channel.h"
#include "live/rpc/client.h"
#include "live/rpc/http_tls.h"
#include "live/rpc/rest.h"
#include "live/rpc/seen_server.h"
#include "live/rpc/test_authority.h"

namespace orrery {
namespace {

class NoAgents final : public AgentHost {
 public:
  std::int64_t connected(const Caller&, std::shared_ptr<AgentLink>) override { return 1; }
  void reported(std::int64_t, Report) override {}
  void gone(std::int64_t) override {}
};

Result<Caller> by_common_name(const std::string& pem) {
  const std::string name = TestAuthority::name_in(pem);
  if (name == "stranger") return Error{Code::PermissionDenied, "strangers are not served"};
  if (name == "revoked") return Error{Code::Unauthenticated, "it was revoked by root"};
  if (name == "late") return Error{Code::Unauthenticated, "it has expired"};
  return Caller{.role = Caller::Role::User, .name = name};
}

class RpcServerTest : public testing::Test {
 protected:
  void start(const std::function<void(RpcServerOptions&)>& change = {}) {
    RpcServerOptions options{.tls = authority_.issue("server"),
                             .access = {.identify = by_common_name, .admit = {}}};
    if (change) change(options);
    auto started = RpcServer::start(options, api_, agents_);
    ASSERT_TRUE(started.ok()) << started.error().message;
    server_ = std::move(started).value();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(server_->port()); }
  ClientOptions as(const std::string& name) {
    return {.address = address(), .tls = authority_.issue(name)};
  }

  TestAuthority authority_;
  FakeApi api_;
  NoAgents agents_;
  std::unique_ptr<RpcServer> server_;
};

// The last request of the Api must be this one, and the answer the one that was set.
template <class Answer, class Request>
void expect_call(FakeApi& api, const std::string& call, const Request& request, const Answer& set,
                 const std::function<Result<Answer>()>& ask) {
  api.answers[call] = set;
  const Result<Answer> answer = ask();
  ASSERT_TRUE(answer.ok()) << call << ": " << answer.error().message;
  EXPECT_TRUE(answer.value() == set) << call;
  ASSERT_FALSE(api.asked().empty());
  const FakeApi::Asked asked = api.asked().back();
  EXPECT_EQ(asked.call, call);
  EXPECT_EQ(asked.caller, (Caller{.role = Caller::Role::User, .name = "ann"})) << call;
  ASSERT_NE(std::any_cast<Request>(&asked.request), nullptr) << call;
  EXPECT_TRUE(std::any_cast<Request>(asked.request) == request) << call;
}

TEST_F(RpcServerTest, EveryCallReachesTheApiAndBringsItsAnswerBack) {
  start();
  RpcClient client(as("ann"));
  const auto nothing = [](Status status) -> Result<Nothing> {
    if (!status.ok()) return std::move(status).error();
    return Nothing{};
  };
  const SubmitRequest submit{.job = {.argv = {"train", "--fast"}, .gpus = 2}, .key = "k"};
  expect_call<SubmitAnswer>(api_, "submit", submit, {.first = 7, .count = 2},
                            [&] { return client.submit(submit); });
  const StatusRequest status{.ids = {7}, .finished = false, .predict = true};
  expect_call<StatusAnswer>(api_, "status", status,
                            {.policy = "srtf", .jobs = {{.id = 7, .state = JobState::Paused}}},
                            [&] { return client.status(status); });
  expect_call<CancelAnswer>(api_, "cancel", CancelRequest{.ids = {7, 8}}, {.cancelled = {8}}, [&] {
    return client.cancel({.ids = {7, 8}});
  });
  const LogsRequest logs{.id = 7, .rank = 1, .offset = -10, .most = 100};
  expect_call<LogsAnswer>(api_, "logs", logs, {.bytes = std::string("\0\xff", 2), .next = 2},
                          [&] { return client.logs(logs); });
  expect_call<NodesAnswer>(api_, "nodes", Nothing{}, {.nodes = {{.name = "n1", .jobs = {7}}}},
                           [&] { return client.nodes(); });
  const DrainRequest drain{.node = "n1", .now = true};
  expect_call<Nothing>(api_, "drain", drain, {}, [&] { return nothing(client.drain(drain)); });
  const PolicyRequest policy{.policy = "las", .options = {{"levels", "3"}}};
  expect_call<Nothing>(api_, "set_policy", policy, {},
                       [&] { return nothing(client.set_policy(policy)); });
  const QuotaRequest quota{.tenant = "lab", .gpus = 4, .borrows = false};
  expect_call<Nothing>(api_, "set_quota", quota, {},
                       [&] { return nothing(client.set_quota(quota)); });
  expect_call<QuotasAnswer>(api_, "quotas", Nothing{}, {.quotas = {{.tenant = "lab", .gpus = 4}}},
                            [&] { return client.quotas(); });
  const TenantRequest tenant{.tenant = "lab", .add = {"ann"}, .forget = true};
  expect_call<Nothing>(api_, "set_tenant", tenant, {},
                       [&] { return nothing(client.set_tenant(tenant)); });
  expect_call<TenantsAnswer>(api_, "tenants", Nothing{}, {.tenants = {{.tenant = "lab"}}},
                             [&] { return client.tenants(); });
  const LimitsRequest limits{.name = "ann", .limits = {.priority = -3, .gpus = kNoLimit}};
  expect_call<Nothing>(api_, "set_limits", limits, {},
                       [&] { return nothing(client.set_limits(limits)); });
  expect_call<LimitsAnswer>(api_, "limits", Nothing{},
                            {.limits = {{.scope = LimitScope::EachTenant, .gpus_held = 3}}},
                            [&] { return client.limits(); });
  expect_call<EventsAnswer>(api_, "events", EventsRequest{.from = 3, .most = 9},
                            {.lines = {"{}", "{}"}, .next = 5},
                            [&] { return client.events({.from = 3, .most = 9}); });
  const WhatIfRequest what_if{.job = JobRequest{.argv = {"a"}}, .nodes_more = 4};
  expect_call<WhatIfAnswer>(api_, "what_if", what_if, {.text = "in an hour", .json = "{}"},
                            [&] { return client.what_if(what_if); });
  expect_call<SituationAnswer>(api_, "situation", Nothing{}, {.json = "{\"jobs\":[]}"},
                               [&] { return client.situation(); });
  const TokenRequest token{.role = Caller::Role::Admin, .name = "bob"};
  expect_call<TokenAnswer>(api_, "make_token", token, {.token = "secret"},
                           [&] { return client.make_token(token); });
  expect_call<TokensAnswer>(api_, "tokens", TokensRequest{.withdraw = "0a"},
                            {.tokens = {{.id = "0b", .role = Caller::Role::Scraper}}},
                            [&] { return client.tokens({.withdraw = "0a"}); });
  const CertificatesRequest revoke{.revoke_name = "bob", .role = Caller::Role::User};
  expect_call<CertificatesAnswer>(api_, "certificates", revoke,
                                  {.certificates = {{.serial = "4f"}}, .revoked = 1},
                                  [&] { return client.certificates(revoke); });
  const RemoveNodeRequest remove{.node = "n1"};
  expect_call<Nothing>(api_, "remove_node", remove, {},
                       [&] { return nothing(client.remove_node(remove)); });
  const JoinRequest join{
      .token = "secret", .name = "bob", .certificate_request = "PEM", .role = Caller::Role::User};
  expect_call<JoinAnswer>(api_, "join", join, {.certificate = "C", .authority = "A", .port = 7},
                          [&] { return client.join(join); });
}

TEST_F(RpcServerTest, ErrorsKeepTheirCodeAndMessage) {
  start();
  RpcClient client(as("ann"));
  for (const Code code : {Code::NotFound, Code::PermissionDenied, Code::FailedPrecondition,
                          Code::ResourceExhausted, Code::DataLoss, Code::Unauthenticated}) {
    api_.answers["cancel"] = Error{code, "there is no job 9"};
    const auto answer = client.cancel({.ids = {9}});
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, code);
    EXPECT_EQ(answer.error().message, "there is no job 9");
  }
}

TEST_F(RpcServerTest, NoByteOfGrpcIsAnsweredBeforeACertificateIsShown) {
  start();
  const auto nothing = look_at_server(address(), {});
  ASSERT_TRUE(nothing.ok()) << nothing.error().message;
  EXPECT_TRUE(nothing.value().grpc);
  EXPECT_TRUE(nothing.value().closed) << "the server began to speak HTTP/2";
  const auto known = look_at_server(address(), authority_.issue("ann"));
  ASSERT_TRUE(known.ok()) << known.error().message;
  EXPECT_FALSE(known.value().closed);
  for (const char* refused : {"revoked", "late"}) {
    const auto seen = look_at_server(address(), authority_.issue(refused));
    ASSERT_TRUE(seen.ok()) << seen.error().message;
    EXPECT_TRUE(seen.value().closed) << refused;
  }
  TlsMaterial forged = TestAuthority().issue("ann");
  const auto seen = look_at_server(address(), forged);
  ASSERT_TRUE(seen.ok()) << seen.error().message;
  EXPECT_TRUE(seen.value().closed) << "a certificate of another authority";
}

// True if a handshake of TLS 1.2 ends well, in which the server sees the client's certificate
// before its own last message; in TLS 1.3 a client does not learn whether the server took it.
bool shakes_hands(const std::string& address, const TlsMaterial& own) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  &SSL_CTX_free);
  SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
  static constexpr unsigned char kHttp2[] = {2, 'h', '2'};
  SSL_CTX_set_alpn_protos(context.get(), kHttp2, sizeof kHttp2);
  EXPECT_TRUE(own.certificate.empty() || show_as_client(*context, own));
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> client(BIO_new_ssl_connect(context.get()),
                                                             &BIO_free_all);
  BIO_set_conn_hostname(client.get(), address.c_str());
  const bool good = BIO_do_handshake(client.get()) == 1;
  ERR_clear_error();
  return good;
}

// The verifier alone would also refuse a stranger, but the library would have gone on by then.
TEST_F(RpcServerTest, TheHandshakeItselfFailsWithoutACertificate) {
  start();
  EXPECT_TRUE(shakes_hands(address(), authority_.issue("ann")));
  EXPECT_FALSE(shakes_hands(address(), {}));
}

TEST_F(RpcServerTest, JoinNeedsACertificateToo) {
  start();
  RpcClient unknown({.address = address(), .tls = TlsMaterial{.authority = authority_.root()}});
  const auto joined = unknown.join({.token = "t"});
  ASSERT_FALSE(joined.ok());
  EXPECT_EQ(joined.error().code, Code::Unauthenticated);
  EXPECT_NE(joined.error().message.find("orrery join"), std::string::npos);
  EXPECT_TRUE(RpcClient(as("ann")).join({}).ok());
  ASSERT_EQ(api_.asked().size(), 1u);
  EXPECT_EQ(api_.asked().front().caller.name, "ann");
}

TEST_F(RpcServerTest, AnExpiredCertificateIsCalledExpiredByTheClient) {
  start();
  ClientOptions late = as("late");
  late.tls = authority_.issue("late", {.from = -7200, .until = -3600});
  const auto refused = RpcClient(late).nodes();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::Unauthenticated);
  EXPECT_NE(refused.error().message.find("the certificate of late expired on "), std::string::npos)
      << refused.error().message;
}

TEST_F(RpcServerTest, ARefusedCallerGetsTheReasonFromTheHttpsPort) {
  start();
  ClientOptions revoked = as("revoked");
  RestOptions rest{.access = {.identify = by_common_name}};
  rest.http.tls = authority_.issue("server");
  const auto https = RestServer::start(rest, api_);
  ASSERT_TRUE(https.ok()) << https.error().message;
  revoked.https_port = https.value()->port();
  const auto refused = RpcClient(revoked).nodes();
  EXPECT_EQ(refused.error().message, "it was revoked by root");
  EXPECT_EQ(refused.error().code, Code::Unauthenticated);

  ClientOptions wrong_port = as("ann");
  wrong_port.address = "127.0.0.1:" + std::to_string(https.value()->port());
  const auto confused = RpcClient(wrong_port).nodes();
  EXPECT_NE(confused.error().message.find("is the scheduler's HTTPS port"), std::string::npos)
      << confused.error().message;
}

// As one that stops does, too, between the handshake and its first byte.
TEST_F(RpcServerTest, AServerThatClosesTheConnectionMayBeAskedAgainUnlessItGivesAReason) {
  start([](RpcServerOptions& options) {
    options.access.identify = [](const std::string&) -> Result<Caller> {
      return Error{Code::Unauthenticated, "this port takes no caller"};
    };
  });
  ClientOptions ann = as("ann");
  const auto unknown = RpcClient(ann).nodes();
  EXPECT_EQ(unknown.error().code, Code::Unavailable) << unknown.error().message;
  EXPECT_NE(unknown.error().message.find("closes the connection of ann"), std::string::npos)
      << unknown.error().message;
  EXPECT_NE(unknown.error().message.find("revoked"), std::string::npos) << unknown.error().message;
  RestOptions rest{.access = {.identify = by_common_name}};
  rest.http.tls = authority_.issue("server");
  auto started = RestServer::start(rest, api_);
  ASSERT_TRUE(started.ok()) << started.error().message;
  auto https = std::move(started).value();
  ann.https_port = https->port();
  const auto valid = RpcClient(ann).nodes();
  EXPECT_EQ(valid.error().code, Code::Unavailable) << valid.error().message;
  EXPECT_EQ(valid.error().message.find("certificate of ann"), std::string::npos)
      << valid.error().message;
  https.reset();
  EXPECT_EQ(RpcClient(ann).nodes().error().code, Code::Unavailable);
}

TEST_F(RpcServerTest, ANewCertificateInItsFilesIsShownWithoutARestart) {
  const std::string folder = testing::TempDir();
  const TlsFiles files{
      .certificate = folder + "/shown.pem", .key = folder + "/shown.key", .look_every_s = 1};
  const auto put = [&](const TlsMaterial& material) {
    ASSERT_TRUE(write_file_atomically(files.key, material.key).ok());
    ASSERT_TRUE(write_file_atomically(files.certificate, material.certificate).ok());
  };
  TlsMaterial first = authority_.issue("first");
  first.files = files;
  put(first);
  start([&](RpcServerOptions& options) { options.tls = first; });
  const TlsMaterial ann = authority_.issue("ann");
  const auto shown = [&] {
    const auto seen = look_at_server(address(), ann);
    return seen.ok() ? TestAuthority::name_in(seen.value().certificate) : seen.error().message;
  };
  EXPECT_EQ(shown(), "first");
  RpcClient before(as("ann"));
  EXPECT_TRUE(before.nodes().ok());
  put(authority_.issue("second"));
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (shown() != "second" && std::chrono::steady_clock::now() < patience) {
  }
  EXPECT_EQ(shown(), "second");
  EXPECT_TRUE(before.nodes().ok()) << "a connection under the old certificate goes on";
}

TEST_F(RpcServerTest, CertificatesOfAnotherAuthorityAreRefusedByBothSides) {
  start();
  TestAuthority other;
  TlsMaterial forged = other.issue("ann");
  forged.authority = authority_.root();
  RpcClient forger({.address = address(), .tls = forged});
  EXPECT_EQ(forger.status({}).error().code, Code::Unauthenticated);
  RpcClient doubter({.address = address(), .tls = other.issue("ann")});
  const auto refused = doubter.status({});
  EXPECT_EQ(refused.error().code, Code::Unauthenticated);
  EXPECT_NE(refused.error().message.find(address()), std::string::npos) << refused.error().message;
  EXPECT_TRUE(api_.asked().empty());
}

TEST_F(RpcServerTest, ACallerThatIsUnknownOrNotAdmittedIsRefused) {
  start([](RpcServerOptions& options) {
    options.access.admit = [](const Caller& caller) -> Status {
      if (caller.name != "greedy") return {};
      return Error{Code::ResourceExhausted, "too fast"};
    };
  });
  EXPECT_EQ(RpcClient(as("stranger")).nodes().error().message, "strangers are not served");
  EXPECT_EQ(RpcClient(as("greedy")).nodes().error().code, Code::ResourceExhausted);
  EXPECT_TRUE(RpcClient(as("ann")).nodes().ok());
}

TEST_F(RpcServerTest, AnAddressWhereNoServerListensIsNamed) {
  RpcClient client({.address = "127.0.0.1:1", .deadline = std::chrono::seconds(20)});
  const auto answer = client.nodes();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::Unavailable);
  EXPECT_NE(answer.error().message.find("127.0.0.1:1"), std::string::npos);
  EXPECT_NE(answer.error().message.find("orrery serve"), std::string::npos);
}

TEST_F(RpcServerTest, AClientThatCouldNotConnectReachesAServerThatStartsLater) {
  start();
  const std::string place = address();
  RpcClient client(as("ann"));
  server_.reset();
  EXPECT_FALSE(client.nodes().ok());
  start([&](RpcServerOptions& options) { options.address = place; });
  // The library tries again after a tenth of a second, and these calls would fail within less.
  bool reached = false;
  for (int call = 0; call < 5 && !reached; ++call) reached = client.nodes().ok();
  EXPECT_TRUE(reached);
}

TEST_F(RpcServerTest, AMessageThatIsTooLargeIsRefusedAndNothingElseSuffers) {
  start([](RpcServerOptions& options) { options.message_bytes_max = 10'000; });
  RpcClient client(as("ann"));
  const auto refused = client.submit({.job = {.argv = {std::string(20'000, 'x')}}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::ResourceExhausted);
  EXPECT_TRUE(client.submit({.job = {.argv = {"x"}}}).ok());
  EXPECT_EQ(api_.asked().size(), 1u);
}

TEST_F(RpcServerTest, AWrongValueIsRefusedByItsName) {
  start();
  RpcClient client(as("ann"));
  const auto refused = client.logs({.id = 1, .most = 0});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::InvalidArgument);
  EXPECT_EQ(refused.error().message, "most: 0 is below 1");
}

TEST_F(RpcServerTest, GarbageOnThePortAndUnknownMethodsChangeNothing) {
  start();
  const int raw = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<std::uint16_t>(server_->port()));
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(raw, reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
  const std::string garbage = "GET / HTTP/1.1\r\n\r\n" + std::string(5000, '\xff');
  EXPECT_GT(send(raw, garbage.data(), garbage.size(), MSG_NOSIGNAL), 0);
  close(raw);

  grpc::GenericStub generic(open_channel(as("ann")));
  grpc::ClientContext context;
  const grpc::Slice empty;
  grpc::ByteBuffer request(&empty, 1);
  grpc::ByteBuffer answer;
  std::promise<grpc::Status> done;
  generic.UnaryCall(&context, "/orrery.v1.Scheduler/Destroy", {}, &request, &answer,
                    [&](grpc::Status status) { done.set_value(status); });
  EXPECT_EQ(done.get_future().get().error_code(), grpc::UNIMPLEMENTED);
  EXPECT_TRUE(RpcClient(as("ann")).nodes().ok());
}

TEST_F(RpcServerTest, PlainConnectionsStayOnThisMachine) {
  RpcServerOptions options{.address = "0.0.0.0:0", .access = {.identify = by_common_name}};
  const auto refused = RpcServer::start(options, api_, agents_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::FailedPrecondition);
  start([](RpcServerOptions& plain) { plain.tls.reset(); });
  EXPECT_TRUE(RpcClient({.address = address()}).nodes().ok());
}

TEST_F(RpcServerTest, OnlyOneServerListensOnAPort) {
  start();
  RpcServerOptions options{.address = address(),
                           .tls = authority_.issue("server"),
                           .access = {.identify = by_common_name}};
  const auto second = RpcServer::start(options, api_, agents_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::Unavailable);
}

TEST_F(RpcServerTest, CertificateAndKeyMustBelongTogether) {
  RpcServerOptions options{.tls = authority_.issue("server"),
                           .access = {.identify = by_common_name}};
  options.tls->key = authority_.issue("other").key;
  EXPECT_FALSE(RpcServer::start(options, api_, agents_).ok());
}

TEST_F(RpcServerTest, AReplyThatComesAfterItsCallerHasGoneGoesNowhere) {
  start();
  api_.hold = true;
  ClientOptions hasty = as("ann");
  hasty.deadline = std::chrono::milliseconds(300);
  const auto answer = RpcClient(hasty).nodes();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::DeadlineExceeded);
  for (const auto& reply : api_.take_held(1)) reply();
}

TEST_F(RpcServerTest, StopEndsCallsThatWaitAndLateRepliesGoNowhere) {
  start();
  api_.hold = true;
  RpcClient client(as("ann"));
  auto waiting = std::async(std::launch::async, [&] { return client.nodes(); });
  const auto held = api_.take_held(1);
  server_->stop();
  const auto ended = waiting.get();
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, Code::Unavailable) << "so that it is asked again";
  for (const auto& reply : held) reply();
}

TEST_F(RpcServerTest, MoreCallsThanAllowedAreRefusedAtOnce) {
  start([](RpcServerOptions& options) { options.calls_max = 2; });
  api_.hold = true;
  RpcClient client(as("ann"));
  auto first = std::async(std::launch::async, [&] { return client.nodes(); });
  auto second = std::async(std::launch::async, [&] { return client.nodes(); });
  const auto held = api_.take_held(2);
  EXPECT_EQ(client.nodes().error().code, Code::ResourceExhausted);
  for (const auto& reply : held) reply();
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(second.get().ok());
}

TEST_F(RpcServerTest, ALongWaitIsCut) {
  start();
  RpcClient client(as("ann"));
  ASSERT_TRUE(client.logs({.id = 1, .wait = std::chrono::hours(5)}).ok());
  EXPECT_EQ(std::any_cast<LogsRequest>(api_.asked().back().request).wait, kWaitMax);
  ASSERT_TRUE(client.events({.wait = std::chrono::seconds(3)}).ok());
  EXPECT_EQ(std::any_cast<EventsRequest>(api_.asked().back().request).wait,
            std::chrono::seconds(3));
}

TEST_F(RpcServerTest, ManySubmissionsCanBeUnderWayAtATime) {
  start();
  api_.hold = true;
  RpcClient client(as("ann"));
  constexpr int kMany = 500;
  std::atomic<int> answered{0};
  std::promise<void> all;
  for (int i = 0; i < kMany; ++i) {
    client.submit({.job = {.argv = {"x"}}}, [&](Result<SubmitAnswer> answer) {
      EXPECT_TRUE(answer.ok());
      if (++answered == kMany) all.set_value();
    });
  }
  for (const auto& reply : api_.take_held(kMany)) reply();
  all.get_future().get();
  EXPECT_EQ(answered, kMany);
}

}  // namespace
}  // namespace orrery
