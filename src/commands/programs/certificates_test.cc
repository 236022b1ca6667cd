// Joining, renewing, expiring and revoking over real TLS, with the scheduler's clock in the test's
// hands.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>

#include "commands/programs/callers.h"
#include "commands/programs/listeners.h"
#include "commands/programs/own_certificate.h"
#include "commands/programs/remote_client.h"
#include "commands/programs/upkeep.h"
#include "live/agent/test_jobs.h"
#include "live/auth/certificates.h"
#include "live/auth/limits.h"
#include "live/client/command_context.h"
#include "live/daemon/server/server.h"
#include "live/rpc/client.h"
#include "live/rpc/seen_server.h"

namespace orrery {
namespace {

using namespace std::chrono_literals;
constexpr std::chrono::hours kDay{24};

class SilentLink final : public AgentLink {
 public:
  void send(Orders orders) override {
    const std::lock_guard lock(mutex_);
    if (!orders.refused.empty()) refused_.set_value(orders.refused);
  }
  void close() override {}
  std::string wait_for_refusal() { return refused_.get_future().get(); }

 private:
  std::mutex mutex_;
  std::promise<std::string> refused_;
};

// A scheduler as `orrery serve` puts it together. Clients judge the server's certificate by the
// machine's clock, so the scheduler's begins 61 days before it, which is when that certificate is
// renewed.
class CertificatesTest : public testing::Test {
 protected:
  void SetUp() override { begin(); }
  void TearDown() override { end(); }

  void begin() {
    auto trust = load_or_make_local(trust_folder(), {}, now_.load());
    ASSERT_TRUE(trust.ok()) << trust.error().message;
    trust_ = std::make_unique<LocalTrust>(std::move(trust).value());
    revocations_ = std::make_shared<Revocations>();
    callers_ = std::make_unique<Callers>(
        CallersOptions{.ca_pem = trust_->server.ca_pem,
                       .revocations = revocations_,
                       .now = [this] { return now_.load(); },
                       .say = [this](const std::string& line) { say(line); }});
    listeners_ = std::make_unique<Listeners>();
    auto server =
        SchedulerServer::start({.state = folder_.path(),
                                .say = [this](const std::string& line) { say(line); },
                                .gatekeeper = {.trust = trust_.get(),
                                               .ports = [this] { return listeners_->ports(); },
                                               .revocations = revocations_,
                                               .now = [this] { return now_.load(); }}});
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(server).value();
    const Status open = listeners_->open({.state = folder_.path(),
                                          .listen = "127.0.0.1:0",
                                          .access = callers_->access(),
                                          .say = [this](const std::string& line) { say(line); }},
                                         trust_->server, *server_, *server_);
    ASSERT_TRUE(open.ok()) << open.error().message;
    upkeep_ = std::make_unique<Upkeep>(
        UpkeepOptions{.directory = trust_folder(),
                      .check_callers = [this] { listeners_->rpc().check_agents_again(); },
                      .let_agents_reconnect = [this] { ++reconnects_; },
                      .say = [this](const std::string& line) { say(line); }},
        trust_->server, now_.load());
  }
  void end() {
    if (listeners_ != nullptr) listeners_->stop();
    if (server_ != nullptr) {
      EXPECT_TRUE(server_->stop().ok());
    }
    server_.reset();
    listeners_.reset();
  }

  std::string trust_folder() const { return folder_.path() + "/trust"; }
  std::string address() const { return listeners_->address(); }
  std::string https_address() const {
    return "127.0.0.1:" + std::to_string(listeners_->ports().https);
  }

