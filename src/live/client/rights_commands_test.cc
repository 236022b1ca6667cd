#include "live/client/rights_commands.h"

#include <gtest/gtest.h>

#include "live/client/testing/test_call.h"

namespace orrery {
namespace {

std::string message(const Status& status) { return status.ok() ? "" : status.error().message; }

TEST(TenantsCommand, ChangesOneTenantAndShowsIt) {
  FakeCommandContext fake;
  TenantRequest seen;
  fake.script.set_tenant = [&](const TenantRequest& request) {
    seen = request;
    return Status();
  };
  fake.script.tenants = []() -> Result<TenantsAnswer> {
    return TenantsAnswer{.tenants = {{.tenant = "nlp", .members = {"eve"}},
                                     {.tenant = "vision", .members = {"@lab", "ann"}}}};
  };
  ASSERT_TRUE(
      call(fake, {"tenants", "vision", "--add", "ann", "--add", "@lab", "--remove", "bob"}).ok());
  EXPECT_EQ(seen, (TenantRequest{.tenant = "vision", .add = {"ann", "@lab"}, .remove = {"bob"}}));
  EXPECT_NE(fake.out.find("@lab,ann"), std::string::npos) << fake.out;
  EXPECT_EQ(fake.out.find("eve"), std::string::npos) << fake.out;
  fake.out.clear();
  ASSERT_TRUE(call(fake, {"tenants", "--json"}).ok());
  EXPECT_EQ(fake.out, R"({"tenants":[{"tenant":"nlp","members":["eve"]},)"
                      R"({"tenant":"vision","members":["@lab","ann"]}]})"
                      "\n");
  EXPECT_NE(message(call(fake, {"tenants", "--add", "ann"})).find("name the tenant"),
            std::string::npos);
}

class LimitsCommand : public testing::Test {
 protected:
  LimitsCommand() {
    fake_.script.set_limits = [this](const LimitsRequest& request) {
      seen_ = request;
      return Status();
    };
    fake_.script.limits = []() -> Result<LimitsAnswer> {
      return LimitsAnswer{
          .limits = {{.scope = LimitScope::User,
                      .name = "ann",
                      .limits = {.priority = 0, .gpus = 8, .pending = 20'000, .submissions = 6'000},
                      .gpus_held = 3,
                      .pending_now = 5},
                     {.scope = LimitScope::EachTenant,
                      .limits = {.gpus = kNoLimit, .pending = kNoLimit, .submissions = kNoLimit}}}};
    };
  }

  FakeCommandContext fake_;
  LimitsRequest seen_;
};

TEST_F(LimitsCommand, SetsSomeAndTakesOthersBack) {
  ASSERT_TRUE(call(fake_, {"limits", "user", "ann", "--gpus", "8", "--priority", "-5", "--pending",
                           "none", "--submissions", "default"})
                  .ok());
  EXPECT_EQ(seen_, (LimitsRequest{.name = "ann",
                                  .limits = {.priority = -5, .gpus = 8, .pending = kNoLimit},
                                  .inherit = {"submissions"}}));
  EXPECT_NE(fake_.out.find("20000"), std::string::npos) << fake_.out;
  EXPECT_EQ(fake_.out.find("(each)"), std::string::npos) << fake_.out;
  ASSERT_TRUE(call(fake_, {"limits", "tenants", "--gpus", "64"}).ok());
  EXPECT_EQ(seen_, (LimitsRequest{.scope = LimitScope::EachTenant, .limits = {.gpus = 64}}));
}

TEST_F(LimitsCommand, AreShownAsATableAndAsJson) {
  ASSERT_TRUE(call(fake_, {"limits"}).ok());
  EXPECT_NE(fake_.out.find("(each)"), std::string::npos) << fake_.out;
  fake_.out.clear();
  ASSERT_TRUE(call(fake_, {"limits", "--json"}).ok());
  EXPECT_EQ(fake_.out,
            R"({"limits":[{"of":"user","name":"ann","priority":0,"gpus":8,"gpus_held":3,)"
            R"("pending":20000,"pending_now":5,"submissions_per_minute":6000},)"
            R"({"of":"tenants","name":null,"priority":null,"gpus":null,"gpus_held":0,)"
            R"("pending":null,"pending_now":0,"submissions_per_minute":null}]})"
            "\n");
}

TEST_F(LimitsCommand, WrongWordsAreRefusedWithWhatToWrite) {
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"limits", "--gpus", "8"}, "name a user or tenant"},
      {{"limits", "planet", "ann", "--gpus", "8"}, "'planet'"},
      {{"limits", "user", "--gpus", "8"}, "name the user"},
      {{"limits", "users", "ann", "--gpus", "8"}, "takes no name"},
      {{"limits", "user", "ann", "--gpus", "many"}, "number, none or default"},
      {{"limits", "user", "ann", "--gpus", "-2"}, "number, none or default"},
      {{"limits", "user", "ann", "--priority", "none"}, "-1000 to 1000"}};
  for (const auto& [words, said] : wrong) {
    const std::string error = message(call(fake_, words));
    EXPECT_NE(error.find(said), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace orrery
