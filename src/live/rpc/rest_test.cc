#include "live/rpc/rest.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <future>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "live/api/fake_api.h"
#include "live/rpc/http_tls.h"
#include "live/rpc/https_client.h"
#include "live/rpc/rest_calls.h"
#include "live/rpc/seen_server.h"
#include "live/rpc/server.h"
#include "live/rpc/test_authority.h"

namespace orrery {
namespace {

using Json = nlohmann::json;

Result<Caller> local_ann(const std::string&) {
  return Caller{.role = Caller::Role::User, .name = "ann"};
}

class RestCallsTest : public testing::Test {
 protected:
  HttpAnswer ask(const std::string& method, const std::string& path, const std::string& body = "",
                 std::multimap<std::string, std::string> query = {}) {
    return calls_.answer({.method = method,
                          .path = path,
                          .query = std::move(query),
                          .content_type = "application/json",
                          .host = "localhost:80",
                          .body = body});
  }
  template <class Request>
  Request last() {
    return std::any_cast<Request>(api_.asked().back().request);
  }
  std::string message(const HttpAnswer& answer) {
    return Json::parse(answer.body).at("error").at("message");
  }

  FakeApi api_;
  RestOptions options_{.access = {.identify = local_ann, .admit = {}},
                       .metrics = [](const Caller&) -> Result<std::string> {
                         return std::string("orrery_jobs 3\n");
                       }};
  RestCalls calls_{options_, api_};
};

TEST_F(RestCallsTest, AJobIsSubmittedAsJson) {
  api_.answers["submit"] = SubmitAnswer{.first = 12, .count = 1};
  const auto answer = ask("POST", "/v1/jobs",
                          R"({"job":{"argv":["train"],"gpus":4,"memory_bytes":1024,)"
                          R"("environment":[{"name":"A","value":"1"}],"deadline_ns":"5"}})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(Json::parse(answer.body), Json::parse(R"({"first":"12","count":"1","warnings":[]})"));
  const JobRequest wanted{.argv = {"train"},
                          .environment = {{"A", "1"}},
                          .gpus = 4,
                          .memory_bytes = 1024,
                          .deadline = Duration(5)};
  EXPECT_EQ(last<SubmitRequest>().job, wanted);
  EXPECT_EQ(api_.asked().back().caller.name, "ann");
}

TEST_F(RestCallsTest, EveryPathAsksItsCall) {
  EXPECT_EQ(ask("GET", "/v1/jobs", "", {{"user", "bob"}, {"finished", "false"}}).status, 200);
  EXPECT_EQ(last<StatusRequest>(), (StatusRequest{.finished = false, .user = "bob"}));
  EXPECT_EQ(ask("GET", "/v1/jobs/7").status, 200);
  EXPECT_EQ(last<StatusRequest>(), (StatusRequest{.ids = {7}}));
  EXPECT_EQ(ask("DELETE", "/v1/jobs/7").status, 200);
  EXPECT_EQ(last<CancelRequest>(), (CancelRequest{.ids = {7}}));
  const auto logs =
      ask("GET", "/v1/jobs/7/logs", "", {{"rank", "2"}, {"offset", "-5"}, {"wait", "10s"}});
  EXPECT_EQ(logs.status, 200) << logs.body;
  EXPECT_EQ(last<LogsRequest>(),
            (LogsRequest{.id = 7, .rank = 2, .offset = -5, .wait = std::chrono::seconds(10)}));
  EXPECT_EQ(ask("GET", "/v1/nodes").status, 200);
  EXPECT_EQ(api_.asked().back().call, "nodes");
  EXPECT_EQ(ask("POST", "/v1/nodes/n1/drain", R"({"now":true})").status, 200);
  EXPECT_EQ(last<DrainRequest>(), (DrainRequest{.node = "n1", .now = true}));
  EXPECT_EQ(ask("POST", "/v1/nodes/n1/resume").status, 200);
  EXPECT_EQ(last<DrainRequest>(), (DrainRequest{.node = "n1", .resume = true}));
  EXPECT_EQ(ask("GET", "/v1/quotas").status, 200);
  EXPECT_EQ(api_.asked().back().call, "quotas");
  EXPECT_EQ(ask("PUT", "/v1/quotas", R"({"tenant":"lab","gpus":4})").status, 200);
  EXPECT_EQ(last<QuotaRequest>(), (QuotaRequest{.tenant = "lab", .gpus = 4}));
  EXPECT_EQ(ask("GET", "/v1/tenants").status, 200);
  EXPECT_EQ(api_.asked().back().call, "tenants");
  EXPECT_EQ(ask("PUT", "/v1/tenants", R"({"tenant":"lab","add":["ann"]})").status, 200);
  EXPECT_EQ(last<TenantRequest>(), (TenantRequest{.tenant = "lab", .add = {"ann"}}));
  EXPECT_EQ(ask("GET", "/v1/limits").status, 200);
  EXPECT_EQ(api_.asked().back().call, "limits");
  EXPECT_EQ(ask("PUT", "/v1/limits",
                R"({"scope":"Tenant","name":"lab","limits":{"gpus":8},"inherit":["pending"]})")
                .status,
            200);
  EXPECT_EQ(last<LimitsRequest>(), (LimitsRequest{.scope = LimitScope::Tenant,
                                                  .name = "lab",
                                                  .limits = {.gpus = 8},
                                                  .inherit = {"pending"}}));
  EXPECT_EQ(ask("PUT", "/v1/policy", R"({"policy":"las","options":{"levels":"3"}})").status, 200);
  EXPECT_EQ(last<PolicyRequest>(), (PolicyRequest{.policy = "las", .options = {{"levels", "3"}}}));
  EXPECT_EQ(ask("GET", "/v1/events", "", {{"from", "7"}, {"wait", "1h"}}).status, 200);
  EXPECT_EQ(last<EventsRequest>(), (EventsRequest{.from = 7, .wait = kWaitMax}));
  EXPECT_EQ(ask("POST", "/v1/whatif", R"({"nodes_more":4})").status, 200);
  EXPECT_EQ(last<WhatIfRequest>(), (WhatIfRequest{.nodes_more = 4}));
  EXPECT_EQ(ask("GET", "/metrics").body, "orrery_jobs 3\n");
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

TEST_F(RestCallsTest, AnswersSpellOutEveryFieldUnderItsName) {
  api_.answers["status"] =
      StatusAnswer{.now_s = 1.5, .policy = "srtf", .jobs = {{.id = 7, .state = JobState::Paused}}};
  const Json answer = Json::parse(ask("GET", "/v1/jobs").body);
  EXPECT_EQ(answer.at("policy"), "srtf");
  EXPECT_EQ(answer.at("jobs").at(0).at("state"), "Paused");
  EXPECT_EQ(answer.at("jobs").at(0).at("memory_bytes"), "0");
  EXPECT_FALSE(answer.at("jobs").at(0).contains("started_s"));
}

TEST_F(RestCallsTest, AnUnknownKeyIsNamedWithTheNearestRightOne) {
  const auto inner = ask("POST", "/v1/jobs", R"({"job":{"argv":["a"],"gpu":1}})");
  EXPECT_EQ(inner.status, 400);
  EXPECT_EQ(message(inner), R"(job: "gpu": there is no such key; the nearest is "gpus")");
  EXPECT_EQ(message(ask("POST", "/v1/jobs", R"({"jobs":{}})")),
            R"("jobs": there is no such key; the nearest is "job")");
  EXPECT_EQ(message(ask("POST", "/v1/jobs", R"({"job":{"environment":[{"nam":"A"}]}})")),
            R"(job: environment: "nam": there is no such key; the nearest is "name")");
  EXPECT_EQ(message(ask("GET", "/v1/events", "", {{"fron", "1"}})),
            R"("fron": there is no such key; the nearest is "from")");
  EXPECT_TRUE(api_.asked().empty());
}

TEST_F(RestCallsTest, BodiesThatAreNotWhatIsAskedForAreRefused) {
  const std::string deep = R"({"key":)" + std::string(1'000'000, '[') + "}";
  const std::string closed =
      R"({"key":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("[]"), std::string("7"), deep, closed,
        std::string(R"({"job":7})"), std::string(R"({"job":{"argv":"train"}})"),
        std::string(R"({"job":{"gpus":99999999999}})"), std::string(R"({"job":{"gpus":1.5}})"),
        std::string(R"({"job":{"argv":[{}]}})"), std::string("{\"key\":\"\xff\"}"),
        std::string(R"({"job":{"gpus":"many"}})")}) {
    const auto answer = ask("POST", "/v1/jobs", body);
    EXPECT_EQ(answer.status, 400) << body.substr(0, 60) << " " << answer.body;
    EXPECT_EQ(Json::parse(answer.body).at("error").at("code"), "InvalidArgument");
  }
  EXPECT_EQ(ask("GET", "/v1/events", "", {{"wait", "soon"}}).status, 400);
  EXPECT_EQ(ask("GET", "/v1/events", "", {{"from", "\xff"}}).status, 400);
  EXPECT_EQ(ask("GET", "/v1/jobs", "", {{"predict", "maybe"}}).status, 400);
  EXPECT_EQ(ask("GET", "/v1/jobs/seven").status, 400);
  EXPECT_TRUE(api_.asked().empty());
}

TEST_F(RestCallsTest, UnknownPathsAndWrongMethodsHaveDifferentStatusCodes) {
  for (const char* path : {"/", "/v1", "/v2/jobs", "/v1/job", "/v1/jobs/7/logs/x", "/v1/nodes/n1/x",
                           "/v1/nodes//drain", "//v1/jobs", "/v1/jobs/"}) {
    EXPECT_EQ(ask("GET", path).status, 404) << path;
  }
  const auto wrong = ask("DELETE", "/v1/jobs");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(message(wrong), "DELETE is not taken here; use GET or POST");
  EXPECT_EQ(ask("POST", "/v1/jobs/7/logs").status, 405);
}

TEST_F(RestCallsTest, ErrorsOfTheApiHaveTheStatusThatFits) {
  const std::pair<Code, int> codes[] = {
      {Code::InvalidArgument, 400},    {Code::Unauthenticated, 401},
      {Code::PermissionDenied, 403},   {Code::NotFound, 404},
      {Code::AlreadyExists, 409},      {Code::Aborted, 409},
      {Code::FailedPrecondition, 409}, {Code::ResourceExhausted, 429},
      {Code::Internal, 500},           {Code::Unimplemented, 501},
      {Code::Unavailable, 503},        {Code::DeadlineExceeded, 504}};
  for (const auto& [code, status] : codes) {
    api_.answers["cancel"] = Error{code, "no \"job\"\n \xff"};
    const auto answer = ask("DELETE", "/v1/jobs/9");
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(message(answer), "no \"job\"\n \xef\xbf\xbd");
  }
}

TEST_F(RestCallsTest, PagesFromElsewhereCannotMakeABrowserCall) {
  HttpRequest form{.method = "POST", .path = "/v1/nodes/n1/drain", .host = "localhost"};
  EXPECT_EQ(calls_.answer(form).status, 400);
  form.content_type = "application/json";
  form.host = "evil.example:80";
  EXPECT_EQ(calls_.answer(form).status, 403);
  form.host = "127.0.0.1.evil.example:80";
  EXPECT_EQ(calls_.answer(form).status, 403) << "a name that looks like an address";
  form.host = "127.0.0.1";
  EXPECT_EQ(calls_.answer(form).status, 200);
}

TEST_F(RestCallsTest, StopAnswersThoseThatWait) {
  api_.hold = true;
  auto waiting = std::async(std::launch::async, [&] { return ask("GET", "/v1/nodes"); });
  const auto held = api_.take_held(1);
  calls_.stop();
  EXPECT_EQ(waiting.get().status, 503);
  for (const auto& reply : held) reply();
}

class RestServerTest : public testing::Test {
 protected:
  void start(bool tls) {
    RestOptions options{.access = {.identify = [](const std::string& pem) -> Result<Caller> {
                          const std::string name = TestAuthority::name_in(pem);
                          if (name != "late") return Caller{.name = name};
                          return Error{Code::Unauthenticated, "it has expired"};
                        }}};
    options.http.threads = 4;
    options.http.body_bytes_max = 10'000;
    if (tls) options.http.tls = authority_.issue("server");
    auto started = RestServer::start(options, api_);
    ASSERT_TRUE(started.ok()) << started.error().message;
    server_ = std::move(started).value();
  }
  // With the certificate given; none: without one.
  std::unique_ptr<httplib::SSLClient> client(const TlsMaterial* shown) {
    // By number: a machine need not know the name.
    auto made = std::make_unique<httplib::SSLClient>("127.0.0.1", server_->port());
    SSL_CTX* const context = made->ssl_context();
    if (shown != nullptr) {
      EXPECT_TRUE(set_up_tls(*context, *shown));
    }
    made->enable_server_certificate_verification(false);
    return made;
  }