  template <class Request, class Answer>
  Result<Answer> ask(void (Api::*call)(const Caller&, Request, Reply<Answer>), Request request) {
    std::promise<Result<Answer>> promise;
    (server_.get()->*call)(root_, std::move(request),
                           [&](Result<Answer> answer) { promise.set_value(std::move(answer)); });
    return promise.get_future().get();
  }
  std::string token(Caller::Role role, const std::string& name, int uses = 1) {
    const auto made = ask(&Api::make_token, TokenRequest{.role = role, .name = name, .uses = uses});
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? made.value().token : "";
  }
  std::string keys_of(const std::string& name) const { return folder_.path() + "/keys-" + name; }
  Result<std::string> join(Caller::Role role, const std::string& name, const std::string& token,
                           const std::string& server = "") {
    return join_remote({.server = server.empty() ? address() : server,
                        .token = token,
                        .role = role,
                        .name = name,
                        .credentials = keys_of(name),
                        .certificate = "client"});
  }
  void join(Caller::Role role, const std::string& name) {
    const auto joined = join(role, name, token(role, name));
    ASSERT_TRUE(joined.ok()) << joined.error().message;
  }
  Credentials credentials(const std::string& name) const {
    auto found = load_credentials(keys_of(name), "client");
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
    return found.ok() ? std::move(found).value() : Credentials{};
  }
  ClientOptions as(const Credentials& own) const {
    return {
        .address = address(), .tls = tls_material(own), .https_port = listeners_->ports().https};
  }
  ClientOptions as(const std::string& name) const { return as(credentials(name)); }
  std::string refusal(RpcClient& client) {
    const auto answer = client.nodes();
    EXPECT_FALSE(answer.ok());
    if (answer.ok()) return "";
    EXPECT_EQ(answer.error().code, Code::Unauthenticated);
    return answer.error().message;
  }
  // An agent's report, without its wire.
  std::shared_ptr<SilentLink> attend(const std::string& node) {
    auto link = std::make_shared<SilentLink>();
    connection_ = server_->connected({.role = Caller::Role::Agent, .name = node}, link);
    report(node);
    return link;
  }
  void report(const std::string& node) {
    server_->reported(
        connection_,
        {.offer = {.name = node, .gpus = 1}, .instance = "i-" + node, .number = ++reports_});
  }
  std::size_t nodes() { return ask(&Api::nodes, Nothing{}).value().nodes.size(); }

  void say(const std::string& line) {
    const std::lock_guard lock(mutex_);
    said_ += line + "\n";
  }
  std::string said() {
    const std::lock_guard lock(mutex_);
    return said_;
  }
  // "user ann expired" and the like.
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  }

  const Caller root_{.role = Caller::Role::Admin, .name = "root"};
  const std::chrono::sys_seconds start_ =
      std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) - 61 * kDay;
  std::atomic<std::chrono::sys_seconds> now_{start_};
  const TestFolder folder_;
  std::unique_ptr<LocalTrust> trust_;
  std::shared_ptr<Revocations> revocations_;
  std::unique_ptr<Callers> callers_;
  std::unique_ptr<Listeners> listeners_;
  std::unique_ptr<SchedulerServer> server_;
  std::unique_ptr<Upkeep> upkeep_;
  int reconnects_ = 0;
  std::int64_t connection_ = 0;
  std::int64_t reports_ = 0;
  std::mutex mutex_;
  std::string said_;
};

TEST_F(CertificatesTest, AJoinerFindsTheHttpsPortByItsToken) {
  const auto joined = join(Caller::Role::User, "ann", token(Caller::Role::User, "ann"));
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  EXPECT_EQ(joined.value(), address()) << "what to write after --server";
  EXPECT_TRUE(RpcClient(as("ann")).nodes().ok());
  EXPECT_EQ(https_port_in(keys_of("ann")), listeners_->ports().https);
  // The HTTPS port itself is as good.
  const auto direct =
      join(Caller::Role::User, "bob", token(Caller::Role::User, "bob"), https_address());
  ASSERT_TRUE(direct.ok()) << direct.error().message;
  EXPECT_EQ(direct.value(), address());
  // A token of an older release names no port, and the gRPC port lets no one join.
  const std::string made = token(Caller::Role::User, "eve");
  const auto older = join(Caller::Role::User, "eve", made.substr(0, made.rfind('.')));
  ASSERT_FALSE(older.ok());
  EXPECT_TRUE(has(older.error().message, "is the scheduler's gRPC port")) << older.error().message;
}

TEST_F(CertificatesTest, ATokenOfAnotherRoleIsNotSpent) {
  const std::string made = token(Caller::Role::User, "ann");
  const auto wrong = join(Caller::Role::Operator, "ann", made);
  ASSERT_FALSE(wrong.ok());
  EXPECT_TRUE(has(wrong.error().message, "`--role user`")) << wrong.error().message;
  EXPECT_TRUE(join(Caller::Role::User, "ann", made).ok());
}

TEST_F(CertificatesTest, PortsStayTheSameOverARestart) {
  const auto before = listeners_->ports();
  end();
  begin();
  EXPECT_EQ(listeners_->ports().grpc, before.grpc);
  EXPECT_EQ(listeners_->ports().https, before.https);
}

