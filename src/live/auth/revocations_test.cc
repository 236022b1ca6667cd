#include "live/auth/revocations.h"

#include "live/auth/issued.h"
#include "live/auth/limits.h"
#include "live/auth/test_trust.h"

namespace orrery {
namespace {

using namespace std::chrono_literals;

CertificateFacts issued_at(std::chrono::sys_seconds now, const Identity& identity,
                           const std::string& serial = "4f") {
  return {serial, identity, {now - kClockSlack, now + life_of(identity.role)}};
}

const Identity kAnn{Role::User, "ann"};

TEST(Revocations, OfANumberAreForThatCertificateAlone) {
  Revocations revocations;
  revocations.put({.serial = "4f", .at = kToday, .by = "root"});
  const Status refused = revocations.check(issued_at(kToday, kAnn));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::Unauthenticated);
  EXPECT_NE(refused.error().message.find("user ann was revoked by root"), std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(revocations.check(issued_at(kToday, kAnn, "50")).ok());
}

TEST(Revocations, OfANameAreForWhatWasIssuedToItUntilThen) {
  Revocations revocations;
  revocations.put({.identity = kAnn, .at = kToday, .by = "root"});
  EXPECT_FALSE(revocations.check(issued_at(kToday - 1h, kAnn)).ok());
  EXPECT_FALSE(revocations.check(issued_at(kToday, kAnn)).ok());
  EXPECT_EQ(revocations.free_from(kAnn), kToday + 1s);
  EXPECT_TRUE(revocations.check(issued_at(kToday + 1s, kAnn)).ok());
  EXPECT_TRUE(revocations.check(issued_at(kToday, {Role::Agent, "ann"})).ok());
  EXPECT_TRUE(revocations.check(issued_at(kToday, {Role::User, "anna"})).ok());
}

TEST(Revocations, HoldForAsLongAsACertificateCanLive) {
  const Revocation revocation{.identity = kAnn, .at = kToday, .by = "root"};
  for (const Role role : kRoles) {
    EXPECT_GE(revocation.until(), issued_at(kToday, {role, "ann"}).validity.until);
  }
}

TEST(Revocations, AreRebuiltFromTheLinesOfTheLog) {
  for (const Revocation& one :
       {Revocation{.serial = "4f", .identity = kAnn, .at = kToday, .by = "root"},
        Revocation{.serial = "4f", .at = kToday, .by = "root"},
        Revocation{.identity = {Role::Agent, "n-1"}, .at = kToday, .by = "uid-7"}}) {
    const std::string line = write_revocation(one);
    const Revocation back = good(read_revocation(line));
    EXPECT_EQ(write_revocation(back), line);
    EXPECT_EQ(back.id(), one.id());
    EXPECT_EQ(back.at, one.at);
  }
  for (const char* bad :
       {"", "revoked", "revoked 4f user ann 1", "revoked 4f user ann x root",
        "revoked 4F user a 1 r", "revoked * boss ann 1 root", "revoked * user * 1 root",
        "token 4f user ann 1 root", "revoked 4f user ann 1 root more"}) {
    EXPECT_FALSE(read_revocation(bad).ok()) << bad;
  }
}

TEST(IssuedCertificates, AreRebuiltFromTheLinesOfTheLog) {
  const CertificateFacts facts = issued_at(kToday, kAnn);
  const CertificateFacts back = good(read_issued(write_issued(facts)));
  EXPECT_EQ(back.serial, facts.serial);
  EXPECT_EQ(back.identity, facts.identity);
  EXPECT_EQ(back.validity.until, facts.validity.until);
  for (const char* bad : {"", "certificate 4f user ann 1", "certificate 4f user ann 1 x",
                          "certificate zz user ann 1 2", "certificate 4f user -ann 1 2"}) {
    EXPECT_FALSE(read_issued(bad).ok()) << bad;
  }
}

TEST(Certificates, SayTheirNumberNameAndTime) {
  const Authority authority = good(Authority::make(kToday));
  const KeyAndRequest made = good(make_key_and_request());
  const std::string pem = good(authority.issue(made.request_pem, kAnn, kPersonLife, kToday));
  const CertificateFacts facts = good(signed_caller(authority.certificate_pem(), pem));
  EXPECT_EQ(facts.serial.size(), 32u);
  EXPECT_EQ(facts.identity, kAnn);
  EXPECT_TRUE(check_time(facts, kToday - 4min).ok()) << "clocks differ by a little";
  EXPECT_TRUE(check_time(facts, kToday + kPersonLife - 1s).ok());
  const Status late = check_time(facts, kToday + kPersonLife);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, Code::Unauthenticated);
  EXPECT_NE(late.error().message.find("the certificate of user ann expired on "),
            std::string::npos);
  EXPECT_NE(why(check_time(facts, kToday - 6min)).find("is not valid before"), std::string::npos);
  const Authority other = good(Authority::make(kToday));
  EXPECT_EQ(signed_caller(other.certificate_pem(), pem).error().code, Code::Unauthenticated);
}

}  // namespace
}  // namespace orrery