  TestAuthority authority_;
  FakeApi api_;
  std::unique_ptr<RestServer> server_;
};

TEST_F(RestServerTest, TheCertificateNamesTheCaller) {
  start(true);
  const TlsMaterial ann = authority_.issue("ann");
  const auto answer = client(&ann)->Get("/v1/nodes");
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->status, 200) << answer->body;
  EXPECT_EQ(api_.asked().back().caller.name, "ann");
}

TEST_F(RestServerTest, WithoutACertificateOnlyItsHealthIsShown) {
  start(true);
  const auto nodes = client(nullptr)->Get("/v1/nodes"), health = client(nullptr)->Get("/healthz");
  ASSERT_TRUE(nodes && health);
  EXPECT_EQ(nodes->status, 401);
  EXPECT_EQ(health->status, 200);
  EXPECT_TRUE(api_.asked().empty());
}

TEST_F(RestServerTest, ACertificateOfAnotherAuthorityIsRefused) {
  start(true);
  const TlsMaterial forged = TestAuthority().issue("ann");
  EXPECT_FALSE(client(&forged)->Get("/v1/nodes"));
  EXPECT_TRUE(api_.asked().empty());
}

TEST_F(RestServerTest, ATokenIsTradedWithoutACertificate) {
  start(true);
  const HttpsPlace place{.address = "127.0.0.1:" + std::to_string(server_->port()),
                         .tls = TlsMaterial{.authority = authority_.root()}};
  api_.answers["join"] = JoinAnswer{.certificate = "C", .authority = "A", .port = 7077};
  const JoinRequest request{
      .token = "t", .name = "ann", .certificate_request = "PEM", .role = Caller::Role::Scraper};
  const auto joined = join_over_https(place, request);
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  EXPECT_EQ(joined.value(), (JoinAnswer{.certificate = "C", .authority = "A", .port = 7077}));
  EXPECT_EQ(api_.asked().back().caller, Caller{});
  EXPECT_EQ(std::any_cast<JoinRequest>(api_.asked().back().request), request);
  api_.answers["join"] = Error{Code::Unauthenticated, "the token is not good"};
  const auto refused = join_over_https(place, request);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::Unauthenticated);
  EXPECT_EQ(refused.error().message, "the token is not good");
}