TEST_F(CertificatesTest, AnAgentRenewsWhileItRunsAndTheOldOneExpiresInWords) {
  join(Caller::Role::Agent, "n1");
  const Credentials first = credentials("n1");
  OwnCertificate own(keys_of("n1"), "client", first,
                     [this](const TlsMaterial& old, const JoinRequest& request) {
                       return RpcClient({.address = address(), .tls = old}).join(request);
                     });
  now_ = start_ + 59 * kDay;
  EXPECT_FALSE(own.tick(now_).value());
  now_ = start_ + 61 * kDay;
  const auto renewed = own.tick(now_);
  ASSERT_TRUE(renewed.ok()) << renewed.error().message;
  EXPECT_TRUE(renewed.value());
  EXPECT_NE(own.material().certificate, first.certificate_pem);
  EXPECT_EQ(own.material().key, first.key_pem.reveal());
  EXPECT_EQ(own.material().certificate, credentials("n1").certificate_pem) << "it is kept";
  upkeep_->tick(now_);

  now_ = start_ + 92 * kDay;
  RpcClient late(as(first));
  const std::string reason = refusal(late);
  EXPECT_TRUE(has(reason, "the certificate of agent n1 expired on ")) << reason;
  EXPECT_TRUE(has(reason, "orrery join")) << reason;
  EXPECT_TRUE(has(said(), "refused: the certificate of agent n1 expired on ")) << said();
  const auto known = RpcClient({.address = address(), .tls = own.material()}).nodes();
  EXPECT_EQ(known.error().code, Code::PermissionDenied) << "an agent, as it is";
}

TEST_F(CertificatesTest, AConnectionThatIsOpenEndsWithItsCertificate) {
  join(Caller::Role::User, "ann");
  RpcClient ann(as("ann"));
  EXPECT_TRUE(ann.nodes().ok());
  now_ = start_ + 30 * kDay - 1min;
  EXPECT_TRUE(ann.nodes().ok());
  now_ = start_ + 30 * kDay;
  EXPECT_TRUE(has(refusal(ann), "the certificate of user ann expired on "));
}

TEST_F(CertificatesTest, TheSchedulerRenewsItsOwnWhileItRuns) {
  const auto shown = [this] {
    const auto seen = look_at_server(https_address(), {});
    return seen.ok() ? seen.value().certificate : seen.error().message;
  };
  const std::string first = shown();
  now_ = start_ + 59 * kDay;
  upkeep_->tick(now_);
  EXPECT_EQ(shown(), first);
  now_ = start_ + 61 * kDay;
  upkeep_->tick(now_);
  EXPECT_NE(shown(), first);
  EXPECT_TRUE(has(said(), "the scheduler has a new certificate"));
  EXPECT_EQ(reconnects_, 0) << "gRPC may still show the old one";
  upkeep_->tick(now_.load() + 1min);
  EXPECT_EQ(reconnects_, 1);
  upkeep_->tick(now_.load() + 2h);
  EXPECT_EQ(reconnects_, 1);
}

TEST_F(CertificatesTest, ARevokedNameIsRefusedOnConnectionsThatAreOpenAndAfterARestart) {
  join(Caller::Role::User, "ann");
  join(Caller::Role::User, "bob");
  RpcClient ann(as("ann"));
  RpcClient bob(as("bob"));
  EXPECT_TRUE(ann.nodes().ok());
  const std::string unused = token(Caller::Role::User, "ann");
  const auto revoked = ask(&Api::certificates, CertificatesRequest{.revoke_name = "ann"});
  ASSERT_TRUE(revoked.ok()) << revoked.error().message;
  EXPECT_EQ(revoked.value().revoked, 1);
  EXPECT_EQ(revoked.value().withdrawn, 1);
  EXPECT_TRUE(has(refusal(ann), "the certificate of user ann was revoked by root"));
  EXPECT_TRUE(bob.nodes().ok());
  EXPECT_FALSE(join(Caller::Role::User, "ann", unused).ok());
  end();
  begin();
  RpcClient again(as("ann"));
  const std::string reason = refusal(again);
  EXPECT_TRUE(has(reason, "the certificate of user ann was revoked by root")) << reason;
  EXPECT_TRUE(has(said(), "refused: the certificate of user ann was revoked")) << said();
  join(Caller::Role::User, "ann");  // an admin wants her back, in the same second
  EXPECT_TRUE(RpcClient(as("ann")).nodes().ok());
}

TEST_F(CertificatesTest, OneCertificateIsRevokedByItsNumber) {
  join(Caller::Role::User, "ann");
  const Credentials stolen = credentials("ann");
  join(Caller::Role::User, "ann");
  const std::string serial = facts_of(stolen.certificate_pem).value().serial;
  const auto listed = ask(&Api::certificates, CertificatesRequest{});
  ASSERT_EQ(listed.value().certificates.size(), 2u);
  const auto revoked = ask(&Api::certificates, CertificatesRequest{.revoke_serial = serial});
  ASSERT_TRUE(revoked.ok()) << revoked.error().message;
  EXPECT_EQ(revoked.value().revoked, 1);
  int good = 0;
  for (const CertificateStatus& one : revoked.value().certificates) {
    EXPECT_EQ(one.revoked.empty(), one.serial != serial);
    good += one.revoked.empty() ? 1 : 0;
  }
  EXPECT_EQ(good, 1);
  RpcClient thief(as(stolen));
  EXPECT_TRUE(has(refusal(thief), "revoked by root"));
  EXPECT_TRUE(RpcClient(as("ann")).nodes().ok());
  EXPECT_FALSE(ask(&Api::certificates, CertificatesRequest{.revoke_serial = "../x"}).ok());
}

