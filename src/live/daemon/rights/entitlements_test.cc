#include "live/daemon/rights/entitlements.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

Caller user(const std::string& name, std::vector<std::string> groups = {}) {
  return {.name = name, .groups = std::move(groups)};
}

class EntitlementsTest : public testing::Test {
 protected:
  void change(const TenantRequest& request) {
    const auto entry = entitlements_.changed(request);
    ASSERT_TRUE(entry.ok()) << entry.error().message;
    entitlements_.take(entry.value());
  }
  void change(const LimitsRequest& request) {
    const auto entry = entitlements_.changed(request);
    ASSERT_TRUE(entry.ok()) << entry.error().message;
    entitlements_.take(entry.value());
  }

  Entitlements entitlements_;
};

TEST_F(EntitlementsTest, WithoutAListATenantIsTheUserOfItsName) {
  EXPECT_TRUE(entitlements_.is_member(user("ann"), "ann"));
  EXPECT_FALSE(entitlements_.is_member(user("ann"), "vision"));
  EXPECT_EQ(entitlements_.tenants_of(user("ann")), std::vector<std::string>{"ann"});
}

TEST_F(EntitlementsTest, AListOfMembersDecidesAlone) {
  change(TenantRequest{.tenant = "vision", .add = {"bob", "ann", "bob"}});
  EXPECT_TRUE(entitlements_.is_member(user("ann"), "vision"));
  EXPECT_FALSE(entitlements_.is_member(user("vision"), "vision"))
      << "a login that has the name of a tenant is no member of it";
  EXPECT_EQ(entitlements_.tenants_of(user("ann")), (std::vector<std::string>{"ann", "vision"}));
  EXPECT_TRUE(entitlements_.tenants_of(user("vision")).empty());
  change(TenantRequest{.tenant = "vision", .remove = {"ann"}});
  EXPECT_FALSE(entitlements_.is_member(user("ann"), "vision"));
  change(TenantRequest{.tenant = "vision", .forget = true});
  EXPECT_TRUE(entitlements_.is_member(user("vision"), "vision"));
}

TEST_F(EntitlementsTest, AGroupStandsForItsUsers) {
  EXPECT_FALSE(entitlements_.names_groups());
  change(TenantRequest{.tenant = "vision", .add = {"@lab"}});
  EXPECT_TRUE(entitlements_.names_groups());
  EXPECT_TRUE(entitlements_.is_member(user("ann", {"users", "lab"}), "vision"));
  EXPECT_FALSE(entitlements_.is_member(user("bob", {"users"}), "vision"));
  EXPECT_FALSE(entitlements_.is_member(user("lab"), "vision"));
}

TEST_F(EntitlementsTest, WhatMakesNoSenseIsRefusedByName) {
  EXPECT_FALSE(entitlements_.changed(TenantRequest{.add = {"ann"}}).ok());
  EXPECT_FALSE(entitlements_.changed(TenantRequest{.tenant = "vision"}).ok());
  EXPECT_FALSE(entitlements_.changed(TenantRequest{.tenant = "vision", .add = {"a b"}}).ok());
  EXPECT_FALSE(entitlements_.changed(TenantRequest{.tenant = "vision", .add = {"@"}}).ok());
  EXPECT_FALSE(entitlements_.changed(TenantRequest{.tenant = "vision", .remove = {"ann"}}).ok());
  EXPECT_FALSE(entitlements_.changed(TenantRequest{.tenant = "vision", .forget = true}).ok());
  EXPECT_FALSE(entitlements_.changed(LimitsRequest{.limits = {.gpus = 4}}).ok());
  EXPECT_FALSE(entitlements_
                   .changed(LimitsRequest{
                       .scope = LimitScope::EachUser, .name = "ann", .limits = {.gpus = 4}})
                   .ok());
  EXPECT_FALSE(entitlements_.changed(LimitsRequest{.name = "ann", .limits = {.gpus = -2}}).ok());
  EXPECT_FALSE(
      entitlements_.changed(LimitsRequest{.name = "ann", .limits = {.priority = 1001}}).ok());
  const auto unknown = entitlements_.changed(LimitsRequest{.name = "ann", .inherit = {"mood"}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("mood"), std::string::npos);
}

TEST_F(EntitlementsTest, ALimitIsOnesOwnElseThatOfEachElseTheDefault) {
  EXPECT_EQ(entitlements_.of_user("ann"), kUserDefaults);
  EXPECT_EQ(entitlements_.of_tenant("vision"), kTenantDefaults);
  change(LimitsRequest{.scope = LimitScope::EachUser, .limits = {.gpus = 8, .pending = 100}});
  change(LimitsRequest{.name = "ann", .limits = {.gpus = kNoLimit}});
  EXPECT_EQ(*entitlements_.of_user("ann").gpus, kNoLimit);
  EXPECT_EQ(*entitlements_.of_user("ann").pending, 100);
  EXPECT_EQ(*entitlements_.of_user("ann").submissions, *kUserDefaults.submissions);
  EXPECT_EQ(*entitlements_.of_user("bob").gpus, 8);
  EXPECT_EQ(*entitlements_.of_tenant("ann").gpus, kNoLimit);
}

TEST_F(EntitlementsTest, AChangeKeepsTheOtherLimits) {
  change(LimitsRequest{.name = "ann", .limits = {.priority = 5, .gpus = 8}});
  change(LimitsRequest{.name = "ann", .limits = {.gpus = 16}, .inherit = {"priority"}});
  EXPECT_EQ(entitlements_.limits().at({LimitScope::User, "ann"}), (Limits{.gpus = 16}));
  change(LimitsRequest{.name = "ann", .inherit = {"gpus"}});
  EXPECT_TRUE(entitlements_.limits().empty());
}

TEST_F(EntitlementsTest, TheLowerCeilingOfUserAndTenantHolds) {
  EXPECT_EQ(entitlements_.priority_max("ann", "ann"), 0);
  change(LimitsRequest{.scope = LimitScope::Tenant, .name = "vision", .limits = {.priority = 50}});
  EXPECT_EQ(entitlements_.priority_max("ann", "vision"), 50);
  EXPECT_EQ(entitlements_.priority_max("ann", "ann"), 0);
  change(LimitsRequest{.name = "ann", .limits = {.priority = 100}});
  EXPECT_EQ(entitlements_.priority_max("ann", "vision"), 50);
  EXPECT_EQ(entitlements_.priority_max("ann", "ann"), 100);
  change(LimitsRequest{.name = "bob", .limits = {.priority = -10}});
  EXPECT_EQ(entitlements_.priority_max("bob", "vision"), -10);
  change(LimitsRequest{.scope = LimitScope::EachUser, .limits = {.priority = 7}});
  EXPECT_EQ(entitlements_.priority_max("eve", "eve"), 7);
}

TEST_F(EntitlementsTest, OnlyALimitOfGpusMakesGpusLimited) {
  EXPECT_FALSE(entitlements_.limits_gpus());
  change(LimitsRequest{.name = "ann", .limits = {.gpus = kNoLimit, .pending = 5}});
  EXPECT_FALSE(entitlements_.limits_gpus());
  change(LimitsRequest{.scope = LimitScope::EachTenant, .limits = {.gpus = 5}});
  EXPECT_TRUE(entitlements_.limits_gpus());
}

}  // namespace
}  // namespace orrery