TEST_F(RestServerTest, ATokenIsNotSentToAServerOfAnotherAuthority) {
  start(true);
  const HttpsPlace place{.address = "127.0.0.1:" + std::to_string(server_->port()),
                         .tls = TlsMaterial{.authority = TestAuthority().root()}};
  EXPECT_FALSE(join_over_https(place, {.token = "t"}).ok());
  EXPECT_TRUE(api_.asked().empty());
}

TEST_F(RestServerTest, ACertificateThatHasEndedIsRefusedInWords) {
  start(true);
  const TlsMaterial late = authority_.issue("late", {.from = -7200, .until = -3600});
  const auto answer = client(&late)->Get("/v1/me");
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->status, 401);
  EXPECT_NE(answer->body.find("it has expired"), std::string::npos) << answer->body;
  EXPECT_TRUE(api_.asked().empty());
  const TlsMaterial ann = authority_.issue("ann");
  const auto me = client(&ann)->Get("/v1/me");
  ASSERT_TRUE(me);
  EXPECT_EQ(Json::parse(me->body), (Json{{"name", "ann"}, {"role", "User"}}));
}

TEST_F(RestServerTest, ANewCertificateInItsFilesIsShownAtTheNextHandshake) {
  const TlsFiles files{.certificate = testing::TempDir() + "/https.pem",
                       .key = testing::TempDir() + "/https.key"};
  const auto put = [&](const TlsMaterial& material) {
    ASSERT_TRUE(write_file_atomically(files.key, material.key).ok());
    ASSERT_TRUE(write_file_atomically(files.certificate, material.certificate).ok());
  };
  TlsMaterial first = authority_.issue("first");
  first.files = files;
  put(first);
  RestOptions options{.access = {.identify = local_ann, .admit = {}}};
  options.http.tls = first;
  const auto started = RestServer::start(options, api_);
  ASSERT_TRUE(started.ok());
  const std::string address = "127.0.0.1:" + std::to_string(started.value()->port());
  const auto shown = [&] {
    const auto seen = look_at_server(address, {});
    return seen.ok() ? TestAuthority::name_in(seen.value().certificate) : seen.error().message;
  };
  EXPECT_EQ(shown(), "first");
  put(authority_.issue("second"));
  EXPECT_EQ(shown(), "second");
  ASSERT_TRUE(write_file_atomically(files.certificate, "garbage").ok());
  EXPECT_EQ(shown(), "first") << "what it was started with";
  const TlsMaterial ann = authority_.issue("ann");
  const HttpsPlace place{.address = address, .tls = ann};
  EXPECT_TRUE(ask_own_name(place).ok());
  put(authority_.issue("third"));
  const auto answered = ask_own_name(place);
  EXPECT_TRUE(answered.ok()) << answered.error().message;
}

