#include <httplib.h>

#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "system/live.h"

namespace orrery {
namespace {

using Json = nlohmann::json;

// As curl would with --cert, --key and --cacert.
class LiveRest : public LiveTest {
 protected:
  void SetUp() override { scheduler_ = serve({"--local", "--gpus", "2"}); }

  std::unique_ptr<httplib::SSLClient> client(bool with_certificate) {
    std::string where;
    std::getline(std::ifstream(state() + "/rest") >> std::ws, where);
    const int port = std::stoi(where.substr(where.rfind(':') + 1));
    const std::string trust = state() + "/trust/";
    auto made = with_certificate ? std::make_unique<httplib::SSLClient>(
                                       "127.0.0.1", port, trust + "admin.pem", trust + "admin.key")
                                 : std::make_unique<httplib::SSLClient>("127.0.0.1", port);
    made->set_ca_cert_path((trust + "ca.pem").c_str());
    made->enable_server_certificate_verification(true);
    return made;
  }

  std::unique_ptr<Background> scheduler_;
};

TEST_F(LiveRest, AJobIsSubmittedWatchedAndReadOverHttps) {
  const auto http = client(true);
  const auto made = http->Post("/v1/jobs", R"({"job":{"argv":["echo","hello"],"name":"greets"}})",
                               "application/json");
  ASSERT_TRUE(made) << httplib::to_string(made.error());
  ASSERT_EQ(made->status, 200) << made->body;
  const std::string id = Json::parse(made->body).at("first");
  Json job;
  EXPECT_TRUE(eventually([&] {
    const auto shown = http->Get(("/v1/jobs/" + id).c_str());
    if (!shown || shown->status != 200) return false;
    job = Json::parse(shown->body).at("jobs").at(0);
    return job.at("state") == "Done";
  })) << job.dump();
  EXPECT_EQ(job.at("name"), "greets");
  EXPECT_EQ(job.at("exit_code"), 0);
  const auto nodes = http->Get("/v1/nodes");
  ASSERT_TRUE(nodes);
  EXPECT_EQ(Json::parse(nodes->body).at("nodes").size(), 1u);
  EXPECT_EQ(ask({"logs", id}).out, "hello\n");
}

TEST_F(LiveRest, WrongRequestsAreAnsweredWithACodeAndAMessage) {
  const auto http = client(true);
  const auto unknown =
      http->Post("/v1/jobs", R"({"job":{"argv":["a"],"gpu":1}})", "application/json");
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->status, 400);
  EXPECT_NE(unknown->body.find("gpus"), std::string::npos) << unknown->body;
  const auto none = http->Delete("/v1/jobs/99");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->status, 404) << none->body;
  const auto nowhere = http->Get("/v2/jobs");
  ASSERT_TRUE(nowhere);
  EXPECT_EQ(nowhere->status, 404) << nowhere->body;
  const auto stranger = client(false)->Get("/v1/jobs");
  EXPECT_TRUE(!stranger || stranger->status == 401) << "a caller without a certificate is admitted";
  EXPECT_TRUE(status().jobs.empty());
}

// As Prometheus would with its own certificate.
TEST_F(LiveRest, AScraperReadsMetricsAndNothingElse) {
  const std::string folder = join("scraper", "prometheus");
  std::string where;
  std::getline(std::ifstream(state() + "/rest") >> std::ws, where);
  httplib::SSLClient http("127.0.0.1", std::stoi(where.substr(where.rfind(':') + 1)),
                          folder + "/client.pem", folder + "/client.key");
  http.set_ca_cert_path((folder + "/ca.pem").c_str());
  http.enable_server_certificate_verification(true);
  const auto metrics = http.Get("/metrics");
  ASSERT_TRUE(metrics) << httplib::to_string(metrics.error());
  EXPECT_EQ(metrics->status, 200) << metrics->body;
  for (const char* path : {"/v1/jobs", "/v1/nodes", "/v1/events", "/v1/tokens"}) {
    const auto refused = http.Get(path);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 403) << path << ": " << refused->body;
  }
  // Revoked, it is refused with the reason.
  EXPECT_EQ(ask({"revoke", "--name", "prometheus"}).exit_code, 0);
  const auto revoked = http.Get("/metrics");
  ASSERT_TRUE(revoked);
  EXPECT_EQ(revoked->status, 401);
  EXPECT_NE(revoked->body.find("was revoked by"), std::string::npos) << revoked->body;
}

// Every line a comment, or a name with labels and a number after it.
TEST_F(LiveRest, MetricsAreTextThatPrometheusReads) {
  ASSERT_EQ(ask({"submit", "--wait", "--", "true"}).exit_code, 0);
  const auto answer = client(true)->Get("/metrics");
  ASSERT_TRUE(answer) << httplib::to_string(answer.error());
  ASSERT_EQ(answer->status, 200) << answer->body;
  std::istringstream lines(answer->body);
  int figures = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with("# HELP ") || line.starts_with("# TYPE ")) continue;
    SCOPED_TRACE(line);
    const std::size_t blank = line.rfind(' ');
    ASSERT_NE(blank, std::string::npos);
    double value = 0;
    const char* const end = line.data() + line.size();
    const auto [rest, wrong] = std::from_chars(line.data() + blank + 1, end, value);
    EXPECT_TRUE(wrong == std::errc() && rest == end);
    const std::string name = line.substr(0, line.find_first_of("{ "));
    EXPECT_TRUE(name.starts_with("orrery_"));
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos);
    ++figures;
  }
  EXPECT_GT(figures, 5);
}

}  // namespace
}  // namespace orrery
