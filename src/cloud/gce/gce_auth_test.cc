#include <gtest/gtest.h>
#include <httplib.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <thread>

#include "base/test_folder.h"
#include "cloud/gce/testing/gce_harness.h"

namespace orrery {
namespace {

using Kind = FakeFault::Kind;

std::vector<ServerSpec> one(const std::string& job = "alpha") {
  return {conformance_spec(job, 0, fake_offer(OfferClass::Spot))};
}

void expect_failure(const Result<std::vector<Server>>& result, Code code, const std::string& part) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, code) << result.error().message;
  EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
}

TEST(GceAuth, ATokenIsKeptUntilAMinuteBeforeItsEnd) {
  GceHarness harness;
  const auto given = [&] {
    return harness.service.tokens([](FakeTokens& t) { return t.given(); });
  };
  ASSERT_TRUE(harness.gce->list("").ok());
  ASSERT_TRUE(harness.gce->create_all(one(), 1).ok());
  EXPECT_EQ(given(), 1);
  harness.advance(std::chrono::seconds(3538) - harness.clock.waited());
  ASSERT_TRUE(harness.gce->list("").ok());
  EXPECT_EQ(given(), 1);
  harness.advance(std::chrono::seconds(3));
  ASSERT_TRUE(harness.gce->list("").ok());
  EXPECT_EQ(given(), 2);
}

TEST(GceAuth, ATokenMayEndDuringACall) {
  GceHarness harness;
  harness.service.tokens([](FakeTokens& tokens) {
    tokens.life = std::chrono::seconds(90);
    return 0;
  });
  harness.service.in(kFakeZone, [](FakeZone& zone) { zone.bulk_time = std::chrono::minutes(4); });
  const auto made = harness.gce->create_all(one(), 1);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_GE(harness.service.tokens([](FakeTokens& t) { return t.given(); }), 4);
}

TEST(GceAuth, ARefusedTokenIsReplacedOnce) {
  GceHarness harness;
  ASSERT_TRUE(harness.gce->list("").ok());
  harness.service.tokens([](FakeTokens& tokens) {
    tokens.revoke_all();
    return 0;
  });
  ASSERT_TRUE(harness.gce->create_all(one(), 1).ok());
  EXPECT_EQ(harness.service.live_instances(), 1U);
  harness.service.inject({.on = "/zones/", .times = 99, .status = 401, .body = "{}"});
  const std::size_t before = harness.service.requests().size();
  expect_failure(harness.gce->list(""), Code::Unauthenticated, "the token is refused");
  EXPECT_LE(harness.service.requests().size() - before, 3U);
}

TEST(GceAuth, AWrongClockIsNamed) {
  const struct {
    int skew_s;
    const char* part;
  } cases[] = {{7200, "the clock of this machine is 7200 s ahead of the provider's; set it"},
               {-7200, "the clock of this machine is 7200 s behind the provider's; set it"}};
  for (const auto& [skew_s, part] : cases) {
    GceHarness harness;
    harness.clock.set_skew(std::chrono::seconds(skew_s));
    expect_failure(harness.gce->list(""), Code::Unauthenticated, part);
    harness.clock.set_skew({});
    EXPECT_TRUE(harness.gce->list("").ok());
  }
  GceHarness harness;
  harness.clock.set_skew(std::chrono::seconds(100));
  EXPECT_TRUE(harness.gce->list("").ok()) << "the service allows for a small skew";
}

TEST(GceAuth, TheMetadataServerGivesTokensToo) {
  GceHarness harness;
  GceOptions options = harness.options();
  options.identity.key.reset();
  options.identity.metadata_url = harness.service.url();
  options.project = "fake-project";
  harness.restart(options);
  ASSERT_TRUE(harness.gce->create_all(one(), 1).ok());
  options.project.clear();
  const auto made = GceProvider::make(options, {}, harness.clock);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("the project is not known"), std::string::npos);
}

TEST(GceAuth, WithoutAMetadataServerTheMessageNamesTheKeyFile) {
  GceHarness harness;
  GceOptions options = harness.options();
  options.identity.key.reset();
  options.identity.metadata_url = "http://127.0.0.1:1";
  options.project = "fake-project";
  harness.restart(options);
  expect_failure(harness.gce->list(""), Code::Unavailable, "give the key file");
}

TEST(GceAuth, ARefusedConnectionIsTriedAgainAndThenNamed) {
  GceHarness harness;
  GceOptions options = harness.options();
  options.api.url = "http://127.0.0.1:1";
  harness.restart(options);
  expect_failure(harness.gce->list(""), Code::Unavailable, "no connection");
  EXPECT_GE(seconds(harness.clock.waited()), 0.5 + 1 + 2 + 4 + 8);
}

// A port with a certificate that no authority has signed.
class SelfSignedPort {
 public:
  SelfSignedPort() {
    EVP_PKEY* const key = EVP_RSA_gen(2048);
    X509* const own = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(own), 1);
    X509_gmtime_adj(X509_getm_notBefore(own), -3600);
    X509_gmtime_adj(X509_getm_notAfter(own), 3600);
    X509_set_pubkey(own, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(own), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("127.0.0.1"), -1, -1, 0);
    X509_set_issuer_name(own, X509_get_subject_name(own));
    X509_sign(own, key, EVP_sha256());
    server_ = std::make_unique<httplib::SSLServer>(own, key);
    X509_free(own);
    EVP_PKEY_free(key);
    server_->Get("/.*", [this](const httplib::Request&, httplib::Response&) { ++served_; });
    port_ = server_->bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_->listen_after_bind(); });
    while (!server_->is_running()) std::this_thread::yield();
  }
  ~SelfSignedPort() {
    server_->stop();
    thread_.join();
  }
  std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }
  int served() const { return served_; }

 private:
  std::unique_ptr<httplib::SSLServer> server_;
  std::atomic<int> served_{0};
  int port_ = 0;
  std::thread thread_;
};

