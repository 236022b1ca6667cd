#include "live/auth/authority.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "live/auth/openssl.h"
#include "live/auth/test_trust.h"

namespace orrery {
namespace {

using namespace std::chrono_literals;

const Identity kAnn{Role::User, "ann"};

std::string ca_of(const Authority& authority) { return authority.certificate_pem(); }

class AuthorityTest : public testing::Test {
 protected:
  std::string issued(const Identity& identity = kAnn, std::chrono::seconds life = 24h) {
    return good(authority_.issue(good(make_key_and_request()).request_pem, identity, life, kToday));
  }

  Authority authority_ = good(Authority::make(kToday));
};

// A request signed by a key of another kind.
std::string request_with(EVP_PKEY* key) {
  const KeyHandle owner(key);
  const RequestHandle request(X509_REQ_new());
  X509_REQ_set_pubkey(request.get(), key);
  EXPECT_NE(X509_REQ_sign(request.get(), key, EVP_sha256()), 0);
  return good(write_request(request.get()));
}

TEST_F(AuthorityTest, IssuesCertificatesThatNameTheirOwner) {
  for (const Role role : kRoles) {
    const Identity identity{role, "some.name-1"};
    const std::string pem = issued(identity);
    EXPECT_EQ(good(identity_of(pem)), identity);
    EXPECT_EQ(good(caller_of(ca_of(authority_), pem, kToday)), identity);
  }
}

TEST_F(AuthorityTest, ACertificateFitsTheKeyItWasAskedForWith) {
  const KeyAndRequest made = good(make_key_and_request());
  const std::string pem = good(authority_.issue(made.request_pem, kAnn, 24h, kToday));
  EXPECT_TRUE(good(belong_together(pem, made.key_pem)));
  EXPECT_FALSE(good(belong_together(pem, good(make_key_and_request()).key_pem)));
  const std::string again =
      good(authority_.issue(good(make_request(made.key_pem)), kAnn, 24h, kToday));
  EXPECT_TRUE(good(belong_together(again, made.key_pem)));
  EXPECT_NE(good(fingerprint_of(again)), good(fingerprint_of(pem)));
}

TEST_F(AuthorityTest, ItsCertificatesMeanNothingToAnother) {
  const Authority other = good(Authority::make(kToday));
  const auto caller = caller_of(ca_of(other), issued(), kToday);
  ASSERT_FALSE(caller.ok());
  EXPECT_EQ(caller.error().code, Code::Unauthenticated);
}

TEST_F(AuthorityTest, CertificatesBeginAndEnd) {
  const std::string pem = issued(kAnn, 3h);
  EXPECT_EQ(why(caller_of(ca_of(authority_), pem, kToday + 3h - 1s)), "");
  EXPECT_EQ(why(caller_of(ca_of(authority_), pem, kToday + 3h + 1s)),
            "certificate: certificate has expired");
  EXPECT_EQ(why(caller_of(ca_of(authority_), pem, kToday - 1min)), "");
  EXPECT_FALSE(caller_of(ca_of(authority_), pem, kToday - 1h).ok());
}

TEST_F(AuthorityTest, ShouldBeRenewedAfterTwoThirdsOfItsLife) {
  const Validity validity{kToday, kToday + 3h};
  EXPECT_FALSE(should_renew(validity, kToday + 2h - 1s));
  EXPECT_TRUE(should_renew(validity, kToday + 2h));
  EXPECT_TRUE(should_renew(validity, kToday + 100h));
  const Validity read = good(validity_of(issued(kAnn, 3h)));
  EXPECT_EQ(read.until, kToday + 3h);
  EXPECT_EQ(read.from, kToday - 5min);
}

TEST_F(AuthorityTest, NoCertificateOutlivesIt) {
  const auto end = good(validity_of(ca_of(authority_))).until;
  EXPECT_EQ(good(validity_of(issued(kAnn, std::chrono::hours(24 * 100000)))).until, end);
  const std::string request = good(make_key_and_request()).request_pem;
  EXPECT_EQ(authority_.issue(request, kAnn, 1h, end).error().code, Code::FailedPrecondition);
  EXPECT_EQ(authority_.issue(request, kAnn, 0s, kToday).error().code, Code::InvalidArgument);
}

TEST_F(AuthorityTest, AServersCertificateIsForItsHostsAndNotForCalls) {
  const std::string pem =
      good(authority_.issue_server(good(make_key_and_request()).request_pem,
                                   {"node.example.org", "10.1.2.3", "fe80::1"}, 24h, kToday));
  EXPECT_EQ(why(verify_certificate(ca_of(authority_), pem, CertificateUse::Server, kToday)), "");
  EXPECT_TRUE(good(covers(pem, {"node.example.org", "10.1.2.3", "fe80::1"})));
  EXPECT_FALSE(good(covers(pem, {"other.example.org"})));
  EXPECT_FALSE(good(covers(pem, {"10.1.2.4"})));
  EXPECT_FALSE(caller_of(ca_of(authority_), pem, kToday).ok());
  EXPECT_FALSE(identity_of(pem).ok());
  EXPECT_FALSE(
      verify_certificate(ca_of(authority_), issued(), CertificateUse::Server, kToday).ok());
}

TEST_F(AuthorityTest, RefusesNamesThatSayMoreThanAName) {
  const std::string request = good(make_key_and_request()).request_pem;
  for (const char* name : {"", "a,URI:orrery://admin/a", "a/b", "a b", "*"}) {
    EXPECT_FALSE(authority_.issue(request, {Role::User, name}, 1h, kToday).ok()) << name;
  }
  for (const char* host : {"", "*.example.org", "a,IP:1.2.3.4", "h:7000", "-h", ".h", "a b"}) {
    EXPECT_FALSE(authority_.issue_server(request, {host}, 1h, kToday).ok()) << host;
  }
  EXPECT_FALSE(authority_.issue_server(request, {}, 1h, kToday).ok());
  EXPECT_FALSE(
      authority_.issue_server(request, std::vector<std::string>(65, "h"), 1h, kToday).ok());
}

TEST_F(AuthorityTest, RefusesARequestWhoseSenderHasNotItsKey) {
  // The last bytes of a request are its signature.
  const RequestHandle request = good(read_request(good(make_key_and_request()).request_pem));
  const ASN1_BIT_STRING* signature = nullptr;
  X509_REQ_get0_signature(request.get(), &signature, nullptr);
  const_cast<unsigned char*>(signature->data)[signature->length - 1] ^= 1;
  const auto issued = authority_.issue(good(write_request(request.get())), kAnn, 1h, kToday);
  ASSERT_FALSE(issued.ok());
  EXPECT_EQ(issued.error().code, Code::InvalidArgument);
  EXPECT_NE(issued.error().message.find("not signed by its key"), std::string::npos);
}

TEST_F(AuthorityTest, RefusesKeysOfOtherKinds) {
  for (EVP_PKEY* key : {EVP_RSA_gen(1024), EVP_EC_gen("P-384"), EVP_EC_gen("secp256k1")}) {
    const auto issued = authority_.issue(request_with(key), kAnn, 1h, kToday);
    ASSERT_FALSE(issued.ok());
    EXPECT_NE(issued.error().message.find("P-256"), std::string::npos);
  }
}

TEST_F(AuthorityTest, ACertificateWithOneCharacterChangedIsRefused) {
  const std::string pem = issued();
  const std::string ca = ca_of(authority_);
  const std::size_t begin = pem.find('\n') + 1;
  for (std::size_t at = begin; at < pem.find("\n-----END"); ++at) {
    std::string changed = pem;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    if (changed == pem) continue;
    const auto caller = caller_of(ca, changed, kToday);
    // Base64's last digit may carry bits that mean nothing.
    if (!caller.ok()) continue;
    EXPECT_EQ(good(fingerprint_of(changed)), good(fingerprint_of(pem))) << at;
  }
}

TEST_F(AuthorityTest, GarbageIsRefusedEverywhere) {
  const std::string pem = issued();
  const std::string key = good(make_key_and_request()).key_pem.reveal();
  for (const std::string& bad :
       {std::string(), std::string("x"), pem.substr(0, pem.size() / 2), std::string(1 << 20, 'A'),
        key, std::string("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"),
        std::string("-----BEGIN CERTIFICATE-----\nMAAwAAAA\n-----END CERTIFICATE-----\n"),
        std::string(100, '\0')}) {
    SCOPED_TRACE(bad.substr(0, 60));
    EXPECT_EQ(identity_of(bad).error().code, Code::InvalidArgument);
    EXPECT_EQ(validity_of(bad).error().code, Code::InvalidArgument);
    EXPECT_EQ(fingerprint_of(bad).error().code, Code::InvalidArgument);
    EXPECT_EQ(caller_of(ca_of(authority_), bad, kToday).error().code, Code::InvalidArgument);
    EXPECT_EQ(caller_of(bad, pem, kToday).error().code, Code::InvalidArgument);
    EXPECT_EQ(authority_.issue(bad, kAnn, 1h, kToday).error().code, Code::InvalidArgument);
  }
  EXPECT_EQ(make_request(Secret(pem)).error().code, Code::InvalidArgument);
}

TEST_F(AuthorityTest, AKeyUnderAPassPhraseIsRefusedWithoutAsking) {
  const KeyHandle key = good(make_key());
  const BioHandle bio(BIO_new(BIO_s_mem()));
  ASSERT_EQ(PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), EVP_aes_128_cbc(), "word", 4,
                                          nullptr, nullptr),
            1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  EXPECT_FALSE(make_request(Secret(std::string(data, static_cast<std::size_t>(size)))).ok());
}

TEST_F(AuthorityTest, AFailureLeavesNoWordForTheNextOne) {
  EXPECT_FALSE(identity_of("x").ok());
  const auto caller = caller_of(ca_of(good(Authority::make(kToday))), issued(), kToday);
  EXPECT_EQ(why(caller), "certificate: unable to get local issuer certificate");
}

}  // namespace
}  // namespace orrery
