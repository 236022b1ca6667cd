// Tenants, priorities and limits as users and administrators meet them.
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "system/live.h"

namespace orrery {
namespace {

using Json = nlohmann::json;

class LiveRights : public LiveTest {
 protected:
  void SetUp() override {
    using std::filesystem::perms;
    // The jobs of another login pass through it to their output.
    std::filesystem::permissions(std::filesystem::path(state()).parent_path(),
                                 perms::owner_all | perms::group_exec | perms::others_exec);
    scheduler_ = serve({"--local", "--gpus", "2"});
    credentials_ = join("user", "daemon");
  }

  Finished as_user(Words words) const {
    words.insert(words.begin() + 1, {"--server", address(), "--credentials", credentials_});
    return run_orrery(words);
  }
  static void expect_refusal(const Finished& run, const std::vector<std::string>& said) {
    EXPECT_EQ(run.exit_code, 1) << run.out;
    for (const std::string& part : said) {
      EXPECT_NE(run.err.find(part), std::string::npos) << "no '" << part << "' in " << run.err;
    }
  }

  std::unique_ptr<Background> scheduler_;
  std::string credentials_;
};

TEST_F(LiveRights, ATenantAndAPriorityNeedRightsThatAnAdministratorGives) {
  const Words for_vision = {"submit", "--tenant", "vision", "--priority", "7", "--", "true"};
  expect_refusal(as_user(for_vision), {"daemon is not a member of vision"});
  ASSERT_EQ(ask({"tenants", "vision", "--add", "daemon"}).exit_code, 0);
  expect_refusal(as_user(for_vision), {"daemon asks for 7", "is 0"});
  ASSERT_EQ(ask({"limits", "tenant", "vision", "--priority", "7"}).exit_code, 0);
  const Finished taken = as_user(for_vision);
  EXPECT_EQ(taken.exit_code, 0) << taken.err;
  expect_refusal(as_user({"tenants", "nlp", "--add", "daemon"}), {"set tenant", "admin"});
  expect_refusal(as_user({"limits", "user", "daemon", "--priority", "9"}), {"set limits", "admin"});
  const std::string file = this->file("run.jsonl");
  expect_refusal(as_user({"record", "-o", file}), {"record", "operator, admin"});
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(LiveRights, LimitsBindWithTheirNumberAndOutliveARestart) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root starts jobs of another login";
  ASSERT_EQ(ask({"limits", "users", "--pending", "3"}).exit_code, 0);
  ASSERT_EQ(ask({"limits", "user", "daemon", "--gpus", "1"}).exit_code, 0);
  scheduler_.reset();
  scheduler_ = serve({"--local", "--gpus", "2"});
  expect_refusal(as_user({"submit", "--array", "1-4", "--", "true"}),
                 {"user daemon has 0 jobs that wait", "adds 4", "limit is 3"});
  expect_refusal(as_user({"submit", "--gpus", "2", "--", "true"}),
                 {"asks for 2", "user daemon may use 1"});
  ASSERT_EQ(as_user({"submit", "--", "sleep", "60"}).exit_code, 0);
  ASSERT_EQ(as_user({"submit", "--", "true"}).exit_code, 0);
  EXPECT_TRUE(eventually([&] {
    const auto second = job(2);
    return second && second->reason == "its user may use 1 GPUs at a time: asks for 1 more";
  })) << job(2)->reason;
  const Finished shown = as_user({"limits", "--json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  bool found = false;
  const Json answer = Json::parse(shown.out);
  for (const Json& row : answer.at("limits")) {
    if (row.at("of") != "user") continue;
    found = true;
    EXPECT_EQ(row.at("name"), "daemon") << "a user sees its own limits";
    EXPECT_EQ(row.at("gpus"), 1);
    EXPECT_EQ(row.at("gpus_held"), 1);
    EXPECT_EQ(row.at("pending"), 3);
    EXPECT_EQ(row.at("pending_now"), 1);
  }
  EXPECT_TRUE(found) << shown.out;
  ASSERT_EQ(ask({"cancel", "1"}).exit_code, 0);
  expect_idle();
}

}  // namespace
}  // namespace orrery
