#include "live/auth/calls.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace orrery {
namespace {

// Written down a second time, by role and in letters, so that a slip in the table is seen:
// y may, o only for what is their own, - may not.
const std::map<std::string, std::string> kExpected{
    // user, operator, agent, admin, scraper
    {"submit", "oo-y-"},       {"status", "yy-y-"},      {"cancel", "oy-y-"},
    {"logs", "oy-y-"},         {"nodes", "yy-y-"},       {"drain", "-y-y-"},
    {"events", "yy-y-"},       {"whatif", "yy-y-"},      {"metrics", "yy-yy"},
    {"set policy", "-y-y-"},   {"set quota", "---y-"},   {"record", "-y-y-"},
    {"attend", "--o--"},       {"make token", "---y-"},  {"tokens", "---y-"},
    {"certificates", "---y-"}, {"remove node", "---y-"}, {"join", "ooooo"},
    {"quotas", "yy-y-"},       {"tenants", "oy-y-"},     {"set tenant", "---y-"},
    {"limits", "oy-y-"},       {"set limits", "---y-"},
};

TEST(Calls, EveryPairOfRoleAndCallIsAsWrittenDown) {
  EXPECT_EQ(kExpected.size(), static_cast<std::size_t>(kCalls));
  for (int number = 0; number < kCalls; ++number) {
    const Call call{number};
    const auto row = kExpected.find(std::string(to_string(call)));
    ASSERT_NE(row, kExpected.end()) << to_string(call) << " is not written down in this test";
    for (const Role role : kRoles) {
      const char expected = row->second.at(static_cast<std::size_t>(role));
      const Identity caller{role, "ann"};
      SCOPED_TRACE(std::string(to_string(role)) + " " + row->first);
      EXPECT_EQ(may(role, call), expected != '-');
      EXPECT_EQ(may(caller, call, ""), expected != '-');
      EXPECT_EQ(may(caller, call, "ann"), expected != '-');
      EXPECT_EQ(may(caller, call, "bob"), expected == 'y');
      EXPECT_EQ(check_call(caller, call, "bob").ok(), expected == 'y');
    }
  }
}

TEST(Calls, TheLastOneIsCounted) { EXPECT_EQ(Call{kCalls - 1}, Call::Join); }

TEST(Calls, ANumberThatIsNoCallIsForNoRole) {
  for (const Role role : kRoles) EXPECT_FALSE(may(role, Call{kCalls}));
}

TEST(Calls, ARefusalNamesTheRolesThatMay) {
  const Status other = check_call({Role::User, "ann"}, Call::Cancel, "bob");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Code::PermissionDenied);
  EXPECT_EQ(other.error().message,
            "cancel: user ann may do this only for what is their own (for that of others: "
            "operator, admin)");
  EXPECT_EQ(check_call({Role::User, "ann"}, Call::SetQuota).error().message,
            "set quota: not for user ann (may: admin)");
}

TEST(Calls, AnAgentSpeaksForItsOwnNodeOnly) {
  EXPECT_TRUE(may({Role::Agent, "node-1"}, Call::Attend, "node-1"));
  EXPECT_FALSE(may({Role::Agent, "node-1"}, Call::Attend, "node-2"));
  EXPECT_FALSE(may({Role::Admin, "node-1"}, Call::Attend, "node-1"));
}

TEST(Identity, IsReadBackFromItsUri) {
  for (const Role role : kRoles) {
    const Identity identity{role, "ann.lee@lab-1_x"};
    const auto back = parse_identity(identity_uri(identity));
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(back.value(), identity);
  }
}

TEST(Identity, IsNotReadFromAnythingElse) {
  for (const char* uri :
       {"", "orrery://", "orrery://user", "orrery://user/", "orrery://boss/ann", "http://user/ann",
        "orrery://user/ann/bob", "orrery://user/-ann", "orrery://user/.ann", "orrery://user/a b",
        "orrery://User/ann", "orrery://user/a\nb", "orrery://user/ann?role=admin"}) {
    EXPECT_FALSE(parse_identity(uri).ok()) << uri;
  }
  EXPECT_TRUE(check_caller_name(std::string(64, 'a')).ok());
  EXPECT_FALSE(check_caller_name(std::string(65, 'a')).ok());
  EXPECT_FALSE(check_caller_name(std::string_view("a\0b", 3)).ok());
}

}  // namespace
}  // namespace orrery
