#include "live/auth/logins.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <algorithm>

#include "base/logins.h"

namespace orrery {
namespace {

constexpr uid_t kDaemon = 1;  // has a name on every Linux
constexpr uid_t kUnnamed = 1'234'567'890;

TEST(LocalIdentity, RootAndTheOwnerAdminister) {
  const auto root = local_identity(0, kDaemon);
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root.value(), (Identity{Role::Admin, "root"}));
  const auto owner = local_identity(kDaemon, kDaemon);
  ASSERT_TRUE(owner.ok());
  EXPECT_EQ(owner.value(), (Identity{Role::Admin, login_name(kDaemon)}));
  const auto unnamed = local_identity(kUnnamed, kUnnamed);
  ASSERT_TRUE(unnamed.ok());
  EXPECT_EQ(unnamed.value(), (Identity{Role::Admin, "uid-1234567890"}));
}

TEST(LocalIdentity, OtherLoginsAreUsersUnderTheirOwnName) {
  const auto other = local_identity(kDaemon, 0);
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other.value(), (Identity{Role::User, login_name(kDaemon)}));
  EXPECT_FALSE(other.value().name.starts_with("uid-"));
}

TEST(LocalIdentity, AUserIdWithoutANameHasNoIdentity) {
  for (const uid_t uid : {kUnnamed, uid_t{65534}}) {
    const auto found = local_identity(uid, kDaemon);
    ASSERT_FALSE(found.ok()) << uid;
    EXPECT_EQ(found.error().code, Code::Unauthenticated);
  }
}

TEST(GroupsOfLogin, AreThoseOfTheMachineAndNoneForAStranger) {
  const auto groups = groups_of_login("root");
  EXPECT_NE(std::find(groups.begin(), groups.end(), "root"), groups.end());
  EXPECT_TRUE(groups_of_login("no-such-login").empty());
}

}  // namespace
}  // namespace orrery