TEST_F(RestCallsTest, APortForJoiningAloneServesNothingElse) {
  RestOptions options{.access = {.identify = local_ann, .admit = {}}, .join_only = true};
  RestCalls calls(options, api_);
  const auto get = [&](const std::string& path) {
    return calls.answer({.method = "GET", .path = path, .host = "localhost:80"}).status;
  };
  EXPECT_EQ(get("/healthz"), 200);
  EXPECT_EQ(get("/v1/me"), 200);
  EXPECT_EQ(get("/v1/jobs"), 404);
  EXPECT_EQ(get("/metrics"), 404);
  EXPECT_EQ(get("/v1/join"), 405);
  const HttpRequest join{.method = "POST",
                         .path = "/v1/join",
                         .content_type = "application/json",
                         .host = "localhost:80",
                         .body = R"({"token":"t"})"};
  EXPECT_EQ(calls.answer(join).status, 200);
  EXPECT_EQ(api_.asked().size(), 1u);
}

TEST_F(RestCallsTest, AdmissionHasItsPaths) {
  EXPECT_EQ(ask("GET", "/v1/tokens").status, 200);
  EXPECT_EQ(last<TokensRequest>(), TokensRequest{});
  EXPECT_EQ(ask("POST", "/v1/tokens", R"({"role":"Scraper","name":"prometheus"})").status, 200);
  EXPECT_EQ(last<TokenRequest>(),
            (TokenRequest{.role = Caller::Role::Scraper, .name = "prometheus"}));
  EXPECT_EQ(ask("DELETE", "/v1/tokens/0a1b").status, 200);
  EXPECT_EQ(last<TokensRequest>(), (TokensRequest{.withdraw = "0a1b"}));
  EXPECT_EQ(ask("GET", "/v1/certificates").status, 200);
  EXPECT_EQ(last<CertificatesRequest>(), CertificatesRequest{});
  EXPECT_EQ(ask("POST", "/v1/certificates/revoke", R"({"revoke_serial":"4f"})").status, 200);
  EXPECT_EQ(last<CertificatesRequest>(), (CertificatesRequest{.revoke_serial = "4f"}));
  EXPECT_EQ(ask("DELETE", "/v1/nodes/n1").status, 200);
  EXPECT_EQ(last<RemoveNodeRequest>(), (RemoveNodeRequest{.node = "n1"}));
}