TEST(GceAuth, AHostWithoutAValidCertificateGetsNoToken) {
  GceHarness harness;
  SelfSignedPort port;
  GceOptions options = harness.options();
  options.api.url = port.url();
  harness.restart(options);
  expect_failure(harness.gce->list(""), Code::Unauthenticated, "certificate");
  EXPECT_EQ(port.served(), 0);
  EXPECT_EQ(harness.clock.waited(), Duration()) << "it is not tried again";
}

TEST(GceAuth, APortWithoutTlsIsNamed) {
  GceHarness harness;
  GceOptions options = harness.options();
  options.api.url = "https" + harness.service.url().substr(4);
  harness.restart(options);
  expect_failure(harness.gce->list(""), Code::Unavailable, "no TLS connection");
}

TEST(GceAuth, ATokenDoesNotLeaveTheMachineInPlainText) {
  GceHarness harness;
  for (const char* url : {"http://compute.googleapis.com", "http://127.0.0.1.example.com",
                          "ftp://x", "", "http://10.0.0.1:80"}) {
    GceOptions options = harness.options();
    options.api.url = url;
    const auto made = GceProvider::make(options, {}, harness.clock);
    ASSERT_FALSE(made.ok()) << url;
    EXPECT_EQ(made.error().code, Code::InvalidArgument);
  }
}

TEST(GceAuth, KeyFilesAreChecked) {
  const TestFolder folder;
  const std::string good = fake_key_file("https://oauth2.googleapis.com/token");
  const auto key = read_service_account(folder.write("key.json", good));
  ASSERT_TRUE(key.ok()) << key.error().message;
  EXPECT_EQ(key.value().project, "fake-project");
  const struct {
    std::string text;
    const char* part;
  } cases[] = {{"not JSON", "is not a JSON object"},
               {R"({"type":"authorized_user"})", "is not the key of a service account"},
               {R"({"type":"service_account"})", "has no \"client_email\""},
               {R"({"type":"service_account","client_email":"a@b","private_key":"x"})",
                "has no RSA \"private_key\""},
               {good.substr(0, good.size() / 2), "is not a JSON object"}};
  for (const auto& [text, part] : cases) {
    const auto bad = parse_service_account("key.json", text);
    ASSERT_FALSE(bad.ok());
    EXPECT_NE(bad.error().message.find(part), std::string::npos) << bad.error().message;
  }
  std::filesystem::permissions(folder / "key.json", std::filesystem::perms(0644));
  const auto open = read_service_account(folder / "key.json");
  ASSERT_FALSE(open.ok());
  EXPECT_NE(open.error().message.find("chmod 600"), std::string::npos);
}

// Everything that a provider says while the service repeats its secrets in every answer.
TEST(GceAuth, NoSecretIsInAnyMessageOrEvent) {
  GceHarness harness;
  std::vector<std::string> said;
  const auto note = [&](const auto& result) {
    if (!result.ok()) said.push_back(result.error().message);
  };
  const std::string key = fake_account().private_key;
  note(harness.gce->create_all(one("alpha"), 1));
  std::string secrets = key;
  for (const std::string& secret :
       harness.service.tokens([](FakeTokens& tokens) { return tokens.secrets(); })) {
    secrets += " " + secret;
  }
  int index = 0;
  for (const char* on : {"/zones/", "bulkInsert", "DELETE", "operations", "/token"}) {
    for (const int status : {200, 400, 401, 403, 404, 409, 500}) {
      for (const std::string& token :
           harness.service.tokens([](FakeTokens& tokens) { return tokens.secrets(); })) {
        secrets += " " + token;
      }
      // At several places, so that a cut of the message would leave a part of a secret.
      const std::string text = std::string(static_cast<std::size_t>(index * 7 % 300), 'x') +
                               secrets.substr(secrets.size() > 900 ? secrets.size() - 900 : 0) +
                               secrets;
      const nlohmann::json body = {
          {"kind", "compute#operation"},
          {"name", "operation-9"},
          {"status", "DONE"},
          {"error",
           {{"message", text}, {"errors", {{{"code", text.substr(0, 900)}, {"message", text}}}}}}};
      const nlohmann::json grant = {{"error", "invalid_grant"}, {"error_description", text}};
      const bool token = std::string(on) == "/token";
      if (token) {
        harness.service.tokens([](FakeTokens& tokens) {
          tokens.revoke_all();
          return 0;
        });
      }
      harness.service.inject(
          {.on = on, .times = 50, .status = status, .body = token ? grant.dump() : body.dump()});
      note(harness.gce->create_all(one("job" + std::to_string(++index)), 1));
      note(harness.gce->list(""));
      note(harness.gce->stop("alpha-worker-0", EndReason::UserStop));
      note(harness.gce->events_after(0));
      harness.service.clear_faults();
      harness.advance(std::chrono::minutes(2));
    }
  }
  for (const ServerEvent& event : harness.gce->events_after(0).value())
    said.push_back(event.detail);
  EXPECT_GT(said.size(), 60U);
  std::vector<std::string> hidden =
      harness.service.tokens([](FakeTokens& tokens) { return tokens.secrets(); });
  for (std::size_t at = key.find('\n') + 1; at + 40 < key.size(); at += 16) {
    hidden.push_back(key.substr(at, 16));
  }
  for (const std::string& message : said) {
    for (const std::string& secret : hidden) {
      const std::string part = secret.substr(secret.size() - 16);
      if (part.find('\n') != std::string::npos) continue;
      EXPECT_EQ(message.find(part), std::string::npos) << message;
    }
    EXPECT_EQ(message.find("ya29."), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace orrery
