#include "commands/programs/callers.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/logins.h"
#include "live/auth/certificates.h"
#include "live/auth/limits.h"
#include "live/auth/test_trust.h"

namespace orrery {
namespace {

using namespace std::chrono_literals;

class CallersTest : public testing::Test {
 protected:
  CallersTest() : authority_(good(Authority::open(folder_ / "trust", kToday))) {}

  CallersOptions options() {
    return {.limits = {.per_second = 1, .burst = 2},
            .ca_pem = authority_.certificate_pem(),
            .revocations = revocations_,
            .now = [this] { return now_; },
            .say = [this](const std::string& line) { said_.push_back(line); }};
  }
  std::string certificate(const Authority& authority, const Identity& identity) const {
    return good(authority.issue(good(make_key_and_request()).request_pem, identity,
                                life_of(identity.role), kToday));
  }

  const TestFolder folder_;
  const Authority authority_;
  const std::shared_ptr<Revocations> revocations_ = std::make_shared<Revocations>();
  std::chrono::sys_seconds now_ = kToday;
  std::vector<std::string> said_;
};

TEST_F(CallersTest, ACertificateNamesItsCallerUntilItExpires) {
  Callers callers(options());
  const std::string pem = certificate(authority_, {Role::Operator, "ann"});
  const Caller ann = good(callers.access().identify(pem));
  EXPECT_EQ(ann.name, "ann");
  EXPECT_EQ(ann.role, Caller::Role::Operator);
  now_ += life_of(Role::Operator) + 1h;
  for (int call = 0; call < 3; ++call) {
    EXPECT_EQ(callers.access().identify(pem).error().code, Code::Unauthenticated);
  }
  ASSERT_EQ(said_.size(), 1U) << "the log of the operator has one line an hour";
  EXPECT_NE(said_[0].find("refused: "), std::string::npos) << said_[0];
  now_ += 2h;
  EXPECT_FALSE(callers.access().identify(pem).ok());
  EXPECT_EQ(said_.size(), 2U);
}

TEST_F(CallersTest, ACertificateOfAnotherAuthorityNamesNoCaller) {
  Callers callers(options());
  const Authority other = good(Authority::open(folder_ / "other", kToday));
  const auto found = callers.access().identify(certificate(other, {Role::Admin, "root"}));
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Code::Unauthenticated);
}

TEST_F(CallersTest, ASchedulerOfOneOwnerRefusesOtherUsersByCertificateAndByLogin) {
  CallersOptions alone = options();
  alone.served = {.others = false, .owner = "ann"};
  Callers callers(std::move(alone));
  const auto bob = callers.access().identify(certificate(authority_, {Role::User, "bob"}));
  ASSERT_FALSE(bob.ok());
  EXPECT_EQ(bob.error().code, Code::PermissionDenied);
  EXPECT_TRUE(callers.access().identify(certificate(authority_, {Role::Agent, "n1"})).ok());
  constexpr uid_t kDaemon = 1;
  if (!known_login(kDaemon)) GTEST_SKIP() << "no login has the id 1";
  EXPECT_EQ(callers.identify_local(kDaemon, 12345).error().code, Code::PermissionDenied);
}

TEST_F(CallersTest, RootAndTheOwnerOfTheFolderAreAdminsAndOtherLoginsAreUsers) {
  Callers callers(options());
  EXPECT_EQ(good(callers.identify_local(0, 12345)).role, Caller::Role::Admin);
  constexpr uid_t kDaemon = 1;
  if (!known_login(kDaemon)) GTEST_SKIP() << "no login has the id 1";
  EXPECT_EQ(good(callers.identify_local(kDaemon, 12345)).role, Caller::Role::User);
  Callers owned(options());
  EXPECT_EQ(good(owned.identify_local(kDaemon, kDaemon)).role, Caller::Role::Admin);
}

TEST_F(CallersTest, CallsBeyondTheRateOfOneCallerAreRefusedAndThoseOfAnotherAreNot) {
  CallersOptions slow = options();
  slow.limits = {.per_second = 0.001, .burst = 2};
  Callers callers(std::move(slow));
  const Caller ann{.role = Caller::Role::User, .name = "ann"};
  EXPECT_TRUE(callers.admit(ann).ok());
  EXPECT_TRUE(callers.admit(ann).ok());
  EXPECT_EQ(callers.admit(ann).error().code, Code::ResourceExhausted);
  EXPECT_TRUE(callers.admit({.role = Caller::Role::User, .name = "bob"}).ok());
}

}  // namespace
}  // namespace orrery