TEST_F(RestServerTest, ABodyThatIsTooLargeIsRefusedAndTheServerGoesOn) {
  start(false);
  httplib::Client plain("127.0.0.1", server_->port());
  const auto large = plain.Post("/v1/jobs", std::string(20'000, ' '), "application/json");
  ASSERT_TRUE(large);
  EXPECT_EQ(large->status, 413);
  EXPECT_EQ(Json::parse(large->body).at("error").at("code"), "ResourceExhausted");
  const auto small = plain.Post("/v1/jobs", R"({"job":{"argv":["a"]}})", "application/json");
  ASSERT_TRUE(small);
  EXPECT_EQ(small->status, 200) << small->body;
}

TEST_F(RestServerTest, PlainConnectionsStayOnThisMachine) {
  RestOptions options{.access = {.identify = local_ann, .admit = {}}};
  options.http.address = "0.0.0.0:0";
  const auto refused = RestServer::start(options, api_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::FailedPrecondition);
}

TEST_F(RestServerTest, OnlyOneServerListensOnAPort) {
  start(false);
  RestOptions options{.access = {.identify = local_ann, .admit = {}}};
  options.http.address = "127.0.0.1:" + std::to_string(server_->port());
  EXPECT_EQ(RestServer::start(options, api_).error().code, Code::Unavailable);
}

TEST_F(RestServerTest, ManyConnectionsAreServedByFewThreads) {
  start(false);
  std::vector<std::future<int>> answers;
  for (int i = 0; i < 32; ++i) {
    answers.push_back(std::async(std::launch::async, [port = server_->port()] {
      httplib::Client plain("127.0.0.1", port);
      plain.set_read_timeout(60, 0);
      const auto answer = plain.Get("/v1/nodes");
      return answer ? answer->status : 0;
    }));
  }
  for (auto& answer : answers) EXPECT_EQ(answer.get(), 200);
}

}  // namespace
}  // namespace orrery
