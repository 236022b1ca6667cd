#include "live/auth/served_users.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(ServedUsers, ASchedulerOfItsOwnerAloneRefusesEveryOtherPersonByName) {
  const ServedUsers served{.others = false, .owner = "ann"};
  for (const Role role : {Role::User, Role::Operator, Role::Admin}) {
    EXPECT_TRUE(served.check({role, "ann"}).ok());
    EXPECT_TRUE(served.check({role, "root"}).ok());
    const Status refused = served.check({role, "bob"});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, Code::PermissionDenied);
    for (const char* part : {"permission denied", "ann", "bob", "--other-users"}) {
      EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
    }
  }
  EXPECT_TRUE(served.check({Role::Agent, "node7"}).ok()) << "agents are no users";
}

TEST(ServedUsers, ASchedulerForEveryUserRefusesNone) {
  const ServedUsers served{.others = true, .owner = "ann"};
  for (const Role role : kRoles) EXPECT_TRUE(served.check({role, "bob"}).ok());
}

}  // namespace
}  // namespace orrery