TEST_F(CertificatesTest, TokensAreListedAndWithdrawnAndStaySoAfterARestart) {
  const std::string kept = token(Caller::Role::Agent, "", 3);
  const std::string dropped = token(Caller::Role::User, "ann");
  auto listed = ask(&Api::tokens, TokensRequest{}).value().tokens;
  ASSERT_EQ(listed.size(), 2u);
  for (const TokenStatus& one : listed) {
    EXPECT_FALSE(has(kept + dropped, one.id)) << "an id says nothing about the secret";
    if (one.role != Caller::Role::User) continue;
    EXPECT_TRUE(ask(&Api::tokens, TokensRequest{.withdraw = one.id}).ok());
  }
  EXPECT_EQ(ask(&Api::tokens, TokensRequest{.withdraw = "0123456789ab"}).error().code,
            Code::NotFound);
  end();
  begin();
  listed = ask(&Api::tokens, TokensRequest{}).value().tokens;
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].uses, 3);
  EXPECT_FALSE(join(Caller::Role::User, "ann", dropped).ok());
  EXPECT_TRUE(join(Caller::Role::Agent, "n1", kept).ok());
  now_ = start_ + 2h;
  EXPECT_TRUE(ask(&Api::tokens, TokensRequest{}).value().tokens.empty());
}

TEST_F(CertificatesTest, ATokenNeverGivesTheNameOfALiveNode) {
  const std::string any = token(Caller::Role::Agent, "", 2);
  attend("n1");
  ASSERT_EQ(nodes(), 1u);
  const auto taken = join(Caller::Role::Agent, "n1", any);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code, Code::FailedPrecondition);
  EXPECT_TRUE(has(taken.error().message, "n1 is the name of a node that is up"))
      << taken.error().message;
  EXPECT_FALSE(join(Caller::Role::Agent, "n1", token(Caller::Role::Agent, "n1")).ok());
  EXPECT_EQ(ask(&Api::tokens, TokensRequest{}).value().tokens.size(), 2u) << "neither is spent";
  EXPECT_TRUE(join(Caller::Role::Agent, "n2", any).ok());
  // Its own certificate is renewed nevertheless.
  join(Caller::Role::Agent, "n3");
  attend("n3");
  const KeyAndRequest made = make_key_and_request().value();
  const auto renewed = RpcClient(as("n3")).join({.certificate_request = made.request_pem});
  EXPECT_TRUE(renewed.ok()) << renewed.error().message;
}

TEST_F(CertificatesTest, ARemovedNodeIsGoneAndItsAgentIsRefused) {
  join(Caller::Role::Agent, "n1");
  const auto link = attend("n1");
  ASSERT_EQ(nodes(), 1u);
  EXPECT_EQ(ask(&Api::remove_node, RemoveNodeRequest{.node = "n2"}).error().code, Code::NotFound);
  const auto removed = ask(&Api::remove_node, RemoveNodeRequest{.node = "n1"});
  ASSERT_TRUE(removed.ok()) << removed.error().message;
  EXPECT_EQ(nodes(), 0u);
  report("n1");
  EXPECT_TRUE(has(link->wait_for_refusal(), "removed this node"));
  EXPECT_EQ(nodes(), 0u);
  RpcClient agent(as("n1"));
  EXPECT_TRUE(has(refusal(agent), "the certificate of agent n1 was revoked by root"));
  end();
  begin();
  EXPECT_EQ(nodes(), 0u) << "after a restart as before";
  join(Caller::Role::Agent, "n1");
  attend("n1");
  EXPECT_EQ(nodes(), 1u) << "with a new token it is a node again";
}

TEST_F(CertificatesTest, AScraperCallsNothingButMetrics) {
  join(Caller::Role::Scraper, "prometheus");
  RpcClient scraper(as("prometheus"));
  EXPECT_EQ(scraper.nodes().error().code, Code::PermissionDenied);
  EXPECT_EQ(scraper.status({}).error().code, Code::PermissionDenied);
  EXPECT_EQ(scraper.submit({.job = {.argv = {"true"}}}).error().code, Code::PermissionDenied);
}

}  // namespace
}  // namespace orrery
